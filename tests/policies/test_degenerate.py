"""A policy that decides nothing on its calibration searches is told on, with its realised rates (case E05)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from policies import StopPolicy
from policies.combine import AnswerAtEnd, FirstOf
from policies.decaying import DecayingBar
from policies.degenerate import degeneracy
from policies.fixed import FixedK
from policies.gated import Gated
from policies.guaranteed import LttThreshold
from policies.never import Never
from policies.replay import Recorded
from policies.stagnation import Stagnation
from policies.threshold import Band, ScoreThreshold
from tests.policies.looks import after


def _recorded(scores: Sequence[float | None]) -> Recorded:
    """A search of one call a turn, to the end of its calls."""
    turns = range(1, len(scores) + 1)
    return Recorded([after(scores[:turn], calls=turn, calls_left=len(scores) - turn) for turn in turns])


SEARCHES = [_recorded(scores) for scores in ([0.1, 0.2, 0.3], [0.2, 0.9, 0.4], [0.5, 0.6, 0.7])]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (ScoreThreshold(answer_at=0.7), ()),
        (FirstOf(Band(answer_at=0.7, abstain_below=0.15), Stagnation()), ()),
        (Never(), ("never never answers: 0 of 3 searches answered, 3 abstained, 1.0 calls on average.",)),
        (FixedK(2), ("fixed-2 always answers: 3 of 3 searches answered, 0 abstained, 2.0 calls on average.",)),
        (
            ScoreThreshold(answer_at=1.5),
            (
                "threshold never answers: 0 of 3 searches answered, 3 abstained, 3.0 calls on average.",
                "threshold: answer_at is 1.5, above any of the 9 scores seen (0.1 to 0.9): no score passes it.",
            ),
        ),
        (
            LttThreshold(part=FirstOf(ScoreThreshold(answer_at=0.05), Stagnation()), alpha=0.1, delta=0.05),
            (
                "ltt-0.10 always answers: 3 of 3 searches answered, 0 abstained, 1.0 calls on average.",
                "ltt-0.10: answer_at is 0.05, not above any of the 9 scores seen (0.1 to 0.9): every score",
            ),
        ),
        (
            Gated(FixedK(2), 0.1),
            (
                "gated always answers: 3 of 3 searches answered",
                "gated: answer_at is 0.1, not above any of the 9 scores seen",
            ),
        ),
        # it decides, but the band has no lower edge, and the bar never falls into reach
        (Band(answer_at=0.7, abstain_below=-1.0), ("band: abstain_below is -1, not above any",)),
        (
            AnswerAtEnd(DecayingBar(start=2.0, end=0.95)),
            ("answer_at_end always", "start is 2,", "end is 0.95, above"),
        ),
    ],
)
def test_degenerate_policies_are_told_on(policy: StopPolicy, expected: tuple[str, ...]) -> None:
    """Realised rates in words; nothing to say about one that tells searches apart."""
    warnings = degeneracy(policy, SEARCHES)
    assert len(warnings) == len(expected)
    assert all(part in warning for part, warning in zip(expected, warnings, strict=True))


def test_a_policy_that_leaves_the_record_is_not_counted_as_abstaining() -> None:
    """The record ends after one turn with calls left: nobody knows how these searches would have ended."""
    early = Recorded([after([0.1], calls=1, calls_left=2)])
    [warning] = degeneracy(ScoreThreshold(answer_at=0.5), [early, SEARCHES[0]])[:1]
    assert "0 of 2 searches answered, 1 abstained, 1 off the record, 3.0 calls on average" in warning
    [warning] = degeneracy(ScoreThreshold(answer_at=0.5), [early])[:1]
    assert "0 abstained, 1 off the record, no end known" in warning


def test_without_scores_or_searches_there_is_little_to_say() -> None:
    """E02: nothing recorded, or no valid score in it."""
    assert "was tried on no search" in degeneracy(Never(), [])[0]
    [warning] = degeneracy(ScoreThreshold(answer_at=0.5), [_recorded([None, None])])
    assert "never answers: 0 of 1" in warning
