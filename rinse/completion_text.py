"""Completions as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .decoding import Completion
from .generator import Generated

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def generated(
    one: Completion, tokenizer: Tokenizer, last_ids: set[int], stop: Sequence[str], prompt_tokens: int
) -> Generated:
    """A completion as text: without the token that ended it, and before the first of `stop`."""
    ended = one.tokens[-1] in last_ids
    tokens = one.tokens[:-1] if ended else one.tokens
    text, stopped = until(tokenizer.decode(tokens), stop)
    return Generated(
        text=text,
        tokens=tuple(tokenizer.decode([token], skip_special_tokens=False) for token in tokens),
        logprobs=tuple(one.logprobs[: len(tokens)]),
        prompt_tokens=prompt_tokens,
        stopped=ended or stopped,
    )


def until(text: str, stop: Sequence[str]) -> tuple[str, bool]:
    """The text before the first stop, and whether there was one."""
    places = [place for one in stop if one and (place := text.find(one)) >= 0]
    return (text[: min(places)], True) if places else (text, False)
