"""An answer by a language model, each citation checked; a simpler answerer where that fails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, Field

from retrieval import Event, EvidenceSet, Passage, Ranking
from retrieval.compute import in_worker
from retrieval.text import tokenise

from .answer import MAX_CITATIONS, in_order
from .errors import AnswerError, ModelCallError
from .llm.ask import Limits, ask_json, estimate_event
from .llm.client import ChatClient, Message
from .llm.quotes import find_quote, shown
from .meter import allowance
from .prompts import answerer_messages, fitting
from .seams import Answer, Answerer, Citation

MIN_QUOTE_WORDS = 3
"""A shorter quote stands in too many places to prove anything."""
MAX_ANSWER = 2_000
"""Characters of an answer."""


class CitedQuote(BaseModel):
    """One citation as the model writes it."""

    passage: int
    quote: str


class CitedAnswer(BaseModel):
    """What the model is asked for."""

    answer: str | None
    citations: Annotated[list[CitedQuote], Field(max_length=50)] = []


class LlmAnswerer:
    """Answers by a language model from the passages that it is shown, and cites them. An `Answerer`.

    A citation counts if its passage was shown and its quote, of three words at least, stands in it (after NFKC and
    white-space folding). An answer without one is refused. Where the model fails or its answer is refused, the
    answer is that of `fallback`, marked as such, with an event `answerer_fell_back` that says why. A model that
    finds the evidence insufficient has not failed: that is an `AnswerError`, and the search abstains.

    Args:
        client: The model.
        fallback: Answers where the model fails.
        context_tokens: For the passages of the prompt, by an estimate.
        max_tokens: Longest completion.
    """

    def __init__(
        self, client: ChatClient, fallback: Answerer, *, context_tokens: int = 3_000, max_tokens: int = 500
    ) -> None:
        self._client = client
        self._fallback = fallback
        self._context_tokens = context_tokens
        self._max_tokens = max_tokens

    async def answer(self, question: str, evidence: EvidenceSet, ranking: Ranking) -> Answer:
        """Answer `question`. See `Answerer`.

        Raises:
            AnswerError: the model finds that the evidence does not suffice; or what the fallback raises.
        """
        try:
            return await self._by_model(question, evidence, ranking)
        except ModelCallError as error:
            event = Event(kind="answerer_fell_back", detail=str(error), where="answerer")
            events = (event, *estimate_event(error.estimated, "answerer"))
            spend, why = error.spend, str(error)
        try:
            answer = await self._fallback.answer(question, evidence, ranking)
        except AnswerError as error:
            raise AnswerError(f"{error} (without the model: {why})", spend=error.spend + spend) from error
        return replace(answer, fallback=True, spend=answer.spend + spend, events=(*events, *answer.events))

    async def _by_model(self, question: str, evidence: EvidenceSet, ranking: Ranking) -> Answer:
        passages, messages = await in_worker(self._prompt, question, evidence, ranking)
        limits = Limits(
            max_tokens=self._max_tokens,
            seconds=self._client.endpoint.timeout_seconds,
            tokens=allowance().tokens,
        )
        asked = await ask_json(self._client, messages, CitedAnswer, limits)
        text = shown(asked.value.answer or "")[:MAX_ANSWER]
        if not text:
            raise AnswerError("The model finds that the passages do not suffice.", spend=asked.spend)
        citations, refused = await in_worker(check_citations, asked.value.citations, passages)
        faults = "; ".join(refused)
        if not citations:
            why = f"The model's answer has no valid citation: {faults or 'it cites nothing'}."
            raise ModelCallError(why, spend=asked.spend, estimated=asked.estimated)
        dropped = (Event(kind="citation_dropped", detail=faults, where="answerer"),) if faults else ()
        events = (*estimate_event(asked.estimated, "answerer"), *dropped)
        return Answer(text=text, citations=citations, spend=asked.spend, events=events)

    def _prompt(
        self, question: str, evidence: EvidenceSet, ranking: Ranking
    ) -> tuple[tuple[Passage, ...], tuple[Message, ...]]:
        passages = fitting(in_order(evidence, ranking), tokens=self._context_tokens)
        return passages, answerer_messages(question, passages)


def check_citations(
    quotes: Iterable[CitedQuote], passages: Sequence[Passage]
) -> tuple[tuple[Citation, ...], tuple[str, ...]]:
    """The citations that stand in the passages, at most `MAX_CITATIONS`, and what is wrong with the others.

    Args:
        quotes: As the model wrote them; passage numbers count from 1.
        passages: As they were shown.
    """
    valid: dict[tuple[str, int, int], Citation] = {}
    refused: list[str] = []
    for quote in quotes:
        if not 1 <= quote.passage <= len(passages):
            refused.append(f"passage {quote.passage} was not shown")
            continue
        passage = passages[quote.passage - 1]
        place = find_quote(quote.quote, passage.text)
        if place is None:
            refused.append(f"a quote does not stand in passage {quote.passage}")
        elif len(tokenise(quote.quote)) < MIN_QUOTE_WORDS and place != (0, len(passage.text)):
            refused.append(f"a quote from passage {quote.passage} has fewer than {MIN_QUOTE_WORDS} words")
        else:
            start, end = place
            valid.setdefault(
                (passage.id, start, end),
                Citation(passage_id=passage.id, start=start, end=end, quote=passage.text[start:end]),
            )
    return tuple(valid.values())[:MAX_CITATIONS], tuple(dict.fromkeys(refused))
