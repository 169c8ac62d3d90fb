"""The span reader: does any passage hold a text that an extractive reader prefers to 'no answer'? (section 4)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval import Passage
from retrieval.backbones import Backbone
from retrieval.memo import Memo

from ..readers.states import canonical_heading
from ..sufficiency import AnswerSpan
from .forward import BATCH_TOKENS, PairModel
from .pairs import PairInput, PairTokenizer, PairWindow
from .settings import ReaderSettings
from .sources import passage_text

NO_SPAN_MARGIN = -30.0
"""The margin where there is no text to answer from; below what a reader gives for unrelated text."""
SPANS = 65_536
"""Passages remembered with a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageSpan:
    """The best legal span of one passage."""

    margin: float
    """Start plus end logit of the span minus those of the null at CLS, the largest of all windows."""
    start: int
    """First character in `plain_text` of the passage's text."""
    end: int
    """One past the last; equal to `start` if the passage has no legal span."""
    text: str
    """The span as it stands there."""
    truncated: bool


class SpanReader:
    """An extractive reader with an explicit null, over every passage and overflow window. Thread-safe.

    Args:
        backbone: RoBERTa with a fitted question-answering head.
        settings: Longest input, overlap and longest span.
        device: Where it runs.
        batch_tokens: See `PairModel`.
    """

    def __init__(
        self,
        backbone: Backbone,
        settings: ReaderSettings,
        *,
        device: str = "cpu",
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        self.name = backbone.name
        self._longest = settings.answer_tokens
        self._tokenizer = PairTokenizer(backbone, max_tokens=settings.span_tokens, overlap=settings.span_overlap)
        self._model = PairModel(backbone, "span", device=device, batch_tokens=batch_tokens)
        self._memo: Memo[tuple[str, str, str], PassageSpan] = Memo(SPANS, lambda _: 1)

    def read(self, question: str, passages: Sequence[Passage]) -> dict[str, PassageSpan | None]:
        """The best span of each passage by id; None where the model gave no finite value (case S04)."""
        keys = {passage.id: (question, passage.id, canonical_heading(passage)) for passage in passages}
        known = {key: self._memo.get(memo) for key, memo in keys.items()}
        new = [passage for passage in passages if known[passage.id] is None]
        for passage, span in zip(new, self._read(question, new) if new else (), strict=True):
            known[passage.id] = span
            if span is not None:
                self._memo.put(keys[passage.id], span)
        return known

    def _read(self, question: str, passages: Sequence[Passage]) -> list[PassageSpan | None]:
        texts = [passage_text(passage) for passage in passages]
        asked, *read = self._tokenizer.read([question, *(text for text, _ in texts)])
        pairs = [self._tokenizer.join(asked, tokens) for tokens in read]
        logits = iter(self._model.run([window for pair in pairs for window in pair.windows]))
        return [
            _best_span(text, offset, pair, [next(logits) for _ in pair.windows], self._longest)
            for (text, offset), pair in zip(texts, pairs, strict=True)
        ]


def best_answer(spans: Mapping[str, PassageSpan]) -> AnswerSpan | None:
    """The span with the largest margin, ties by passage id; None if no passage has a legal span."""
    held = [(key, span) for key, span in spans.items() if span.end > span.start]
    if not held:
        return None
    key, best = min(held, key=lambda item: (-item[1].margin, item[0]))
    return AnswerSpan(passage_id=key, start=best.start, end=best.end, text=best.text, margin=best.margin)


def legal_span(
    logits: NDArray[np.float32], window: PairWindow, *, offset: int, longest: int
) -> tuple[float, int, int] | None:
    """The best legal span of one window: margin over the null at CLS, first and last token of `window.spans`.

    Legal: start <= end, at most `longest` tokens, inside the passage's text, neither in the question nor in the
    heading.

    Args:
        logits: Start and end logits, shape `(tokens, 2)`.
        window: The input that they belong to.
        offset: Where the passage's text begins in the second text, after its heading.
        longest: Tokens of the longest span.

    Returns:
        None if the window holds no token of the text.
    """
    inside = np.array([left >= offset and right > left for left, right in window.spans], dtype=np.bool_)
    if not inside.any():
        return None
    rows = logits[window.begin : window.begin + len(inside)].astype(np.float64)
    starts, ends = np.where(inside, rows[:, 0], -np.inf), np.where(inside, rows[:, 1], -np.inf)
    best, first, last = -np.inf, 0, 0
    for length in range(min(longest, len(starts))):  # tokens after the first
        sums = starts[: len(starts) - length] + ends[length:]
        at = int(sums.argmax())
        if sums[at] > best:
            best, first, last = float(sums[at]), at, at + length
    return best - float(logits[0].astype(np.float64).sum()), first, last


def _best_span(
    text: str, offset: int, pair: PairInput, logits: Sequence[NDArray[np.float32]], longest: int
) -> PassageSpan | None:
    if not all(np.isfinite(rows).all() for rows in logits):
        return None
    margin, start, end = NO_SPAN_MARGIN, offset, offset
    for window, rows in zip(pair.windows, logits, strict=True):
        found = legal_span(rows, window, offset=offset, longest=longest)
        if found is not None and (found[0] > margin or start == end):
            margin, start, end = found[0], window.spans[found[1]][0], window.spans[found[2]][1]
    start += len(text[start:end]) - len(text[start:end].lstrip())  # byte-level tokens begin with their space
    end -= len(text[start:end]) - len(text[start:end].rstrip())
    return PassageSpan(
        margin=margin, start=start - offset, end=end - offset, text=text[start:end], truncated=pair.truncated
    )
