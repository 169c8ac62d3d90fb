"""A chat model behind an endpoint as a `rinse.Generator` that completes, and cannot score."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NoReturn

from rinse.completion_text import until
from rinse.generator import Generated

from ..blocking import run_blocking
from ..errors import ModelCallError
from .ask import without_thought
from .client import ChatClient, Message, Reply
from .endpoint import Endpoint


class ChatGenerator:
    """Sends a prompt as one user turn to `chat/completions`, which hosted models serve. Blocking, greedy.

    What the model thinks aloud before it speaks is left out of the text, and counts towards `max_tokens`: switch
    it off on the server.

    Args:
        endpoint: Where the model is. Its time limit and its seed hold for each call.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client = ChatClient(endpoint)

    @property
    def name(self) -> str:
        """For tables and traces."""
        return self._endpoint.model

    @property
    def fingerprint(self) -> str:
        """Of address and model; what is served there may change."""
        return hashlib.sha256(f"{self._endpoint.url}\n{self._endpoint.model}".encode()).hexdigest()

    def generate(
        self,
        prompt: str,
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
    ) -> Generated:
        """What the model says to the prompt, up to the first of `stop`. `seed` changes nothing at temperature 0.

        Raises:
            ModelCallError: no usable reply; says what to do.
            ValueError: a temperature above 0: a chat is asked for its likeliest reply.
        """
        del seed
        if temperature:
            raise ValueError(f"Expected temperature 0, got {temperature}. EndpointGenerator draws completions.")
        reply = run_blocking(self._ask(prompt, max_tokens))
        text, stopped = until(without_thought(reply.text), stop)
        return Generated(text=text, stopped=stopped or not reply.cut)

    def logprob(self, prompt: str, continuation: str) -> NoReturn:
        """Chat completions tell nothing about a text that is given.

        Raises:
            ModelCallError: always.
        """
        raise ModelCallError(
            f"{self.name} is asked through its chat, which cannot score the {len(continuation)} characters after "
            f"a prompt of {len(prompt)}. Use EndpointGenerator with a server that echoes log-probabilities, such "
            "as vLLM, or a local model."
        )

    async def _ask(self, prompt: str, max_tokens: int) -> Reply:
        try:
            return await self._client.chat([Message(role="user", content=prompt)], max_tokens=max_tokens)
        finally:
            await self._client.aclose()
