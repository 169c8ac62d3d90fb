"""What one search did on one question, as a record that can be written down and read back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from agent.result import SearchResult
from retrieval import Event

from .datasets import Question
from .metrics import answer_f1, exact_match
from .support import support_ranks

Key: TypeAlias = tuple[str, str, str]
"""Policy, dataset, question id: what a run counts once."""


class Outcome(BaseModel):
    """One finished search. All fields but `seconds` are the same whenever the run is repeated."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)

    type: Literal["outcome"] = "outcome"
    policy: str
    dataset: str
    split: str
    id: str
    group: str
    answerable: bool
    action: Literal["answer", "abstain"]
    reason: str
    """Code of the reason."""
    answer: str | None
    """None if it abstained."""
    em: float | None
    """Of the answer; an abstention has 0. None where no answer can be judged."""
    f1: float | None
    """As `em`."""
    support: int
    """Number of annotated pieces of support."""
    support_turn1: int
    """How many of them were in the evidence after the first turn."""
    support_end: int
    """How many of them were in the evidence at the end."""
    ranks: list[int | None]
    """Rank of each of them in the final ranking, 1 = best; None = not in it."""
    evidence: str
    """Digest of the ids of the evidence, as a set, and of the ranking, as a list."""
    passages: int
    """Distinct passages at the end."""
    turns: int
    """Turns that asked something; a look at given evidence is none."""
    calls: int
    degraded: bool
    events: list[str]
    """What went wrong on the way, as `part/kind`, in the order in which it happened."""
    seconds: float
    """Wall clock of these turns."""

    @property
    def key(self) -> Key:
        """What this is the outcome of."""
        return (self.policy, self.dataset, self.id)

    @property
    def complete_turn1(self) -> bool:
        """Whether the evidence after the first turn holds all support."""
        return self.answerable and self.support_turn1 == self.support

    @property
    def complete(self) -> bool:
        """Whether the final evidence holds all support; never true of an unanswerable question."""
        return self.answerable and self.support_end == self.support

    @property
    def correct(self) -> bool:
        """Answered if and only if the support is complete."""
        return self.complete == (self.action == "answer")


class Failure(BaseModel):
    """A search that ended in an error instead of an outcome."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    type: Literal["failure"] = "failure"
    policy: str
    dataset: str
    split: str
    id: str
    error: str
    """Type and message."""


def judge(question: Question, result: SearchResult, *, policy: str) -> Outcome:
    """Hold a search against its question's annotations."""
    answer = result.answer.text if result.action == "answer" and result.answer is not None else None
    em, f1 = _answer_figures(question, answer)
    first = [passage for turn in result.turns if turn.number <= 1 for passage in turn.new]
    asked = [turn for turn in result.turns if turn.number > 0]
    return Outcome(
        policy=policy,
        dataset=question.dataset,
        split=question.split,
        id=question.id,
        group=question.group,
        answerable=question.answerable,
        action=result.action,
        reason=result.reason.code,
        answer=answer,
        em=em,
        f1=f1,
        support=len(question.support),
        support_turn1=_found(support_ranks(question.support, first)),
        support_end=_found(support_ranks(question.support, result.evidence)),
        ranks=list(support_ranks(question.support, result.ranking.top(result.evidence, len(result.evidence)))),
        evidence=_digest([sorted(result.evidence.ids), list(result.ranking.ids)]),
        passages=len(result.evidence),
        turns=len(asked),
        calls=result.spend.calls,
        degraded=result.degraded,
        events=[f"{event.where}/{event.kind}" for event in _events(result)],
        seconds=sum(turn.seconds for turn in asked),
    )


def _events(result: SearchResult) -> tuple[Event, ...]:
    return tuple(event for turn in result.turns for event in turn.events) + result.events


def _answer_figures(question: Question, answer: str | None) -> tuple[float | None, float | None]:
    """Exact match and F1. An abstention has 0, also where an accepted answer normalises to nothing."""
    if not question.answerable or not question.answers:
        return None, None
    if answer is None:
        return 0.0, 0.0
    return exact_match(answer, question.answers), answer_f1(answer, question.answers)


def digest(outcomes: Iterable[Outcome]) -> str:
    """Over everything but the times, in any order: equal digests, equal runs. 16 hex digits of a sha256."""
    records = (outcome.model_dump(mode="json", exclude={"seconds"}) for outcome in outcomes)
    return _digest(sorted(json.dumps(record, sort_keys=True) for record in records))


def _found(ranks: Iterable[int | None]) -> int:
    return sum(rank is not None for rank in ranks)


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]
