"""A language model behind an endpoint as a `rinse.Generator`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from rinse.generator import Generated

from ..blocking import run_blocking
from ..errors import ModelCallError
from .endpoint import Endpoint
from .transport import Transport
from .wire import TextChoice, TextCompletion, read_reply


class EndpointGenerator:
    """Completes texts and scores continuations through `completions` of an endpoint. A `Generator`: blocking.

    The prompt is sent as it is, as the contract wants it; a chat endpoint would wrap it. llama.cpp, vLLM and
    Ollama serve `completions`, many hosted models do not. Log-probabilities are those of the server: none, if it
    gives none. `logprob` needs a server that can echo a prompt with them (vLLM can).

    Args:
        endpoint: Where the model is. Its time limit holds for each call.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._transport = Transport(endpoint)

    @property
    def name(self) -> str:
        """For tables and traces."""
        return self._endpoint.model

    def generate(
        self,
        prompt: str,
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
    ) -> Generated:
        """Complete the prompt. See `Generator.generate`.

        Raises:
            ModelCallError: no usable reply; says what to do.
        """
        fields: dict[str, Any] = {"prompt": prompt, "max_tokens": max_tokens, "temperature": temperature}
        fields |= {"seed": seed, "logprobs": 1} | ({"stop": list(stop)} if stop else {})
        completion = self._complete(fields)
        choice, usage = completion.choices[0], completion.usage
        tokens, logprobs = _scored(choice)
        return Generated(
            text=choice.text,
            tokens=tokens,
            logprobs=logprobs,
            prompt_tokens=(usage.prompt_tokens if usage else None) or 0,
            stopped=choice.finish_reason != "length",
        )

    def logprob(self, prompt: str, continuation: str) -> float:
        """Sum of the log-probabilities of the continuation's tokens.

        The server cuts prompt and continuation together: a token that lies across the border counts with the
        continuation.

        Raises:
            ModelCallError: no usable reply, or the server does not echo log-probabilities.
        """
        if not continuation:
            return 0.0
        whole = prompt + continuation
        fields = {"prompt": whole, "max_tokens": 0, "temperature": 0, "echo": True, "logprobs": 1}
        found = self._complete(fields).choices[0].logprobs
        if found is None or "".join(found.tokens) != whole or len(found.token_logprobs) != len(found.tokens):
            raise ModelCallError(
                f"{self._endpoint.model} at {self._endpoint.url} does not echo the prompt with log-probabilities. "
                "Use a server that does, such as vLLM, or a local model."
            )
        ends = accumulate(map(len, found.tokens))
        inside = [value for value, end in zip(found.token_logprobs, ends, strict=True) if end > len(prompt)]
        if None in inside:
            raise ModelCallError("The first token of a text has no log-probability; give a prompt before it.")
        return sum(value for value in inside if value is not None)

    def _complete(self, fields: dict[str, Any]) -> TextCompletion:
        kept = {name: value for name, value in fields.items() if name not in self._endpoint.without}
        return run_blocking(self._post({"model": self._endpoint.model, "stream": False} | kept))

    async def _post(self, fields: dict[str, Any]) -> TextCompletion:
        try:
            received = await self._transport.post("completions", fields, seconds=self._endpoint.timeout_seconds)
        finally:
            await self._transport.aclose()
        return read_reply(received.body, TextCompletion, self._endpoint.model)


def _scored(choice: TextChoice) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The tokens and their log-probabilities, which rounding may put above 0; nothing if one is missing."""
    found = choice.logprobs
    values = [value for value in found.token_logprobs if value is not None] if found else []
    if found is None or not len(values) == len(found.tokens) == len(found.token_logprobs):
        return (), ()
    return tuple(found.tokens), tuple(min(value, 0.0) for value in values)
