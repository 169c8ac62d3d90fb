"""The observer named `probe`: stability and margin of the answer that is never shown."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent import SearchResult
from agent.answer import ExtractiveAnswerer
from agent.episodes import Probe
from agent.errors import AnswerError
from agent.observe import ProbeObserver, answer_key, observations, stability
from agent.ranking import ChainRanker
from agent.seams import Answer, Observer
from agent.trace import load_trace
from agent.wire import read_state
from policies import Budget
from retrieval import EvidenceSet, Passage, Ranking, Spend
from retrieval.text import normalise
from tests.agent.test_observe_margin import TOWNS, Lengths
from tests.fakes import PolicyFrom, ScriptedPlanner, agent, always_search, passages, tier

QUESTION = "When was the bridge of Marrowby built?"
LATER = Passage(title="Marrowby", text="The bridge of Marrowby was built in 1784 and built again in 1903.")


class Reader:
    """A prober that answers with the latest passage; notes what it read, in which order, and where."""

    def __init__(self) -> None:
        self.read: list[tuple[str, ...]] = []
        self.rankings: list[tuple[str, ...]] = []
        self.threads: set[str] = set()

    def probe(self, question: str, evidence: EvidenceSet, ranking: Ranking) -> Probe:
        self.read.append(evidence.ids)
        self.rankings.append(ranking.ids)
        self.threads.add(threading.current_thread().name)
        return Probe(text=evidence.passages[-1].text, margin=len(evidence) / 2)


class Costly:
    """An answerer that pays tokens, and declines where there is one passage only."""

    async def answer(self, question: str, evidence: EvidenceSet, ranking: Ranking) -> Answer:
        if len(evidence) == 1:
            raise AnswerError("not enough", spend=Spend(tokens=3))
        return Answer(text="Lenne", citations=(), spend=Spend(tokens=7))


def growing(*looks: Sequence[Passage]) -> list[EvidenceSet]:
    """The evidence after each look."""
    evidence, found = EvidenceSet(), []
    for new in looks:
        evidence = evidence.add(new)
        found.append(evidence)
    return found


async def watch(
    observer: ProbeObserver, looks: Iterable[EvidenceSet], *, first: int = 1
) -> list[tuple[float, float | None]]:
    """Stability and margin after each look."""
    seen = []
    for turn, evidence in enumerate(looks, start=first):
        values = (await observer.observe(QUESTION, evidence, turn)).values
        seen.append((values["stable"], values.get("margin")))
    return seen


def test_it_serves_the_seam() -> None:
    """The loop takes it as an observer by its name."""
    observer = ProbeObserver(Reader(), ChainRanker())
    assert isinstance(observer, Observer)
    assert observer.name == "probe"


async def test_stability_counts_looks_and_a_dry_turn_costs_no_probe() -> None:
    """One probe a turn; none where nothing came; no answer before there is evidence."""
    reader = Reader()
    same = Passage(text="the text of B!", title="another")
    looks = growing((), passages("a"), passages("b"), (), (same,), passages("c"))
    assert await watch(ProbeObserver(reader, ChainRanker()), looks) == [
        (0.0, None), (1.0, 0.5), (1.0, 1.0), (2.0, 1.0), (3.0, 1.5), (1.0, 2.0),
    ]  # fmt: skip
    assert len(reader.read) == 4
    assert all(name.startswith("sufficit-compute") for name in reader.threads)


async def test_given_evidence_is_the_first_look() -> None:
    """Turn 0 counts."""
    looks = growing(passages("a"), ())
    assert [stable for stable, _ in await watch(ProbeObserver(Reader(), ChainRanker()), looks, first=0)] == [
        1.0,
        2.0,
    ]


async def test_a_search_that_is_not_remembered_counts_from_the_evidence_before() -> None:
    """What was lost is made up for with one more probe, from the evidence without its new ids."""
    reader = Reader()
    whole = growing(passages("a"), passages("b"), (Passage(text="The text of b.", title="again"),))
    assert await watch(ProbeObserver(reader, ChainRanker()), whole[2:], first=3) == [(2.0, 1.5)]
    assert reader.read == [whole[1].ids, whole[2].ids]


async def test_what_a_probe_costs_is_counted_and_an_answer_that_fails_is_none() -> None:
    """Any answerer can be probed; its tokens count whether or not it answers."""
    observer = ProbeObserver(Costly(), ChainRanker())
    first, second, third = growing(passages("a"), passages("b"), passages("c"))
    declined = await observer.observe(QUESTION, first, 1)
    assert (declined.values, declined.spend) == ({"stable": 0.0}, Spend(tokens=3))
    answered = await observer.observe(QUESTION, second, 2)
    assert (answered.values, answered.spend) == ({"stable": 1.0}, Spend(tokens=7))
    late = await ProbeObserver(Costly(), ChainRanker()).observe(QUESTION, third, 3)
    assert (late.values, late.spend) == ({"stable": 2.0}, Spend(tokens=14))


async def test_many_searches_at_once_do_not_mix() -> None:
    """One observer serves many searches, of other questions and of the same one."""
    shared = ProbeObserver(Reader(), ChainRanker())
    paths = [growing(passages(f"a{n % 5}"), passages(f"b{n % 5}"), (), passages("c")) for n in range(20)]
    together = await asyncio.gather(*(watch(shared, path) for path in paths))
    alone = [await watch(ProbeObserver(Reader(), ChainRanker()), path) for path in paths]
    assert together == alone


def search(observer: ProbeObserver, trace: Path) -> SearchResult:
    """A search with the real answerer whose answer changes on the way."""
    policy = PolicyFrom(always_search().function, requires=frozenset({"probe"}))
    local = tier("local", TOWNS[2:4], (), TOWNS[1:2], TOWNS[4:], (LATER,), ())
    searcher = agent(local, policy=policy, observers=[observer], planner=ScriptedPlanner())
    return searcher.run_sync(QUESTION, evidence=TOWNS[:1], budget=Budget(max_turns=6), trace=trace)


def test_recorded_probes_give_the_observations_of_the_live_run(tmp_path: Path) -> None:
    """A replay needs the texts and margins only: `observations` gives what policies saw, to the last bit."""
    answerer, ranker = ExtractiveAnswerer(Lengths()), ChainRanker()
    search(ProbeObserver(answerer, ranker), tmp_path / "trace.jsonl")
    trace = load_trace(tmp_path / "trace.jsonl")
    probes: list[Probe] = []
    rankings: list[tuple[str, ...]] = []
    for turn in trace.turns:
        evidence = trace.evidence_after(turn["number"])
        rankings.append(tuple(key for key in evidence.ids if not any(key in known for known in rankings)))
        probes.append(answerer.probe(QUESTION, evidence, ranker.rank(QUESTION, evidence, rankings)))
    live = [read_state(turn["state"]).observations for turn in trace.turns]
    assert live == observations(probes)
    assert [values["probe.stable"] for values in live] == [1, 2, 3, 1, 2, 3, 4]
    assert stability([probe.text for probe in probes]) == [int(values["probe.stable"]) for values in live]


def test_a_probe_is_never_the_answer(tmp_path: Path) -> None:
    """The search abstains at the end of its budget, whatever it would have answered on the way."""
    result = search(ProbeObserver(ExtractiveAnswerer(Lengths()), ChainRanker()), tmp_path / "trace.jsonl")
    assert (result.action, result.answer) == ("abstain", None)


def test_a_prober_that_fails_leaves_an_event_and_no_value() -> None:
    """A fault of the answerer neither ends the search nor looks like an answer."""

    class Broken(Reader):
        def probe(self, question: str, evidence: EvidenceSet, ranking: Ranking) -> Probe:
            raise RuntimeError("torn page")

    policy = PolicyFrom(always_search().function, requires=frozenset({"probe"}))
    searcher = agent(tier("local", TOWNS), policy=policy, observers=[ProbeObserver(Broken(), ChainRanker())])
    result = searcher.run_sync(QUESTION, budget=Budget(max_turns=1))
    assert result.turns[0].state.observations == {}
    assert [(event.kind, event.where) for event in result.turns[0].events] == [("observer_failed", "probe")]


@given(
    st.lists(
        st.none() | st.sampled_from(["Lenne", "the lenne", "LENNE!", "Tessel", "?", "the", "東京"]), max_size=8
    )
)
def test_stability_is_the_length_of_the_run_of_equal_answers(texts: list[str | None]) -> None:
    """By definition, the long way."""
    keys = [None if text is None else answer_key(text) for text in texts]
    for place, count in enumerate(stability(texts)):
        run = 0
        while keys[place] is not None and run <= place and keys[place - run] == keys[place]:
            run += 1
        assert count == run


@given(st.text(min_size=1))
def test_only_a_blank_text_has_no_key(text: str) -> None:
    """Signs alone are compared as they are; an article alone is not nothing."""
    assert bool(answer_key(text)) == bool(normalise(text))
