"""Span examples as inputs of a model: token ids, and where the answer's first and last token stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.backbones import Backbone

from ..paper.pairs import PairTokenizer, PairWindow
from ..paper.settings import ReaderSettings
from ..paper.sources import passage_text
from .negatives import SpanExample


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanInput:
    """One window with its target."""

    window: PairWindow
    first: int
    """Place of the answer's first token in `window.ids`; 0, the place of CLS, is the null."""
    last: int
    """Place of its last token."""


def span_inputs(backbone: Backbone, settings: ReaderSettings, examples: Sequence[SpanExample]) -> list[SpanInput]:
    """The window of each example that holds its place; an answer longer than a legal span is left out."""
    tokenizer = PairTokenizer(backbone, max_tokens=settings.span_tokens, overlap=settings.span_overlap)
    made = (_input(tokenizer, example, settings.answer_tokens) for example in examples)
    return [one for one in made if one is not None]


def _input(tokenizer: PairTokenizer, example: SpanExample, longest: int) -> SpanInput | None:
    text, offset = passage_text(example.passage)
    question, passage = tokenizer.read([example.question, text])
    start = offset + example.start
    end = start + 1 if example.end is None else offset + example.end
    for window in tokenizer.join(question, passage).windows:
        inside = [row for row, (left, right) in enumerate(window.spans) if left < end and right > start]
        if not inside or window.spans[inside[0]][0] > start or window.spans[inside[-1]][1] < end:
            continue  # the answer begins before this window or ends after it
        if example.end is None:
            return SpanInput(window=window, first=0, last=0)
        if len(inside) > longest:
            return None
        return SpanInput(window=window, first=window.begin + inside[0], last=window.begin + inside[-1])
    return None


def stacked(inputs: Sequence[SpanInput], *, padding: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ids and mask of a batch, each of shape `(batch, tokens)`, padded on the right."""
    shape = (len(inputs), max(len(one.window.ids) for one in inputs))
    ids, mask = np.full(shape, padding, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for row, one in enumerate(inputs):
        ids[row, : len(one.window.ids)] = one.window.ids
        mask[row, : len(one.window.ids)] = 1
    return ids, mask
