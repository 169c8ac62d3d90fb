"""A question to a model that is answered yes or no, with a probability where the server tells it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from retrieval import Spend

from ..errors import ModelCallError
from .ask import Limits, require_tokens, without_thought
from .client import ChatClient, Message
from .wire import ScoredToken

LIKELIEST = 20
"""Tokens that are asked for in each place: yes and no come in several forms."""

_SAID = re.compile(r"\W*(yes|no)\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """A model's answer."""

    probability: float
    """Of "yes", in [0, 1]."""
    spend: Spend
    estimated: bool
    """Whether the tokens are an estimate."""


async def ask_yes_no(client: ChatClient, messages: Sequence[Message], limits: Limits) -> Chance:
    """Ask once.

    Raises:
        ModelCallError: no reply within the limits, or another one than yes or no; holds what was spent.
    """
    require_tokens(messages, limits)
    if not limits.seconds > 0:
        raise ModelCallError("No time is left for a call.")
    reply = await client.chat(messages, max_tokens=limits.max_tokens, seconds=limits.seconds, likeliest=LIKELIEST)
    try:
        probability = chance_of_yes(reply.text, reply.tokens)
    except ValueError as error:
        cut = f" It was cut after {limits.max_tokens} tokens: raise [llm] max_tokens." if reply.cut else ""
        raise ModelCallError(f"{error}{cut}", spend=reply.spend, estimated=reply.estimated) from error
    return Chance(probability=probability, spend=reply.spend, estimated=reply.estimated)


def chance_of_yes(text: str, tokens: Sequence[ScoredToken] = ()) -> float:
    """The share of "yes" in the probability of all forms of yes and no, in the place where one of them was said.

    Without log-probabilities 1.0 for yes and 0.0 for no. What a model thought before it answered does not count.

    Raises:
        ValueError: the text is neither yes nor no.

    >>> chance_of_yes("No.")
    0.0
    """
    said = _SAID.fullmatch(without_thought(text))
    if said is None:
        raise ValueError("The model's answer is neither yes nor no.")
    place = next((token for token in reversed(tokens) if _word(token.token)), None)
    chances = {"yes": 0.0, "no": 0.0}
    if place is not None:
        known = {place.token: place.logprob} | {other.token: other.logprob for other in place.top_logprobs}
        for token, logprob in known.items():
            if word := _word(token):
                chances[word] += math.exp(min(logprob, 0.0))
    total = sum(chances.values())
    return chances["yes"] / total if total else float(said[1].lower() == "yes")


def _word(token: str) -> str:
    said = _SAID.fullmatch(token)
    return said[1].lower() if said else ""
