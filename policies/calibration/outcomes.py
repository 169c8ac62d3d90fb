"""How recorded searches end under each policy of a family. What counts is the stop, never a single turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..decision import AnswerNow
from ..policy import StopPolicy
from ..replay import OffRecord
from .cases import Case, by_group

Family: TypeAlias = Callable[[float], StopPolicy]
"""From a parameter to a policy; a higher one asks for more before it answers. Its decisions change only where the
parameter passes a score of the search, as those of a threshold do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """How the searches of each group ended under each candidate; each group counts once."""

    candidates: NDArray[np.float64]
    """(m,)"""
    answered: NDArray[np.float64]
    """(groups, m): share of the group's searches that were answered."""
    wrong: NDArray[np.float64]
    """(groups, m): searches that were answered although their evidence was not complete; at most `answered`."""
    off_record: NDArray[np.float64]
    """(groups, m): searches that wished to go where the record does not go; counted as answered and wrong."""

    def __len__(self) -> int:
        return len(self.answered)

    def rows(self, places: NDArray[np.intp]) -> Outcomes:
        """Some of the groups, in this order."""
        return Outcomes(
            candidates=self.candidates,
            answered=self.answered[places],
            wrong=self.wrong[places],
            off_record=self.off_record[places],
        )

    def coverage(self) -> NDArray[np.float64]:
        """(m,) share of searches that are answered."""
        return self.answered.mean(axis=0) if len(self) else np.zeros(len(self.candidates))

    def risk(self, candidate: int) -> float | None:
        """Share of answered searches whose evidence was not complete; None if none was answered (case E02)."""
        answered = float(self.answered[:, candidate].sum())
        return float(self.wrong[:, candidate].sum()) / answered if answered else None


def play_all(cases: Iterable[Case], family: Family, candidates: Sequence[float]) -> Outcomes:
    """Replay every search under every candidate. Groups are in order of their names.

    A search whose policy leaves the record (see `Recorded.play`) might have ended in any way: it is counted as
    answered without support, which can only make the risk look larger than it is.
    """
    groups = list(by_group(cases).values())
    policies = [family(candidate) for candidate in candidates]
    shape = (len(groups), len(policies))
    answered, wrong, off = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for row, members in enumerate(groups):
        for case in members:
            for column, policy in enumerate(policies):
                end = case.recorded.play(policy)
                if isinstance(end, OffRecord):
                    off[row, column] += 1
                elif isinstance(end.decision, AnswerNow):
                    answered[row, column] += 1
                    wrong[row, column] += not case.complete[end.look]
        for counts in (answered, wrong, off):
            counts[row] /= len(members)
    return Outcomes(
        candidates=np.asarray(candidates, dtype=np.float64),
        answered=answered + off,
        wrong=wrong + off,
        off_record=off,
    )
