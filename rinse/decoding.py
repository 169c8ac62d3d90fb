"""Completions of a prompt from one pass over it: several at once, greedy or drawn."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from .errors import ScoreError

if TYPE_CHECKING:
    from torch import Tensor

Choose: TypeAlias = "Callable[[Tensor], int]"
"""Takes log-probabilities `(vocabulary,)`, gives a token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefill:
    """A prompt that a model has read."""

    ids: tuple[int, ...]
    kept: Any
    """Keys and values of every layer, as transformers keeps them; never changed."""
    argument: str
    """Under which name the model takes them."""
    logits: Tensor
    """Of the next token, `(1, vocabulary)`."""


@dataclass(slots=True)
class Completion:
    """Tokens of one completion, the one that ended it included."""

    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    done: bool = False


def prefill(model: Any, ids: Sequence[int], head: Prefill | None = None) -> Prefill:  # noqa: ANN401
    """Read a prompt of at least one token, or what stands behind a head that was read already."""
    import torch

    kept = {} if head is None else {head.argument: copy.deepcopy(head.kept)}
    output = model(input_ids=torch.tensor([ids]), use_cache=True, logits_to_keep=1, **kept)
    argument = "cache" if "cache" in output else "past_key_values"  # its name in older versions
    before = () if head is None else head.ids
    return Prefill(ids=(*before, *ids), kept=output[argument], argument=argument, logits=output.logits[:, -1])


class KeptHead:
    """Reads prompts, and keeps the beginning that the next one may share."""

    def __init__(self) -> None:
        self._kept: Prefill | None = None
        self._seconds = 0.0
        self.spared_seconds = 0.0
        """What the last call would have spent on its head, had the head not been kept."""

    def read(self, model: Any, ids: Sequence[int], head: Sequence[int]) -> Prefill:  # noqa: ANN401
        """Read a prompt; what it shares with the head by itself, kept or not, so that results are the same."""
        self.spared_seconds = 0.0
        shared = 0
        while shared < min(len(head), len(ids) - 1) and ids[shared] == head[shared]:
            shared += 1
        if not shared:
            return prefill(model, ids)
        if self._kept is not None and self._kept.ids == tuple(ids[:shared]):
            self.spared_seconds = self._seconds
        else:
            begun = time.perf_counter()
            self._kept = prefill(model, ids[:shared])
            self._seconds = time.perf_counter() - begun
        return prefill(model, ids[shared:], self._kept)


def complete(
    model: Any,  # noqa: ANN401  transformers is untyped
    start: Prefill,
    choosers: Sequence[Choose],
    *,
    max_tokens: int,
    ends: Callable[[list[int]], bool],
) -> list[Completion]:
    """One completion for each chooser, decoded side by side.

    Args:
        model: The one that made `start`.
        start: Where they begin.
        choosers: Each picks the tokens of its own completion.
        max_tokens: Of each, at least 1.
        ends: Whether a completion ends with the last of these tokens.

    Raises:
        ScoreError: logits are NaN.
    """
    import torch

    kept = copy.deepcopy(start.kept)
    if len(choosers) > 1:
        kept.batch_repeat_interleave(len(choosers))
    made = [Completion() for _ in choosers]
    logits = start.logits.expand(len(choosers), -1)
    while True:
        table = log_probabilities(logits)  # (completions, vocabulary)
        for one, choose, row in zip(made, choosers, table, strict=True):
            if not one.done:
                token = choose(row)
                one.tokens.append(token)
                one.logprobs.append(float(row[token]))
                one.done = len(one.tokens) == max_tokens or ends(one.tokens)
        if all(one.done for one in made):
            return made
        last = torch.tensor([[one.tokens[-1]] for one in made])
        logits = model(input_ids=last, use_cache=True, **{start.argument: kept}).logits[:, -1]


def log_probabilities(logits: Tensor) -> Tensor:
    """In float64, over the last axis.

    Raises:
        ScoreError: one is NaN.
    """
    import torch

    table = torch.log_softmax(logits.double(), dim=-1)
    if bool(table.isnan().any()):
        raise ScoreError("The language model gave logits that are NaN. Check its weights with: sufficit doctor")
    return table


def greedy(forbidden: Collection[int] = ()) -> Choose:
    """The likeliest token that is not forbidden; the first of equals."""
    barred = sorted(forbidden)

    def choose(row: Tensor) -> int:
        return int(row.index_fill(0, row.new_tensor(barred).long(), -float("inf")).argmax())

    return choose


def drawn(temperature: float, seed: int, forbidden: Collection[int] = ()) -> Choose:
    """A token drawn at a temperature above 0, with random numbers of its own."""
    import torch

    source = torch.Generator().manual_seed(seed)
    barred = sorted(forbidden)

    def choose(row: Tensor) -> int:
        allowed = row.index_fill(0, row.new_tensor(barred).long(), -float("inf"))
        weights = torch.softmax(allowed / temperature, dim=-1)
        return int(torch.multinomial(weights, 1, generator=source))

    return choose
