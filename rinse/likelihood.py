"""How likely a language model holds one continuation after several prompts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .decoding import log_probabilities

_TOKENS = 2_048
"""Most that one batch reads, padding included."""
_SPARE = 1.25
"""A batch's longest prompt is at most so much longer than its shortest one."""


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts of like length, the shortest first; ties in the order given.

    >>> list(batches([100, 900, 110, 101]))
    [[0, 3, 2], [1]]
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        length = lengths[place]
        if batch and ((len(batch) + 1) * length > _TOKENS or length > _SPARE * lengths[batch[0]]):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def summed_logprobs(model: Any, prompts: Sequence[Sequence[int]], after: Sequence[int]) -> list[float]:  # noqa: ANN401
    """Sum of the log-probabilities of the tokens `after`, at least one, behind each prompt of at least one token.

    Raises:
        ScoreError: logits are NaN.
    """
    sums = [0.0] * len(prompts)
    for batch in batches([len(prompt) for prompt in prompts]):
        for place, found in zip(batch, _batch(model, [prompts[place] for place in batch], after), strict=True):
            sums[place] = found
    return sums


def _batch(model: Any, prompts: Sequence[Sequence[int]], after: Sequence[int]) -> list[float]:  # noqa: ANN401
    import torch

    # padding stands behind a text: no token looks ahead, so none sees it and no mask is needed
    rows = [[*prompt, *after] for prompt in prompts]
    width, begin = max(map(len, rows)), min(map(len, prompts)) - 1
    ids = torch.tensor([row + [after[0]] * (width - len(row)) for row in rows])
    logits = model(input_ids=ids, use_cache=False, logits_to_keep=width - begin).logits
    sums = []
    for prompt, table in zip(prompts, logits, strict=True):  # (kept, vocabulary)
        first = len(prompt) - 1 - begin
        chosen = log_probabilities(table[first : first + len(after)])[range(len(after)), list(after)]
        sums.append(float(chosen.sum()))
    return sums
