"""The loop and its plug-ins: whatever a planner, observer, verifier or tier does, the search ends in order."""

from __future__ import annotations

import math
from typing import Any

import pytest

from agent.errors import MissingObserverError
from policies import Abstain, Reason, SearchOn, SearchState
from retrieval import Tier
from tests.fakes import (
    PolicyFrom,
    ScriptedObserver,
    ScriptedPlanner,
    ScriptedRetriever,
    ScriptedVerifier,
    agent,
    answer_at,
    passages,
    requests_of,
    run,
    tier,
)

FIVE = passages("a", "b", "c", "d", "e")


def test_a_planner_that_fails_falls_back_to_the_question() -> None:
    local = tier("local", passages("a"))
    result = run(agent(local, planner=ScriptedPlanner(script=[RuntimeError("no plan")]), policy=answer_at(1.0)))
    assert [request.query for request in requests_of(local)] == ["question"]
    assert (result.action, result.degraded) == ("answer", True)


def test_no_tiers_and_no_evidence_abstains_in_order() -> None:
    result = run(agent())
    assert (result.action, len(result.turns)) == ("abstain", 1)


def test_a_verifier_sends_the_loop_back_and_then_accepts() -> None:
    """An answer that is not supported is searched for again within the budget."""
    verifier = ScriptedVerifier(labels=["insufficient", "supported"])
    local = tier("local", passages("a"), passages("b"))
    result = run(agent(local, policy=answer_at(1.0), verifier=verifier))
    assert (result.action, verifier.calls, len(requests_of(local))) == ("answer", 2, 2)
    assert result.verdict is not None
    assert result.verdict.label == "supported"


def test_an_answer_that_is_never_verified_is_not_returned() -> None:
    result = run(agent(tier("local", FIVE), policy=answer_at(1.0), verifier=ScriptedVerifier(labels=["refuted"])))
    assert (result.action, result.reason.code, result.answer) == ("abstain", "not_verified", None)


def test_observers_run_only_when_required_and_reach_the_policy() -> None:
    """Their values are seen as `observer.value`; a missing observer is an error when the agent is built."""
    seen: list[dict[str, float]] = []

    def decide(state: SearchState) -> SearchOn | Abstain:
        seen.append(dict(state.observations))
        return Abstain(reason=Reason(code="test", by="t"))

    wanted, idle = ScriptedObserver("probe", {"margin": 2.0}), ScriptedObserver("idle", {"x": 1.0})
    policy = PolicyFrom(decide, requires=frozenset({"probe"}))
    run(agent(tier("local", FIVE), policy=policy, observers=[wanted, idle]))
    assert (seen, wanted.turns, idle.turns) == ([{"probe.margin": 2.0}], [1], [])
    with pytest.raises(MissingObserverError, match="probe"):
        agent(tier("local", FIVE), policy=policy)


def test_an_observer_that_fails_or_gives_nan_leaves_no_value() -> None:
    policy = PolicyFrom(
        lambda s: Abstain(reason=Reason(code=str(sorted(s.observations)), by="t")), frozenset({"p", "q"})
    )
    observers = [ScriptedObserver("p", RuntimeError("x")), ScriptedObserver("q", {"v": math.nan, "w": 1.0})]
    result = run(agent(tier("local", FIVE), policy=policy, observers=observers))
    assert result.reason.code == "['q.w']"
    assert {event.kind for event in result.turns[0].events} == {"observer_failed", "observation_invalid"}


def test_a_tier_that_breaks_its_contract_is_held_to_it() -> None:
    """More than k hits, repeated hits and a wrong return type do not reach the evidence."""
    greedy = Tier(name="greedy", retriever=Greedy(), k=2)
    result = run(agent(greedy, policy=answer_at(2.0)))
    assert len(result.evidence) == 2
    assert result.turns[0].events[0].kind == "hits_dropped"
    wrong = Tier(name="wrong", retriever=Wrong())
    result = run(agent(wrong))
    assert "must return Retrieved" in result.turns[0].events[0].detail


class Greedy(ScriptedRetriever):
    """Ignores k and repeats a hit."""

    def __init__(self) -> None:
        super().__init__(script=[])

    async def retrieve(self, request: Any) -> Any:
        from retrieval import Retrieved
        from tests.fakes import hits

        return Retrieved(hits=hits((FIVE[0], FIVE[0], *FIVE), request))


class Wrong:
    """Returns a list."""

    async def retrieve(self, request: Any) -> Any:
        return [request]
