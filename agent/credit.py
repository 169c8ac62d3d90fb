"""What each passage was worth to an answered question, told to the cache: it decides what is kept.

The contribution of a passage is what the score loses without it. A reader counts where its raw value falls: the
others only see a smaller set, which their size correction rewards. Two passages that say the same contribute
nothing each. The cost: one more score for each of at most `MOST` passages, most of it from the scorer's memo (1 to
20 ms each with the small profile on a six-passage set), in a worker thread, and one write of the cache.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Collection

from retrieval import Event, EvidenceSet
from retrieval.compute import in_worker
from rinse import Sufficiency, SufficiencyScorer

from .inquiry import Inquiry
from .parts import Parts
from .result import SearchResult
from .seams import TakesCredit

MOST = 8
"""Passages of the final ranking, best first, whose contribution is found."""


def credited_tiers(inquiry: Inquiry) -> tuple[str, ...]:
    """Names of the tiers that want to hear what passages were worth: the caches."""
    return tuple(tier.name for tier in inquiry.tiers if isinstance(tier.retriever, TakesCredit))


async def give_credit(parts: Parts, inquiry: Inquiry, result: SearchResult) -> tuple[Event, ...]:
    """Tell the caches that a search asked what the passages from them and from the web contributed.

    Takes `LoopSettings.credit_seconds` at most, half of them for scores. Never raises but for cancellation: what
    goes wrong is an event `credit_failed`.
    """
    asked = {turn.tier for turn in result.turns}
    caches = [tier for tier in inquiry.tiers if tier.name in asked and isinstance(tier.retriever, TakesCredit)]
    if not caches or result.sufficiency is None:
        return ()
    sources = {tier.name for tier in caches} | {tier.name for tier in inquiry.tiers if tier.fetches}
    seconds, where = parts.settings.credit_seconds, caches[0].name
    try:
        async with asyncio.timeout(seconds):
            until = time.monotonic() + seconds / 2
            worth = await in_worker(contributions, parts.scorer, result, sources, until)
            for tier in caches if worth else ():
                where = tier.name
                assert isinstance(tier.retriever, TakesCredit)  # noqa: S101  chosen for it above
                await tier.retriever.credit(inquiry.question, worth, tenant=inquiry.tenant)
    except TimeoutError:
        return (_failed(where, f"It took longer than {seconds:.3g} s."),)
    except Exception as error:  # noqa: BLE001  a cache and a scorer are plug-ins, and the search is over
        return (_failed(where, f"{type(error).__name__}: {error}"),)
    return ()


def contributions(
    scorer: SufficiencyScorer, result: SearchResult, sources: Collection[str], until: float = math.inf
) -> dict[str, float]:
    """What the final score would lose without some passages, by id; those without a loss are left out. Blocking.

    Args:
        scorer: Of the search.
        result: Of the search.
        sources: Names of the tiers whose passages are meant; of these the first `MOST` of the ranking.
        until: Moment of `time.monotonic()` after which no further passage is looked at.
    """
    if result.sufficiency is None:
        return {}
    meant = {hit.passage.id for turn in result.turns if turn.tier in sources for hit in turn.hits}
    found: dict[str, float] = {}
    for key in [key for key in result.ranking.ids if key in meant][:MOST]:
        if time.monotonic() > until:
            break
        others = EvidenceSet.of(one for one in result.evidence if one.id != key)
        loss = _loss(result.sufficiency, scorer.score(result.question, others))
        if loss > 0:
            found[key] = loss
    return found


def _loss(whole: Sufficiency, without: Sufficiency) -> float:
    if not whole.readers:
        return whole.score - without.score
    others = {reader.reader: reader for reader in without.readers}
    pairs = [(one, others[one.reader]) for one in whole.readers if one.reader in others]
    return sum(one.corrected - other.corrected for one, other in pairs if one.raw > other.raw)


def _failed(where: str, detail: str) -> Event:
    return Event(kind="credit_failed", detail=detail, where=where)
