"""What to ask next: what the question still lacks, by way of the names in what was found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from retrieval import EvidenceSet, Passage
from retrieval.compute import in_worker
from retrieval.names import find_names
from retrieval.text import query_key
from retrieval.words import Word, content_words, stems
from rinse import Gap, Sufficiency

from .ranking import ChainRanker, Weights
from .seams import Plan
from .views import View, Views, folded_words, holds

QUERIES = 2
"""Queries of one plan."""
SEEDS = 20
"""Passages from whose links the tier may go on, the most promising ones that were not followed yet."""
MAX_NAMES = 12
"""Names that one query takes from a passage, in the order of the text."""
MAX_WORDS = 8
"""Words that a query takes from a passage without names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """One query that could be asked, and why."""

    query: str
    reason: str
    seed: str | None = None
    """The passage that it goes on from."""


class GapPlanner:
    """Asks the question, then for what it lacks by way of the names in the best passages.

    A `QueryPlanner` without any model. Turn one asks the question itself. After that there are two kinds of query,
    at most two a plan:

    * a name of the question that no passage holds, with the words that no passage covers (both sides of a
      comparison get their own query);
    * the words of the question that a good passage does not hold, with the names of the passage that the
      question lacks. Good is what `ChainRanker` puts first: a passage that a chain has reached is gone on from,
      also where it does not resemble the question.

    It is a pure function of its arguments: a passage was followed before if its query is among `tried`. Text
    without capitals has no names; then the passage's own words take their place. With nothing left to go on from
    the plan is empty.

    Args:
        weights: Of the features that tell which passage is good; None = those of `ChainRanker`.
        views: Shared with a `ChainRanker`, so that no passage is looked at twice.
    """

    def __init__(self, weights: Weights | None = None, *, views: Views | None = None) -> None:
        self._views = views or Views()
        self._ranker = ChainRanker(weights, views=self._views)

    async def plan(
        self, question: str, evidence: EvidenceSet, sufficiency: Sufficiency | None, tried: tuple[str, ...]
    ) -> Plan:
        """Plan the next turn. See `QueryPlanner`; never raises `PlanError`. Computes in a worker thread."""
        return await in_worker(self._plan, question, evidence, sufficiency, tried)

    def _plan(
        self, question: str, evidence: EvidenceSet, sufficiency: Sufficiency | None, tried: tuple[str, ...]
    ) -> Plan:
        asked = {query_key(query) for query in tried}
        if question.strip() and query_key(question) not in asked:
            return Plan(queries=(question,), reason="the question itself")
        gaps = sufficiency.gaps if sufficiency else ()
        fresh: dict[str, Lead] = {}
        for lead in self._leads(question, evidence, gaps):
            key = query_key(lead.query)
            if key and key not in asked:
                fresh.setdefault(key, lead)
            if len(fresh) == SEEDS:
                break
        chosen = tuple(fresh.values())[:QUERIES]
        return Plan(
            queries=tuple(lead.query for lead in chosen),
            seeds=tuple(lead.seed for lead in fresh.values() if lead.seed),
            reason="; ".join(lead.reason for lead in chosen) or "nothing new to ask",
        )

    def _leads(self, question: str, evidence: EvidenceSet, gaps: Sequence[Gap]) -> Iterator[Lead]:
        """All that could be asked, best first: names that were not found, then passages to go on from."""
        passages = {passage.id: passage for passage in evidence}
        if not passages:
            return
        yield from _missing_names(question, [self._views.of(passage) for passage in passages.values()])
        for key in self._ranker.rank(question, evidence, [evidence.ids]).ids:
            lead = self._onward(question, passages[key], gaps)
            if lead is not None:
                yield lead

    def _onward(self, question: str, passage: Passage, gaps: Sequence[Gap]) -> Lead | None:
        """What the question still lacks if this passage is one of its steps; None if it leads nowhere."""
        view = self._views.of(passage)
        open_words = [word for word in content_words(question) if not view.stems.issuperset(word.stems)]
        bridge = _new_names(question, view)[:MAX_NAMES] or _new_words(question, passage)
        if not bridge:
            return None
        return Lead(
            query=" ".join([*(word.text for word in open_words), *bridge]),
            reason=f"{_after(question, open_words, gaps)} via {view.title or bridge[0]}",
            seed=passage.id,
        )


def _new_names(question: str, view: View) -> list[str]:
    """The names of a passage that the question does not have, its title first."""
    names = {view.topic: view.title} if view.title else {}
    for name in view.found:
        names.setdefault(name.key, name.text)
    asked = folded_words(question)
    return [text for key, text in names.items() if key and not holds(asked, key)]


def _missing_names(question: str, views: Sequence[View]) -> Iterator[Lead]:
    """For each name of the question that no passage holds: the name and the words that no passage covers.

    A question with one name alone has asked for it already.
    """
    names = find_names(question)
    if len({name.key for name in names}) < 2:
        return
    for name in names:
        if any(view.topic == name.key or holds(view.folded, name.key) for view in views):
            continue
        inside = [other for other in names if other.key != name.key]
        rest = [
            word.text
            for word in content_words(question)
            if not any(other.start <= word.start < other.end for other in inside)
            and not name.start <= word.start < name.end
        ]
        yield Lead(query=" ".join([name.text, *rest]), reason=f"{name.text} is not found yet")


def _new_words(question: str, passage: Passage) -> list[str]:
    """For a passage without names: its first words that the question lacks."""
    known = stems(question)
    fresh = (word.text for word in content_words(passage.text) if not known.issuperset(word.stems))
    return list(dict.fromkeys(fresh))[:MAX_WORDS]


def _after(question: str, open_words: Sequence[Word], gaps: Sequence[Gap]) -> str:
    """What a query is after: the gap that its words lie in, else the words themselves."""
    for gap in gaps:
        if any(gap.start <= word.start < gap.end for word in open_words):
            return f'gap "{gap.text}"'
    return f'"{" ".join(word.text for word in open_words)}"' if open_words else "what follows"
