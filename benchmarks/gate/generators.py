"""The generators that a gate stands in front of: a model on this machine, or one behind an endpoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from agent.llm.chat_generator import ChatGenerator
from agent.llm.endpoint import Endpoint
from rinse.local_generator import LocalGenerator

from ..endpoints import named_endpoint
from .prompt import MAX_TOKENS


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
    endpoint = named_endpoint(name)
    if endpoint is not None:
        fingerprint = ChatGenerator(endpoint).fingerprint
        return Choice(name=endpoint.model, fingerprint=fingerprint, make=partial(EndpointReplier, endpoint))
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
        self._model = ChatGenerator(endpoint)

    def reply(self, user: str) -> str:
        """See `Replier.reply`; what the model thinks before it speaks is left out."""
        return self._model.generate(user, max_tokens=MAX_TOKENS).text
