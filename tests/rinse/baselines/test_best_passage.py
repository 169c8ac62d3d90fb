"""What becomes of passages that a model gives nothing usable for."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from retrieval import EvidenceSet, Passage
from rinse import ScoreError
from rinse.baselines.best_passage import best_passage, canonical_passages, canonical_text


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_passage_without_a_finite_value_is_masked(bad: float, evidence: Callable[..., EvidenceSet]) -> None:
    """The others decide, and the result names it."""
    passages = canonical_passages(evidence("a king", "a queen", "a ship"))
    found = best_passage(passages, [0.5, bad, -2.0], model="m", lowest=-9.0)
    assert (found.score, found.masked, found.passages) == (0.5, (passages[1].id,), 3)


def test_nothing_finite_is_an_error_and_nothing_at_all_the_lowest(evidence: Callable[..., EvidenceSet]) -> None:
    """NaN is not the same as no evidence."""
    with pytest.raises(ScoreError, match="m gave no finite value for any of 1"):
        best_passage(canonical_passages(evidence("a king")), [math.nan], model="m", lowest=-9.0)
    assert best_passage((), (), model="m", lowest=-9.0).score == -9.0


def test_the_text_does_not_depend_on_which_source_came_first() -> None:
    """A text found under two titles is read alike either way."""
    first = Passage(text="A king.", title="Kings", source_id="b")
    second = Passage(text="A  king.", title="Rulers", source_id="a")
    texts = {
        canonical_text(passage)
        for pair in ((first, second), (second, first))
        for passage in canonical_passages(EvidenceSet.of(pair))
    }
    assert texts == {"Rulers. A king."}
