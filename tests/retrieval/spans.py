"""What holds of any way of cutting a text. Used by tests only."""

from __future__ import annotations

from itertools import pairwise


def assert_cover(text: str, spans: list[tuple[int, int]]) -> None:
    """The spans are in order, begin and end with a sign, and leave out nothing but white space."""
    assert all(begin < end for begin, end in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    assert all(not text[begin].isspace() and not text[end - 1].isspace() for begin, end in spans)
    covered = "".join(text[begin:end] for begin, end in spans)
    assert [char for char in covered if not char.isspace()] == [char for char in text if not char.isspace()]
