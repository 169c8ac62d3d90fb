"""All looks of some recorded searches as arrays: a figure of a policy is a choice of places in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from policies import AnswerNow, StopPolicy
from policies.replay import OffRecord

from ..metrics import answer_f1, exact_match, script_for
from .runs import Search

Numbers: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """Arrays of shape `(searches, looks)` if a field says nothing else. A search that ended early repeats it."""

    searches: tuple[Search, ...]
    ends: NDArray[np.intp]
    """Place of the last look, shape `(searches,)`."""
    score: Numbers
    """NaN where there was nothing valid to score."""
    complete: Flags
    """Whether the evidence held all annotated support."""
    recall: Numbers
    """Share of annotated support in the evidence; 0 where none is annotated."""
    calls: Numbers
    """Made so far, as are the next four."""
    turns: Numbers
    tokens: Numbers
    seconds: Numbers
    price: Numbers
    scored: Numbers
    """Passages scored so far."""
    em: Numbers
    """Exact match of the answer that would have been given; 0 where none would."""
    f1: Numbers
    judged: Flags
    """Whether an answer can be judged, shape `(searches,)`."""
    em_gold: Numbers
    """Of the answer from the annotated support alone, shape `(searches,)`; 0 where there is none."""
    f1_gold: Numbers
    judged_gold: Flags
    """Whether there is one, shape `(searches,)`."""

    @property
    def looks(self) -> int:
        """Most looks of a search."""
        return int(self.complete.shape[1])

    @property
    def groups(self) -> list[str]:
        """The group of each search."""
        return [search.group for search in self.searches]

    @property
    def completes(self) -> Flags:
        """Whether the support is ever complete, shape `(searches,)`."""
        return np.asarray(self.complete.any(axis=1), dtype=np.bool_)

    @property
    def first_complete(self) -> NDArray[np.intp]:
        """Place of the first look with complete support, shape `(searches,)`; 0 where there is none."""
        return np.asarray(self.complete.argmax(axis=1), dtype=np.intp)

    def at(self, table: NDArray[np.generic], look: NDArray[np.intp]) -> Numbers:
        """The values at one look of each search, shape `(searches,)`."""
        return np.take_along_axis(table, look[:, None], axis=1)[:, 0].astype(np.float64)


def make_board(searches: Sequence[Search]) -> Board:
    """The arrays of these searches.

    Answers are judged exactly as the script of their dataset does, see `benchmarks.metrics`: the best figure over
    all accepted answers.
    """
    looks = max((len(search.states) for search in searches), default=1)

    def table(values: Callable[[Search], Sequence[float]]) -> Numbers:
        rows = [list(values(search)) for search in searches]
        filled = [row + row[-1:] * (looks - len(row)) for row in rows]
        return np.array(filled, dtype=np.float64).reshape(len(searches), looks)

    def spent(name: str) -> Numbers:
        return table(lambda search: [getattr(state.spend, name) for state in search.states])

    answers = [[_judged(search, probe) for probe in search.probes] for search in searches]
    gold = [_judged(search, search.gold_answer) for search in searches]
    judged = np.array([search.answerable and bool(search.answers) for search in searches], dtype=np.bool_)
    both = np.array([row + row[-1:] * (looks - len(row)) for row in answers], dtype=np.float64)
    both, gold_both = both.reshape(-1, looks, 2), np.array(gold, dtype=np.float64).reshape(-1, 2)
    return Board(
        searches=tuple(searches),
        ends=np.array([len(search.states) - 1 for search in searches], dtype=np.intp),
        score=table(lambda search: [np.nan if one.score is None else one.score for one in search.states]),
        complete=table(lambda search: search.complete).astype(np.bool_),
        recall=table(lambda search: [found / max(search.support, 1) for found in search.found]),
        calls=spent("calls"),
        turns=table(lambda search: [state.turn for state in search.states]),
        tokens=spent("tokens"),
        seconds=spent("seconds"),
        price=spent("price"),
        scored=table(lambda search: search.scored),
        em=both[:, :, 0],
        f1=both[:, :, 1],
        judged=judged,
        em_gold=gold_both[:, 0],
        f1_gold=gold_both[:, 1],
        judged_gold=judged & np.array([search.gold_answer is not None for search in searches], dtype=np.bool_),
    )


def _judged(search: Search, answer: str | None) -> tuple[float, float]:
    if answer is None:
        return 0.0, 0.0
    exact = exact_match(answer, search.answers, official=True)
    shared = answer_f1(answer, search.answers, script=script_for(search.dataset), official=True)
    return exact or 0.0, shared or 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """Where one policy ended each search of a board. All of shape `(searches,)`."""

    look: NDArray[np.intp]
    """Place of the look at which it ended."""
    answered: Flags
    off: Flags
    """True where it left the record: nobody knows how such a search would have ended."""
    reasons: tuple[str, ...]
    """Code of the reason to end; of the wish that led off the record."""

    def rows(self, kept: NDArray[np.intp]) -> Played:
        """The same for some of the searches."""
        return Played(
            look=self.look[kept],
            answered=self.answered[kept],
            off=self.off[kept],
            reasons=tuple(self.reasons[at] for at in kept),
        )


def together(plays: Sequence[Played]) -> Played:
    """The ends of one policy in several sets of searches as those of one set."""
    return Played(
        look=np.concatenate([one.look for one in plays]),
        answered=np.concatenate([one.answered for one in plays]),
        off=np.concatenate([one.off for one in plays]),
        reasons=tuple(reason for one in plays for reason in one.reasons),
    )


def play(policy: StopPolicy, searches: Sequence[Search]) -> Played:
    """Show every search to the policy until it ends it."""
    ends = [search.recorded.play(policy) for search in searches]
    return Played(
        look=np.array([end.look for end in ends], dtype=np.intp),
        answered=np.array(
            [not isinstance(end, OffRecord) and isinstance(end.decision, AnswerNow) for end in ends],
            dtype=np.bool_,
        ),
        off=np.array([isinstance(end, OffRecord) for end in ends], dtype=np.bool_),
        reasons=tuple(end.decision.reason.code for end in ends),
    )


def missing_observations(policy: StopPolicy, searches: Sequence[Search]) -> list[str]:
    """Observers that the policy requires and that some search has no value of at all."""
    return sorted(
        name
        for name in policy.requires
        if not all(
            any(key.startswith(f"{name}.") for state in search.states for key in state.observations)
            for search in searches
        )
    )
