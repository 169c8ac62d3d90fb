"""The observer that probes: what would be answered now, since when, and how clearly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from policies.replay import Recorded
from retrieval import EvidenceSet, Ranking, Spend
from retrieval.compute import in_worker
from retrieval.memo import Memo
from retrieval.names import name_key
from retrieval.text import normalise

from .episodes import Episode, Probe
from .errors import AnswerError
from .seams import Answerer, Observation, Ranker

KEPT = 200_000
"""Passage ids in the memory of an observer: 1,000 searches at once of six turns with five new passages each."""

Rankings = tuple[tuple[str, ...], ...]


@runtime_checkable
class Prober(Protocol):
    """An answerer that can say how clearly its answer leads, at no more than the cost of an answer."""

    def probe(self, question: str, evidence: EvidenceSet, ranking: Ranking) -> Probe:
        """What would be answered. Blocking, thread-safe, deterministic.

        Raises:
            AnswerError: there is nothing to answer from.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look at the evidence of a search left."""

    probe: Probe | None = None
    """None: nothing could be answered."""
    stable: int = 0
    """How many looks in a row, this one included, would have given this answer; 0 without one."""
    rankings: Rankings = ()
    """Ids of the passages that were new at each look, in the order in which they came."""


class ProbeObserver:
    """Answers from the evidence after each turn without telling anybody. An `Observer` named `probe`.

    Its values are the two signals of TASR (Kieback et al. 2026, arXiv:2606.13814). Its margin is one of a language
    model's logits and is calibrated before use; ours is the answerer's own.

    * `stable`: how many looks in a row would have given the same answer, see `stability`; 0 without an answer;
    * `margin`: by how much the answer leads, see `Probe.margin`; absent where the answerer gives none.

    One probe a turn, none where a turn brought nothing new. It knows a search by its question, its turn and the
    ids of its evidence, and remembers the latest looks, `KEPT` ids in all. A search that it has forgotten, or did
    not see from its beginning, counts from the evidence before this turn. Two searches at once that ask the same
    question and hold the same passages after the same turn are one to it. Deterministic if the answerer is.

    Args:
        answerer: A `Prober` gives margins and runs in a worker thread; any other answerer is asked for an answer,
            whose spend counts.
        ranker: Orders the evidence for it.
    """

    name = "probe"

    def __init__(self, answerer: Answerer | Prober, ranker: Ranker) -> None:
        self._answerer = answerer
        self._ranker = ranker
        self._looks: Memo[tuple[str, int, tuple[str, ...]], Look] = Memo(KEPT, _ids_of)

    async def observe(self, question: str, evidence: EvidenceSet, turn: int) -> Observation:
        """See `Observer`; raises what the answerer raises, except `AnswerError`: then there is no answer."""
        before, spent = await self._before(question, evidence, turn)
        rankings = (*before.rankings, evidence.new_ids)
        if before.rankings and not evidence.new_ids:
            probe, spend = before.probe, Spend()
        else:
            probe, spend = await self._probe(question, evidence, rankings)
        look = Look(probe=probe, stable=_stable(before.stable, before.probe, probe), rankings=rankings)
        self._looks.put((question, turn, evidence.ids), look)
        return Observation(values=_values(look.probe, look.stable), spend=spent + spend)

    async def _before(self, question: str, evidence: EvidenceSet, turn: int) -> tuple[Look, Spend]:
        """The look before this one, and what it cost to make up for one that is not known."""
        new = set(evidence.new_ids)
        earlier = tuple(key for key in evidence.ids if key not in new)
        known = self._looks.get((question, turn - 1, earlier))
        if known is not None or not earlier:
            return known or Look(), Spend()
        passages = EvidenceSet.of(passage for passage in evidence if passage.id not in new)
        probe, spend = await self._probe(question, passages, (earlier,))
        return Look(probe=probe, stable=_stable(0, None, probe), rankings=(earlier,)), spend

    async def _probe(self, question: str, evidence: EvidenceSet, rankings: Rankings) -> tuple[Probe | None, Spend]:
        if not len(evidence):
            return None, Spend()
        try:
            if isinstance(self._answerer, Prober):
                return await in_worker(self._read, self._answerer, question, evidence, rankings), Spend()
            ranking = await in_worker(self._ranker.rank, question, evidence, rankings)
            answer = await self._answerer.answer(question, evidence, ranking)
        except AnswerError as error:
            return None, error.spend
        return Probe(text=answer.text), answer.spend

    def _read(self, prober: Prober, question: str, evidence: EvidenceSet, rankings: Rankings) -> Probe:
        return prober.probe(question, evidence, self._ranker.rank(question, evidence, rankings))


def stability(texts: Sequence[str | None]) -> list[int]:
    """For each look how many in a row, up to this one, gave the same answer; 0 where there was none.

    Answers are the same if their folded words are, a leading article left out.

    >>> stability([None, "Lenne", "the LENNE", "Tessel", "Lenne"])
    [0, 1, 2, 1, 1]
    """
    return _stabilities([None if text is None else Probe(text=text) for text in texts])


def observations(probes: Sequence[Probe | None]) -> list[Mapping[str, float]]:
    """What a `ProbeObserver` would have shown policies after each of these looks, by `observer.value`.

    >>> observations([None, Probe(text="Lenne", margin=0.5)])
    [{'probe.stable': 0.0}, {'probe.stable': 1.0, 'probe.margin': 0.5}]
    """
    return [
        {f"{ProbeObserver.name}.{key}": value for key, value in _values(probe, stable).items()}
        for probe, stable in zip(probes, _stabilities(probes), strict=True)
    ]


def probed_record(episode: Episode) -> Recorded:
    """The states of a recorded search, with what a `ProbeObserver` would have shown where probes were recorded."""
    states = episode.states()
    if len(episode.probes) != len(states):
        return Recorded(states)
    return Recorded(
        [
            replace(state, observations={**state.observations, **seen})
            for state, seen in zip(states, observations(episode.probes), strict=True)
        ]
    )


def answer_key(text: str) -> str:
    """What two answers are compared by; never empty for a text that is not blank.

    >>> answer_key("The river Lenne.")
    'river lenne'
    """
    return name_key(text) or normalise(text)


def _stabilities(probes: Sequence[Probe | None]) -> list[int]:
    counts: list[int] = []
    count, last = 0, None
    for probe in probes:
        count, last = _stable(count, last, probe), probe
        counts.append(count)
    return counts


def _stable(count: int, last: Probe | None, probe: Probe | None) -> int:
    """The number of looks in a row with this answer, after `count` looks with the last one."""
    if probe is None:
        return 0
    same = last is not None and answer_key(last.text) == answer_key(probe.text)
    return count + 1 if same else 1


def _values(probe: Probe | None, stable: int) -> dict[str, float]:
    values = {"stable": float(stable)}
    if probe is not None and probe.margin is not None:
        values["margin"] = probe.margin
    return values


def _ids_of(look: Look) -> int:
    return 1 + sum(map(len, look.rankings))
