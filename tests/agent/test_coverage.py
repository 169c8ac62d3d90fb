"""The verdict on a cache, and what is told to it, on scripted parts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from agent import SearchAgent
from agent.coverage import is_partial
from agent.parts import LoopSettings
from agent.result import SearchResult
from agent.seams import Plan
from agent.wire import result_json
from policies import AnswerNow, Budget, Decision, Reason, SearchOn, SearchState, StopPolicy, Widen
from policies.threshold import Band
from retrieval import EvidenceSet, Passage, Spend, Tier
from rinse import Gap, ReaderScore, Sufficiency
from tests.fakes import ChargingRetriever, PolicyFrom, ScriptedRetriever, ScriptedScorer, agent, passages, tier

BAND = Band(answer_at=3.0, abstain_below=1.0)


def _eager(state: SearchState) -> Decision:
    """Answers from a score of 3 on, else goes to the next tier at once; the lower bar is 1."""
    if (state.score or 0.0) >= 3.0:
        return AnswerNow(reason=Reason(code="threshold_met", by="test"))
    return Widen(reason=Reason(code="in_band", by="test", values={"abstain_below": 1.0}))


EAGER = PolicyFrom(_eager)


@dataclass
class Cache(ScriptedRetriever):
    """Takes credit; slowly, or not at all."""

    credits: list[tuple[str, dict[str, float], str | None]] = field(default_factory=list)
    seconds: float = 0.0
    error: Exception | None = None

    async def credit(
        self, question: str, contributions: Mapping[str, float], *, tenant: str | None = None
    ) -> None:
        await asyncio.sleep(self.seconds)
        if self.error is not None:
            raise self.error
        self.credits.append((question, dict(contributions), tenant))


def cache(*script: tuple[Passage, ...], seconds: float = 0.0, error: Exception | None = None) -> Cache:
    return Cache(script=script or ((),), seconds=seconds, error=error)


def search(
    held: Cache, *more: Tier, policy: StopPolicy = EAGER, seconds: float = 2.0, budget: Budget | None = None
) -> SearchResult:
    settings = LoopSettings(credit_seconds=seconds)
    tiers = (Tier(name="held", retriever=held), *more)
    return run(agent(*tiers, policy=policy, settings=settings, budget=budget or Budget()))


def run(searching: SearchAgent) -> SearchResult:
    return searching.run_sync("question of towns")


def verdict(result: SearchResult) -> str | None:
    return result.coverage.verdict if result.coverage else None


def test_hit_partial_miss_and_none() -> None:
    """By the tier in which the search answered, else by what the cache had when it was left."""
    web = tier("web", passages("a", "b", "c"))
    assert verdict(search(cache(passages("a", "b", "c")), web)) == "hit"
    assert verdict(search(cache(passages("a", "b"), ()), web)) == "partial"
    assert verdict(search(cache(()), web)) == "miss"
    assert verdict(search(cache(()))) == "miss"
    assert verdict(run(agent(web, policy=BAND))) is None


def test_below_the_lower_bar_is_a_miss() -> None:
    """The policy gave the cache up: nothing there was worth adding to."""
    high = Band(answer_at=9.0, abstain_below=2.5)
    assert verdict(search(cache(passages("a", "b")), tier("web", passages("c")), policy=high)) == "miss"


def test_an_answer_from_the_cache_after_origins_were_asked_is_no_hit() -> None:
    """A hit means that nobody was asked."""
    held = Tier(name="held", retriever=cache(passages("a", "b", "c")))

    paid = Spend(fetches=1)
    web = Tier(name="web", retriever=ChargingRetriever(spend=paid), fetches=True)
    result = run(agent(web, held, policy=EAGER))
    assert (result.action, result.turns[-1].tier, verdict(result)) == ("answer", "held", "partial")


@pytest.mark.parametrize(
    ("score", "gaps", "values", "expected"),
    [
        (1.0, [(8, 13)], {"abstain_below": 1.0}, True),
        (0.9, [(8, 13)], {"abstain_below": 1.0}, False),
        (-9.0, [(8, 13)], {}, True),
        (9.0, [(0, 26)], {}, False),
        (9.0, [], {}, True),
    ],
)
def test_partial_needs_the_lower_bar_and_a_part_that_is_covered(
    score: float, gaps: list[tuple[int, int]], values: dict[str, float], expected: bool
) -> None:
    question = "Whither river runs by Vale?"
    found = tuple(Gap(start=a, end=b, text=question[a:b], coverage=0.0) for a, b in gaps)
    reader = ReaderScore(reader="content", raw=score, corrected=score)
    sufficiency = Sufficiency(score=score, readers=(reader,), gaps=found, passages=1)
    wish = SearchOn(reason=Reason(code="in_band", by="band", values=values))
    assert is_partial(question, sufficiency, wish) is expected


def test_nothing_valid_to_score_is_no_partial() -> None:
    wish = SearchOn(reason=Reason(code="in_band", by="band"))
    assert not is_partial("Which river?", None, wish)
    assert not is_partial("Which river?", Sufficiency(score=1.0), wish)


def test_credit_is_what_the_score_loses_without_a_passage_and_goes_to_the_tenant() -> None:
    """At most eight passages, those of cache and web; what is not needed is not told."""
    names = passages("a", "b", "c")
    needed = names[0].id
    scorer = ScriptedScorer(lambda evidence: 5.0 if needed in evidence else 0.5)
    held = cache(names)
    whole = agent(Tier(name="held", retriever=held), policy=BAND, scorer=scorer)
    asyncio.run(whole.run("question of towns", tenant="t"))
    assert held.credits == [("question of towns", {needed: 4.5}, "t")]
    assert len(scorer.calls) == 1 + 3


def test_passages_of_a_local_index_get_no_credit() -> None:
    """They are not the cache's to keep."""
    held = cache(passages("b"), ())
    result = search(held, tier("local", passages("a", "c")))
    assert result.action == "answer"
    assert [set(told) for _, told, _ in held.credits] == [{passages("b")[0].id}]


