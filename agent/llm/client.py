"""Chat completions of an OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from retrieval import Spend

from ..errors import ModelCallError
from .endpoint import Endpoint
from .transport import LostError, Transport
from .wire import ChatCompletion, ScoredToken, Usage, read_reply, scored_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model said."""

    text: str
    spend: Spend
    """Tokens of prompt and completion; of attempts that brought nothing, those of the prompt."""
    estimated: bool
    """Whether the server did not say how many tokens it used, for a part at least."""
    cut: bool
    """Whether the limit on tokens cut the text."""
    tokens: tuple[ScoredToken, ...] = ()
    """The text's tokens with the likeliest ones in their places; empty unless asked for and given."""


class ChatClient:
    """Asks one model. Shares nothing between calls but connections; many calls may run at once.

    Temperature 0 and the endpoint's seed are sent, so that a server that can repeat itself does.

    Args:
        endpoint: Where the model is.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._transport = Transport(endpoint)

    async def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        seconds: float | None = None,
        as_json: bool = False,
        likeliest: int = 0,
    ) -> Reply:
        """Send the messages and return the next one. Cancellation closes the connection.

        Args:
            messages: The chat so far.
            max_tokens: Longest completion.
            seconds: Longest wait, if shorter than the endpoint's own.
            as_json: Ask the server to allow JSON only.
            likeliest: Ask for the log-probabilities of so many tokens in each place; servers allow at most 20.

        Raises:
            ModelCallError: no reply, or an unusable one; says what to do, holds what it cost.
        """
        endpoint = self.endpoint
        fields: dict[str, Any] = {
            "model": endpoint.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "stream": False,
            endpoint.limit_field: max_tokens,
            "temperature": 0,
            "seed": endpoint.seed,
        }
        if as_json:
            fields["response_format"] = {"type": "json_object"}
        if likeliest and "logprobs" not in endpoint.without:
            fields |= {"logprobs": True, "top_logprobs": likeliest}
        fields = {name: value for name, value in fields.items() if name not in endpoint.without}
        prompt = estimated_tokens(*(message.content for message in messages))
        wait = endpoint.timeout_seconds if seconds is None else min(seconds, endpoint.timeout_seconds)
        try:
            received = await self._transport.post("chat/completions", fields, seconds=wait)
        except LostError as error:
            raise _counted(error, tokens=error.lost * prompt) from error
        try:
            completion = read_reply(received.body, ChatCompletion, endpoint.model)
        except ModelCallError as error:
            raise _counted(error, tokens=(received.lost + 1) * prompt) from error
        choice = completion.choices[0]
        text = choice.message.content or ""
        tokens, estimated = used_tokens(completion.usage, prompt=prompt, text=text)
        return Reply(
            text=text,
            spend=Spend(tokens=tokens + received.lost * prompt),
            estimated=estimated or received.lost > 0,
            cut=choice.finish_reason == "length",
            tokens=scored_tokens(choice) if likeliest else (),
        )

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._transport.aclose()


def estimated_tokens(*texts: str) -> int:
    """A guess without the model's tokenizer: one token for three bytes of UTF-8, and four a text.

    SmolLM2's tokenizer takes 3.3 bytes of our README a token, and 1.6 bytes of Chinese text.

    >>> estimated_tokens("twelve bytes")
    8
    """
    return sum(-(-len(text.encode("utf-8", "replace")) // 3) + 4 for text in texts)


def used_tokens(usage: Usage | None, *, prompt: int, text: str) -> tuple[int, bool]:
    """Tokens of prompt and completion, as the server counts them or estimated, and whether any was estimated."""
    said = usage or Usage()
    before = prompt if said.prompt_tokens is None else said.prompt_tokens
    after = estimated_tokens(text) if said.completion_tokens is None else said.completion_tokens
    return before + after, said.prompt_tokens is None or said.completion_tokens is None


def _counted(error: ModelCallError, *, tokens: int) -> ModelCallError:
    return ModelCallError(str(error), spend=Spend(tokens=tokens), estimated=tokens > 0)
