"""From evidence to an answer that was looked at."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from policies import Reason
from retrieval import Event, EvidenceSet, Ranking

from .errors import AnswerError
from .meter import Meter
from .parts import Parts
from .seams import Answer, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer, or why there is none."""

    answer: Answer | None = None
    verdict: Verdict | None = None
    objection: Reason | None = None
    """Why the answer must not be returned; None if it may be."""
    events: tuple[Event, ...] = ()


async def answer_and_verify(
    parts: Parts, meter: Meter, question: str, evidence: EvidenceSet, ranking: Ranking
) -> Answered:
    """Answer from the evidence and let the verifier look at it. Never called for an empty evidence set (E06).

    The time limit is the loop's `answer_seconds`, apart from the search's budget: what was found is not thrown
    away because finding it took all the time.
    """
    if parts.answerer is None:
        return Answered()
    seconds = parts.settings.answer_seconds
    try:
        async with asyncio.timeout(seconds):
            with meter.known():
                answer = await parts.answerer.answer(question, evidence, ranking)
    except Exception as error:  # noqa: BLE001  an answerer is a plug-in; without an answer the search abstains
        if isinstance(error, AnswerError):
            meter.add(error.spend)
        return _failed(f"{type(error).__name__}: {error}")
    meter.add(answer.spend)
    if not answer.text.strip():
        return _failed("the answerer returned an empty answer", *answer.events)
    answer, dropped = _cited_from(answer, evidence)
    events = (*answer.events, *dropped)
    if parts.verifier is None:
        return Answered(answer=answer, events=events)
    try:
        async with asyncio.timeout(seconds):
            verdict = await parts.verifier.verify(question, answer, evidence)
    except Exception as error:  # noqa: BLE001  an answer that could not be verified is not a verified answer
        event = Event(kind="verifier_failed", detail=f"{type(error).__name__}: {error}", where="verifier")
        return Answered(answer=answer, objection=_objection("not_verified"), events=(*events, event))
    meter.add(verdict.spend)
    objection = None if verdict.label == "supported" else _objection("not_verified")
    return Answered(answer=answer, verdict=verdict, objection=objection, events=events)


def _failed(detail: str, *before: Event) -> Answered:
    event = Event(kind="answerer_failed", detail=detail, where="answerer")
    return Answered(objection=_objection("answer_failed"), events=(*before, event))


def _objection(code: str) -> Reason:
    return Reason(code=code, by="loop")


def _cited_from(answer: Answer, evidence: EvidenceSet) -> tuple[Answer, tuple[Event, ...]]:
    """Drop citations that do not stand in the evidence: a quote must be the text at its place."""
    texts = {passage.id: passage.text for passage in evidence}
    kept = tuple(
        c for c in answer.citations if c.quote and texts.get(c.passage_id, "")[c.start : c.end] == c.quote
    )
    if len(kept) == len(answer.citations):
        return answer, ()
    dropped = len(answer.citations) - len(kept)
    event = Event(
        kind="citation_dropped", detail=f"{dropped} quotes do not stand in the evidence", where="answerer"
    )
    return replace(answer, citations=kept), (event,)
