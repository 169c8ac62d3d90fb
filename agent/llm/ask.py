"""A question to a model whose answer is a JSON object of a known shape."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from retrieval import Event, Spend

from ..errors import ModelCallError
from .client import ChatClient, Message, estimated_tokens

T = TypeVar("T", bound=BaseModel)

ATTEMPTS = 2
"""The question, and once more with what was wrong."""
_REPEATED_CHARACTERS = 2_000
"""Of a wrong answer, when it is shown to the model again."""

_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one question may use."""

    max_tokens: int
    """Longest completion, in tokens."""
    seconds: float
    """For all attempts together."""
    tokens: int | None = None
    """Prompts and completions of all attempts; None: no limit. Checked before each one, by an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Generic[T]):
    """A model's answer."""

    value: T
    spend: Spend
    estimated: bool
    """Whether the tokens are an estimate, for a part at least."""


async def ask_json(client: ChatClient, messages: Sequence[Message], shape: type[T], limits: Limits) -> Asked[T]:
    """Ask for an object of `shape`; an answer that is none is sent back once with what is wrong about it.

    Raises:
        ModelCallError: no usable answer within the limits; holds what was spent.
    """
    began, spend, estimated = time.monotonic(), Spend(), False
    chat = list(messages)
    fault = ""
    for _ in range(ATTEMPTS):
        try:
            require_tokens(chat, limits, spent=spend.tokens)
            seconds = limits.seconds - (time.monotonic() - began)
            if not seconds > 0:
                raise ModelCallError(f"No time is left of {limits.seconds:.1f} s for a call.")  # noqa: TRY301
            reply = await client.chat(chat, max_tokens=limits.max_tokens, seconds=seconds, as_json=True)
        except ModelCallError as error:
            why = f"{error} Before that: {fault}" if fault else str(error)
            raise ModelCallError(why, spend=spend + error.spend, estimated=estimated or error.estimated) from error
        spend, estimated = spend + reply.spend, estimated or reply.estimated
        try:
            return Asked(value=parse_json(reply.text, shape), spend=spend, estimated=estimated)
        except ValueError as error:
            cut = f" It was cut after {limits.max_tokens} tokens: raise [llm] max_tokens." if reply.cut else ""
            fault = f"The model's answer is not the JSON that was asked for: {error}.{cut}"
        chat = [
            *messages,
            Message(role="assistant", content=reply.text[:_REPEATED_CHARACTERS]),
            Message(role="user", content=f"{fault}\nAnswer again with that JSON object and nothing else."),
        ]
    raise ModelCallError(fault, spend=spend, estimated=estimated)


def estimate_event(estimated: bool, where: str) -> tuple[Event, ...]:
    """Says that tokens were estimated, if they were."""
    detail = "The server did not report all tokens; the spend holds an estimate: one token for three bytes."
    return (Event(kind="tokens_estimated", detail=detail, where=where),) if estimated else ()


def parse_json(text: str, shape: type[T]) -> T:
    """The first object of `shape` in a model's text: all of it, a fenced block, or what its outer braces hold.

    Raises:
        ValueError: there is none; says what is wrong with the best candidate.
    """
    fault = "it is empty"
    for candidate in _candidates(without_thought(text)):
        try:
            return shape.model_validate_json(candidate)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            fault = f"{'.'.join(map(str, first['loc'])) or 'the text'}: {first['msg']}"
    raise ValueError(fault)


def without_thought(text: str) -> str:
    """What a model says after the thoughts that some models begin with.

    >>> without_thought("<think>no, or...</think> yes")
    ' yes'
    """
    return _THOUGHT.sub("", text, count=1)


def _candidates(text: str) -> Iterator[str]:
    if text.strip():
        yield text.strip()
    yield from (match[1] for match in _FENCED.finditer(text))
    begin, end = text.find("{"), text.rfind("}")
    if 0 <= begin < end:
        yield text[begin : end + 1]


def require_tokens(chat: Sequence[Message], limits: Limits, *, spent: int = 0) -> None:
    """Check that a call fits what the search has left, by an estimate.

    Raises:
        ModelCallError: it may not.
    """
    if limits.tokens is None:
        return
    left, needed = limits.tokens - spent, estimated_tokens(*(m.content for m in chat)) + limits.max_tokens
    if needed > left:
        raise ModelCallError(
            f"A call may need {needed} tokens, the search has {max(left, 0)} left. Raise the search's max_tokens, "
            "or lower [llm] context_tokens."
        )