@pytest.mark.parametrize(
    ("seconds", "error", "match"), [(0.0, OSError("disk full"), "disk full"), (30.0, None, "longer than")]
)
def test_credit_that_fails_is_an_event_and_takes_nothing_from_the_search(
    seconds: float, error: Exception | None, match: str
) -> None:
    held = cache(passages("a", "b", "c"), seconds=seconds, error=error)
    result = search(held, seconds=0.1)
    assert (result.action, result.degraded) == ("answer", False)
    (event,) = result.events
    assert (event.kind, event.where) == ("credit_failed", "held")
    assert match in event.detail


def test_the_gaps_come_first_on_the_web_and_the_question_where_there_are_none() -> None:
    """The planner hears that the question was asked, only on the first turn of a tier that fetches."""
    assert _planned(passages("a", "b"), fetches=True, onward=True) == [(), ("question of towns",)]
    assert _planned(passages("a", "b"), fetches=True, onward=False) == [(), ("question of towns",), ()]
    assert _planned((), fetches=True, onward=True) == [(), ()]
    assert _planned(passages("a", "b"), fetches=False, onward=True) == [(), ()]


def _planned(held: tuple[Passage, ...], *, fetches: bool, onward: bool) -> list[tuple[str, ...]]:
    """What the planner heard as tried, plan by plan, in a search of one turn a tier."""
    heard: list[tuple[str, ...]] = []

    @dataclass
    class Listening:
        async def plan(
            self, question: str, evidence: EvidenceSet, sufficiency: Sufficiency | None, tried: tuple[str, ...]
        ) -> Plan:
            heard.append(tried)
            return Plan(queries=() if tried and not onward else ("what is missing",))

    web = Tier(name="web", retriever=ScriptedRetriever(script=[passages("c", "d", "e")]), fetches=fetches)
    run(agent(Tier(name="held", retriever=cache(held)), web, policy=EAGER, planner=Listening()))
    return heard


def test_the_json_of_a_result_has_the_verdict() -> None:
    data = result_json(search(cache(passages("a", "b", "c"))))
    assert data["coverage"]["verdict"] == "hit"
    assert set(data["coverage"]["passages"][0]) == {"passage_id", "tier", "url", "age", "stale"}
