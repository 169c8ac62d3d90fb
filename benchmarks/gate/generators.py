"""The generators that a gate stands in front of: a model on this machine, or one behind an endpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from agent.blocking import run_blocking
from agent.config import load_settings
from agent.llm.ask import without_thought
from agent.llm.client import ChatClient, Message
from agent.llm.endpoint import Endpoint
from rinse.local_generator import LocalGenerator

from .prompt import MAX_TOKENS

ENDPOINT = "endpoint"
"""Names the model under [llm]; `endpoint:MODEL` another one of the same server."""


class Replier(Protocol):
    """Says something to one user turn: greedy, at most `MAX_TOKENS` tokens, the same each time."""

    def reply(self, user: str) -> str:
        """The reply's text.

        Raises:
            ValueError, ScoreError: the model on this machine cannot read the prompt whole.
            ModelCallError: the endpoint gave no usable reply.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A generator before it is made."""

    name: str
    """As tables print it."""
    fingerprint: str
    """Of a local model its content, of an endpoint a digest of address and model: what is served may change."""
    make: Callable[[], Replier]
    """Makes it in a process of its own; picklable by name."""


def choose(name: str) -> Choice:
    """The generator of this name: `endpoint`, `endpoint:MODEL`, a model's name or its folder.

    Raises:
        BackboneError: the model is not on this machine; the message says what to install.
        ConfigError: no endpoint is set under [llm], or one that cannot work.
    """
    kind, colon, model = name.partition(":")
    if kind == ENDPOINT:
        found = load_settings({"llm": {"model": model}} if colon else None).llm.endpoint()
        endpoint = replace(found, attempts=1)  # a pause between attempts would be counted as the model's time
        digest = hashlib.sha256(f"{endpoint.url}\n{endpoint.model}".encode()).hexdigest()
        return Choice(name=endpoint.model, fingerprint=digest, make=partial(EndpointReplier, endpoint))
    local = LocalGenerator.named(name)
    return Choice(name=local.name, fingerprint=local.fingerprint, make=partial(LocalReplier, name))


class LocalReplier:
    """A causal language model on this machine, loaded at once. A `Replier`.

    Args:
        name: Of the model, or its folder.
    """

    def __init__(self, name: str) -> None:
        self._model = LocalGenerator.named(name)
        self._model.load()

    def reply(self, user: str) -> str:
        """See `Replier.reply`."""
        return self._model.generate(self._model.chat(user), max_tokens=MAX_TOKENS).text


class EndpointReplier:
    """A model behind an OpenAI-compatible endpoint, through its chat completions. A `Replier`.

    Args:
        endpoint: Where it is.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._client = ChatClient(endpoint)

    def reply(self, user: str) -> str:
        """See `Replier.reply`; what the model thinks before it speaks is left out."""
        return without_thought(run_blocking(self._ask(user)))

    async def _ask(self, user: str) -> str:
        try:
            reply = await self._client.chat([Message(role="user", content=user)], max_tokens=MAX_TOKENS)
        finally:
            await self._client.aclose()
        return reply.text
