"""Whether a cache covered a question: what the loop found out, said in one word, with where each passage is from.

A cache only nominates; the score of this question on these passages and the policy decide. From the turns of a
search whose tiers hold a cache follows

* `hit`: the search answered while it was in the cache, and no origin had been asked;
* `partial`: when the search left the cache, or ended there without an answer, the cache had something worth adding
  to: the score was at least the bar that the policy named, if it named one (`partial_from`, else `abstain_below`),
  and a content word of the question lay outside all gaps;
* `miss`: anything else, an empty or failing cache included.

A partial is where gaps become the queries for the web: see `agent.planning`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from policies import AnswerNow, Decision
from retrieval import EvidenceSet, Hit, Passage
from retrieval.words import content_words
from rinse import Sufficiency

if TYPE_CHECKING:
    from .result import SearchResult, Turn

CoverageVerdict: TypeAlias = Literal["hit", "partial", "miss"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Where a passage of the evidence came from, and how old it was then."""

    passage_id: str
    tier: str
    """The tier that brought it first; empty for evidence that was given."""
    url: str | None
    """For the citation."""
    age: float | None
    """Seconds since the origin vouched for it, when the tier answered; None where that is not known."""
    stale: bool
    """It had outlived its freshness, and was served because the rules for stale content allow it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What a cache was worth to one search."""

    verdict: CoverageVerdict
    passages: tuple[Found, ...]
    """One for each passage of the evidence, in its order."""


def coverage(result: SearchResult, caches: Collection[str]) -> Coverage | None:
    """The verdict on the caches of a search; None if none was asked. Pure.

    Args:
        result: Of the search; its own `coverage` is not looked at.
        caches: Names of the tiers that are caches.
    """
    asked = [turn for turn in result.turns if turn.tier in caches]
    if not asked:
        return None
    last = asked[-1]
    verdict: CoverageVerdict = "miss"
    ended_there = last is result.turns[-1] and isinstance(last.decision, AnswerNow)
    if ended_there and result.action == "answer" and not last.state.spend.fetches:
        verdict = "hit"
    elif is_partial(result.question, last.sufficiency, last.wish):
        verdict = "partial"
    return Coverage(verdict=verdict, passages=_found(result.turns, result.evidence))


def is_partial(question: str, sufficiency: Sufficiency | None, wish: Decision) -> bool:
    """Whether evidence that does not suffice is worth adding to.

    Args:
        question: The user's.
        sufficiency: Of the evidence; None = it has no valid score.
        wish: What the policy said of it.
    """
    if sufficiency is None or not sufficiency.passages:
        return False
    values = wish.reason.values
    bar = values.get("partial_from", values.get("abstain_below"))
    if bar is not None and sufficiency.score < bar:
        return False
    gaps = [(gap.start, gap.end) for gap in sufficiency.gaps]
    return any(not any(start <= word.start < end for start, end in gaps) for word in content_words(question))


def _found(turns: Sequence[Turn], evidence: EvidenceSet) -> tuple[Found, ...]:
    first: dict[str, tuple[str, Hit]] = {}
    for turn in turns:
        for hit in turn.hits:
            first.setdefault(hit.passage.id, (turn.tier, hit))
    return tuple(_one(passage, *first.get(passage.id, ("", None))) for passage in evidence)


def _one(passage: Passage, tier: str, hit: Hit | None) -> Found:
    return Found(
        passage_id=passage.id,
        tier=tier,
        url=passage.url,
        age=hit.age if hit else None,
        stale=hit is not None and hit.stale,
    )
