"""The two replies of an OpenAI-compatible server that are read."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, Field, FiniteFloat, JsonValue, ValidationError

from ..errors import ModelCallError

Count = Annotated[int, Field(ge=0)]


class Usage(BaseModel):
    """Tokens that the server charges; None: it does not say."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None


class TokenChance(BaseModel):
    """A token that the model might have said, with its log-probability."""

    token: str
    logprob: FiniteFloat


class ScoredToken(TokenChance):
    """A token that the model said, and the likeliest ones in its place."""

    top_logprobs: list[TokenChance] = []


class ScoredTokens(BaseModel):
    """The tokens of a chat completion."""

    content: list[ScoredToken]


class ReplyMessage(BaseModel):
    """What the model said."""

    content: str | None = None


class ChatChoice(BaseModel):
    """One completion of a chat."""

    message: ReplyMessage
    finish_reason: str | None = None
    logprobs: JsonValue = None
    """Servers differ in its form, and nothing but a number's precision depends on it: see `scored_tokens`."""


class ChatCompletion(BaseModel):
    """The reply of `chat/completions`."""

    choices: Annotated[list[ChatChoice], Field(min_length=1)]
    usage: Usage | None = None


class Logprobs(BaseModel):
    """Tokens of a completion with their log-probabilities; the first of an echoed prompt has none."""

    tokens: list[str]
    token_logprobs: list[FiniteFloat | None]


class TextChoice(BaseModel):
    """One completion of a text."""

    text: str
    finish_reason: str | None = None
    logprobs: Logprobs | None = None


class TextCompletion(BaseModel):
    """The reply of `completions`."""

    choices: Annotated[list[TextChoice], Field(min_length=1)]
    usage: Usage | None = None


Shape = TypeVar("Shape", bound=BaseModel)


def scored_tokens(choice: ChatChoice) -> tuple[ScoredToken, ...]:
    """The tokens of the completion; none if the server does not give them, or in another form."""
    try:
        return tuple(ScoredTokens.model_validate(choice.logprobs).content)
    except ValidationError:
        return ()


def read_reply(body: bytes, shape: type[Shape], who: str) -> Shape:
    """Parse a reply.

    Raises:
        ModelCallError: it is no JSON, or not of this shape.
    """
    try:
        return shape.model_validate_json(body)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"])) or "the whole"
        raise ModelCallError(
            f"{who} sent no {shape.__name__} ({where}: {fault['msg']}). Is [llm] url the base of an "
            "OpenAI-compatible server, ending in /v1?"
        ) from None
