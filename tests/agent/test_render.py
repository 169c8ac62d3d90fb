"""The end of a search in words: what failed and why, what is missing, what was not tried."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from agent import SearchResult
from agent.render import outcome
from agent.seams import Answer
from policies import Budget
from retrieval import Event, EvidenceSet, Ranking
from tests.fakes import QuoteAnswerer, agent, answer_at, passages, run, tier


def words(result: SearchResult) -> list[str]:
    """The lines of `outcome`."""
    out = io.StringIO()
    Console(file=out, width=400).print(outcome(result))
    return [line.rstrip() for line in out.getvalue().splitlines()]


class FallenBack(QuoteAnswerer):
    """Answers as a fallback does."""

    async def answer(self, question: str, evidence: EvidenceSet, ranking: Ranking) -> Answer:
        found = await super().answer(question, evidence, ranking)
        told = Event(kind="answerer_fell_back", detail="no route\n to the server", where="answerer")
        harmless = Event(kind="tokens_estimated", detail="", where="answerer")
        return Answer(text=found.text, citations=found.citations, fallback=True, events=(told, harmless))


def test_a_degraded_search_says_what_failed_and_why() -> None:
    """One line an event: of its turns, then of its end; an event that took nothing is no reason."""
    one = tier("local", RuntimeError("the disk\x1b is gone"), passages("a"))
    told = words(run(agent(one, policy=answer_at(1.0), answerer=FallenBack())))
    start = told.index("Degraded: a part failed on the way.")
    assert told[start + 1 :] == [
        "  turn 1, local, tier_failed: RuntimeError: the disk is gone",
        "  answerer, answerer_fell_back: no route to the server",
    ]


def test_many_reasons_are_cut_short() -> None:
    failures = [RuntimeError(f"fault {number} {'x' * 500}") for number in range(20)]
    told = words(run(agent(tier("local", *failures)), budget=Budget(max_calls=20)))
    start = told.index("Degraded: a part failed on the way.")
    assert len(told) - start <= 14
    assert all(len(line) < 360 for line in told[start:])


def test_nothing_degraded_is_not_told_of() -> None:
    assert not any("Degraded" in line for line in words(run(agent(tier("local", passages("a"))))))


@pytest.mark.parametrize("budget", [Budget(max_tokens=0), Budget(max_seconds=0.0), Budget(max_calls=0)])
def test_a_search_whose_budget_ended_before_it_began_searched_nothing(budget: Budget) -> None:
    """Not "nothing was found", and not "all tiers were searched"."""
    result = run(agent(tier("local", passages("a")), tier("web", passages("b"))), budget=budget)
    assert result.spend.calls == 0
    assert result.tiers_not_tried == ("local", "web")
    told = words(result)
    assert "  Missing: everything: nothing was searched, the budget ended first" in told
    assert "  Tiers not tried: local, web" in told


def test_a_search_that_found_nothing_says_so() -> None:
    told = words(run(agent(tier("local", ()))))
    assert "  Missing: everything: nothing was found" in told
    assert "  Tiers not tried: none, all were searched" in told
