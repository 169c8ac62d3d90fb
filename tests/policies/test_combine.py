"""Combinators: who decides, and that the reason of the part that spoke is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from policies import Abstain, AnswerNow, Decision, Reason, SearchOn, SearchState, StopPolicy, TierInfo, Widen
from policies.combine import AnswerAtEnd, FirstOf, MinTurns
from policies.threshold import Band
from retrieval import Allowance

WEB = TierInfo(name="web")
ANSWER, SEARCH, WIDEN, ABSTAIN = AnswerNow, SearchOn, Widen, Abstain
Kind = Callable[..., Decision]


@dataclass(frozen=True)
class Always:
    """A policy of a user: says one thing, whatever it sees."""

    kind: Kind
    code: str
    name: str = "always"
    requires: frozenset[str] = frozenset()

    def decide(self, state: SearchState) -> Decision:
        """Say it."""
        return self.kind(reason=Reason(code=self.code, by=self.name, values={"turn": state.turn}))


def state(
    *, turn: int = 1, passages: int = 5, calls_left: int | None = None, tiers_left: tuple[TierInfo, ...] = ()
) -> SearchState:
    """After some turns in one tier."""
    scores = (0.5,) * turn
    left = Allowance(calls=calls_left)
    return SearchState(
        turn=turn,
        tier="local",
        scores=scores,
        passages=passages,
        tier_turns=turn,
        left=left,
        tiers_left=tiers_left,
    )


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([Always(SEARCH, "in_band"), Always(ABSTAIN, "stagnation")], "abstain stagnation"),
        ([Always(ANSWER, "threshold_met"), Always(ABSTAIN, "stagnation")], "answer threshold_met"),
        ([Always(ABSTAIN, "stagnation"), Always(ANSWER, "threshold_met")], "abstain stagnation"),
        ([Always(SEARCH, "in_band"), Always(WIDEN, "no_gain"), Always(ABSTAIN, "stagnation")], "widen no_gain"),
        ([Always(SEARCH, "in_band"), Always(SEARCH, "progress")], "search in_band"),
        ([Always(SEARCH, "progress"), Always(SEARCH, "in_band")], "search in_band"),
        ([Always(SEARCH, "progress"), Always(SEARCH, "progress")], "search progress"),
    ],
)
def test_first_of(parts: list[StopPolicy], expected: str) -> None:
    """The first part that does not search on decides, in the order given."""
    decision = FirstOf(*parts).decide(state())
    assert f"{decision.action} {decision.reason.code}" == expected
    assert decision.reason.by == "first_of/always"
    assert decision.reason.values == {"turn": 1}


def test_first_of_keeps_the_tier_that_was_chosen() -> None:
    """A part may say where to go."""

    @dataclass(frozen=True)
    class ToWeb(Always):
        def decide(self, state: SearchState) -> Decision:
            return Widen(reason=Reason(code="cheap", by=self.name), tier="web")

    decision = FirstOf(ToWeb(WIDEN, "cheap")).decide(state(tiers_left=(TierInfo(name="cache"), WEB)))
    assert isinstance(decision, Widen)
    assert decision.tier == "web"


@pytest.mark.parametrize(
    ("kind", "seen", "expected"),
    [
        (ANSWER, state(turn=2), "search min_turns mine"),
        (ANSWER, state(turn=3), "answer mine"),
        (ABSTAIN, state(turn=2), "search min_turns mine"),
        (SEARCH, state(turn=2), "search mine"),
        (WIDEN, state(turn=2, tiers_left=(WEB,)), "widen mine"),
        # a wish to widen from the last tier would be an abstention
        (WIDEN, state(turn=2), "search min_turns mine"),
        # L02: where no turn is possible any more, the part's own decision stands
        (ANSWER, state(turn=2, calls_left=0), "answer mine"),
        (ABSTAIN, state(turn=2, calls_left=0), "abstain mine"),
    ],
)
def test_min_turns(kind: Kind, seen: SearchState, expected: str) -> None:
    """L07: the minimum is enforced."""
    decision = MinTurns(Always(kind, "mine"), 3).decide(seen)
    assert " ".join((decision.action, decision.reason.code, *decision.reason.overruled)) == expected
    assert decision.reason.by == "min_turns/always"


@pytest.mark.parametrize(
    ("kind", "seen", "expected"),
    [
        (ANSWER, state(), "answer mine"),
        (SEARCH, state(), "search mine"),
        (SEARCH, state(calls_left=0), "answer unchecked_answer budget_calls mine"),
        (ABSTAIN, state(), "answer unchecked_answer mine"),
        (WIDEN, state(tiers_left=(WEB,)), "widen mine"),
        (WIDEN, state(), "answer unchecked_answer mine"),
        (WIDEN, state(tiers_left=(WEB,), calls_left=0), "answer unchecked_answer budget_calls mine"),
        # E06: not without evidence
        (SEARCH, state(passages=0, calls_left=0), "search mine"),
        (ABSTAIN, state(passages=0), "abstain mine"),
    ],
)
def test_answer_at_end(kind: Kind, seen: SearchState, expected: str) -> None:
    """L06: whoever configures this gets an unchecked answer, marked as such, with the reason why it ended."""
    decision = AnswerAtEnd(Always(kind, "mine")).decide(seen)
    assert " ".join((decision.action, decision.reason.code, *decision.reason.overruled)) == expected
    assert decision.reason.by.endswith("answer_at_end/always")


def test_requirements_are_united() -> None:
    """An observer that any part needs must run."""
    probe = Always(SEARCH, "mine", requires=frozenset({"probe"}))
    opinion = Always(SEARCH, "mine", requires=frozenset({"opinion"}))
    assert FirstOf(probe, opinion, Always(SEARCH, "mine")).requires == {"probe", "opinion"}
    assert MinTurns(probe, 2).requires == AnswerAtEnd(probe).requires == {"probe"}


def test_combinators_show_their_parts() -> None:
    """The repr goes into traces; equal compositions are equal."""
    band = Band(answer_at=1.0, abstain_below=0.0)
    assert repr(FirstOf(band)) == f"FirstOf({band!r})"
    assert repr(MinTurns(band, 2)) == f"MinTurns(part={band!r}, turns=2)"
    assert FirstOf(band) == FirstOf(Band(answer_at=1.0, abstain_below=0.0))
    assert [FirstOf(band).name, MinTurns(band, 2).name, AnswerAtEnd(band).name] == [
        "first_of", "min_turns", "answer_at_end",
    ]  # fmt: skip
