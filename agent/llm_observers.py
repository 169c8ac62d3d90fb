"""Observers that ask a language model: would it stop, do the passages suffice? They decide nothing themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import BaseModel

from retrieval import Event, EvidenceSet, Passage
from retrieval.compute import in_worker

from .answer import in_order
from .errors import ModelCallError
from .llm.ask import Limits, ask_json, estimate_event
from .llm.client import ChatClient, Message
from .llm.yes_no import ask_yes_no
from .meter import allowance
from .prompts import fitting, stop_messages, sufficient_messages
from .seams import Observation, Ranker

SHARE_OF_TIME = 0.5
"""Of the time that a search has left: the rest is for planning and asking."""


class ModelObserver(ABC):
    """Shows a language model the question and the best passages, and asks one thing. An `Observer`.

    Asked anew after each turn with evidence; its tokens count. A reply that cannot be used is no value, but an
    event `observer_failed`: nothing is decided on it.

    Args:
        client: The model.
        ranker: Orders the passages; the first ones that fit are shown.
        context_tokens: For the passages of one prompt, by an estimate.
        max_tokens: Longest completion; a model that reasons first needs several times as much.
    """

    name: ClassVar[str]

    def __init__(
        self, client: ChatClient, ranker: Ranker, *, context_tokens: int = 3_000, max_tokens: int = 500
    ) -> None:
        self._client = client
        self._ranker = ranker
        self._context_tokens = context_tokens
        self._max_tokens = max_tokens

    async def observe(self, question: str, evidence: EvidenceSet, turn: int) -> Observation:
        """See `Observer`. Raises nothing for a fault of the model."""
        if not len(evidence):
            return Observation()
        messages = await in_worker(self._messages, question, evidence)
        try:
            return await self._ask(messages, self._limits())
        except ModelCallError as error:
            event = Event(kind="observer_failed", detail=str(error), where=self.name)
            events = (event, *estimate_event(error.estimated, self.name))
            return Observation(spend=error.spend, events=events)

    @abstractmethod
    def _prompt(self, question: str, passages: Sequence[Passage]) -> tuple[Message, ...]:
        """What is asked."""

    @abstractmethod
    async def _ask(self, messages: Sequence[Message], limits: Limits) -> Observation:
        """Ask it.

        Raises:
            ModelCallError: there is no usable reply.
        """

    def _messages(self, question: str, evidence: EvidenceSet) -> tuple[Message, ...]:
        ranking = self._ranker.rank(question, evidence, (evidence.ids,))
        return self._prompt(question, fitting(in_order(evidence, ranking), tokens=self._context_tokens))

    def _limits(self) -> Limits:
        left, seconds = allowance(), self._client.endpoint.timeout_seconds
        if left.seconds is not None:
            seconds = min(seconds, SHARE_OF_TIME * left.seconds)
        return Limits(max_tokens=self._max_tokens, seconds=max(seconds, 0.0), tokens=left.tokens)


class StopOrSearch(BaseModel):
    """What the model is asked for."""

    decision: Literal["stop", "search"]


class LlmStopObserver(ModelObserver):
    """Whether the model would stop searching: `stop`, 1.0 or 0.0. An `Observer` named `llm_stop`.

    What agents do that let the model itself end its search, such as ReAct (Yao et al. 2023, arXiv:2210.03629), put
    as a question of its own. A reply that is no valid JSON is sent back once.
    """

    name = "llm_stop"

    def _prompt(self, question: str, passages: Sequence[Passage]) -> tuple[Message, ...]:
        return stop_messages(question, passages)

    async def _ask(self, messages: Sequence[Message], limits: Limits) -> Observation:
        asked = await ask_json(self._client, messages, StopOrSearch, limits)
        values = {"stop": float(asked.value.decision == "stop")}
        return Observation(values=values, spend=asked.spend, events=estimate_event(asked.estimated, self.name))


class LlmSufficientObserver(ModelObserver):
    """Whether the passages suffice: `sufficient`, in [0, 1]. An `Observer` named `llm_sufficient`.

    The probability of "yes" where the server returns log-probabilities, else 1.0 or 0.0. The idea is the autorater
    of Joren et al. 2025, "Sufficient Context: A New Lens on Retrieval Augmented Generation Systems"
    (arXiv:2411.06037); the prompt is ours, and it shows no examples.
    """

    name = "llm_sufficient"

    def _prompt(self, question: str, passages: Sequence[Passage]) -> tuple[Message, ...]:
        return sufficient_messages(question, passages)

    async def _ask(self, messages: Sequence[Message], limits: Limits) -> Observation:
        chance = await ask_yes_no(self._client, messages, limits)
        values = {"sufficient": chance.probability}
        return Observation(values=values, spend=chance.spend, events=estimate_event(chance.estimated, self.name))
