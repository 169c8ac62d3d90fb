"""Windows cover every token and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rinse.windows import membership, weighted_means, windows


@given(tokens=st.integers(0, 200), size=st.integers(1, 12), data=st.data())
def test_windows_cover_every_token_in_order(tokens: int, size: int, data: st.DataObject) -> None:
    stride = data.draw(st.integers(1, size))
    spans = windows(tokens, size=size, stride=stride)
    assert {i for begin, end in spans for i in range(begin, end)} == set(range(tokens))
    assert list(spans) == sorted(set(spans))
    assert all(end - begin == min(size, tokens) for begin, end in spans)


def test_the_paper_s_windows_of_four_with_stride_two() -> None:
    assert windows(9, size=4, stride=2) == ((0, 4), (2, 6), (4, 8), (5, 9))
    assert windows(4, size=4, stride=2) == ((0, 4),)
    assert windows(2, size=4, stride=2) == ((0, 2),)
    assert windows(0, size=4, stride=2) == ()


@pytest.mark.parametrize(("size", "stride"), [(4, 0), (4, 5), (0, 0)])
def test_windows_that_would_skip_tokens_are_refused(size: int, stride: int) -> None:
    with pytest.raises(ValueError, match="stride"):
        windows(9, size=size, stride=stride)


def test_means_are_weighted_and_plain_where_nothing_weighs() -> None:
    inside = membership(((0, 2), (2, 4)), 4)
    means = weighted_means(inside, np.array([3.0, 1.0, 0.0, 0.0], dtype=np.float32))
    assert means @ np.array([1.0, 0.0, 1.0, 0.0], dtype=np.float32) == pytest.approx([0.75, 0.5])
