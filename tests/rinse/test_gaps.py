"""Gaps are readable, lie inside the question and follow from coverage alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rinse.gaps import Coverage, find_gaps, whole_question
from rinse.windows import windows

QUESTION = "Which river runs through the birthplace of Ada Quill?"
PIECES = ["Which", "river", "runs", "through", "the", "birth", "place", "of", "Ada", "Qu", "ill", "?"]
FUNCTION = {"Which", "the", "of", "?"}


def coverage_of(tokens: dict[str, float], default: float = 0.9) -> Coverage:
    """Coverage of `QUESTION` in four-token windows, each the plain mean of its content tokens."""
    spans, at = [], 0
    for piece in PIECES:
        at = QUESTION.index(piece, at)
        spans.append((at, at + len(piece)))
        at += len(piece)
    values = np.array([tokens.get(piece, default) for piece in PIECES], dtype=np.float32)
    content = np.array([piece not in FUNCTION for piece in PIECES])
    found = windows(len(PIECES), size=4, stride=2)
    means = [float(values[a:b][content[a:b]].mean()) if content[a:b].any() else 0.0 for a, b in found]
    return Coverage(
        tokens=values,
        windows=np.array(means, dtype=np.float32),
        content=content,
        token_spans=tuple(spans),
        window_spans=found,
    )


def test_the_gap_is_the_uncovered_part_in_whole_words_without_function_words() -> None:
    """The evidence knows the birthplace, not the river."""
    gaps = find_gaps(QUESTION, coverage_of({"river": 0.2, "runs": 0.1, "through": 0.2}), threshold=0.5)
    assert [gap.text for gap in gaps] == ["river runs through"]
    assert gaps[0].coverage == pytest.approx((0.1667 + 0.3333) / 2, abs=0.1)


def test_a_word_of_several_pieces_is_whole_even_if_a_window_cuts_it() -> None:
    gaps = find_gaps(QUESTION, coverage_of({"Ada": 0.1, "Qu": 0.0, "ill": 0.2}), threshold=0.5)
    assert [gap.text for gap in gaps] == ["Ada Quill"]


def test_two_uncovered_parts_are_two_gaps_in_order() -> None:
    missing = {"river": 0.0, "runs": 0.0, "through": 0.0, "Ada": 0.0, "Qu": 0.0, "ill": 0.0}
    gaps = find_gaps(QUESTION, coverage_of(missing), threshold=0.5)
    assert [gap.text for gap in gaps] == ["river runs through", "Ada Quill"]


def test_covered_questions_have_no_gap_and_function_words_make_none() -> None:
    assert find_gaps(QUESTION, coverage_of({}), threshold=0.5) == ()
    assert find_gaps(QUESTION, coverage_of(dict.fromkeys(FUNCTION, 0.0)), threshold=0.5) == ()


def test_an_uncovered_question_is_one_gap() -> None:
    gaps = find_gaps(QUESTION, coverage_of({}, default=0.0), threshold=0.5)
    assert [gap.text for gap in gaps] == ["river runs through the birthplace of Ada Quill"]


def test_without_evidence_the_gap_holds_every_word() -> None:
    assert [gap.text for gap in whole_question(f"  {QUESTION} ")] == [QUESTION.rstrip("?")]
    assert whole_question(" ?! ") == ()


@given(st.lists(st.floats(0, 1, width=32), min_size=len(PIECES), max_size=len(PIECES)), st.floats(0, 1))
def test_gaps_are_disjoint_spans_of_words_in_order(values: list[float], threshold: float) -> None:
    gaps = find_gaps(QUESTION, coverage_of(dict(zip(PIECES, values, strict=True))), threshold=threshold)
    edges = [edge for gap in gaps for edge in (gap.start, gap.end)]
    assert edges == sorted(edges)
    for gap in gaps:
        assert gap.text == QUESTION[gap.start : gap.end]
        assert 0 <= gap.coverage <= threshold
        before, after = QUESTION[: gap.start][-1:], QUESTION[gap.end :][:1]
        assert not before.isalnum()
        assert not after.isalnum()
        assert gap.text.split()[0] not in FUNCTION
        assert gap.text.split()[-1] not in FUNCTION
