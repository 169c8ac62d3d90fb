"""The reranker: how relevant a text is to a question or to a part of one, as a logit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from retrieval.backbones import Backbone

from .forward import BATCH_TOKENS, PairModel
from .pairs import PairTokenizer
from .settings import ReaderSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Relevance:
    """The best overflow window's value."""

    logit: float
    """Not squeezed into a probability, so that order survives at the top of the scale (case S01)."""
    truncated: bool


class CrossEncoder:
    """A sequence classifier with one logit, read over overlapping windows of long texts. Thread-safe.

    Args:
        backbone: The paper's is mMARCO MiniLMv2-L12-H384.
        settings: Longest input and overlap.
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
        self._tokenizer = PairTokenizer(
            backbone, max_tokens=settings.reranker_tokens, overlap=settings.reranker_overlap
        )
        self._model = PairModel(backbone, "relevance", device=device, batch_tokens=batch_tokens)

    def score(self, questions: Sequence[str], texts: Sequence[str]) -> list[list[Relevance | None]]:
        """Every question against every text: `result[text][question]`, None where the model gave no finite value.

        Questions and texts are tokenized once each; all pairs share the passes through the model.
        """
        first, second = self._tokenizer.read(questions), self._tokenizer.read(texts)
        pairs = [self._tokenizer.join(question, text) for text in second for question in first]
        logits = self._model.run([window for pair in pairs for window in pair.windows])
        values, at = [], 0
        for pair in pairs:
            best = float(np.max([logits[at + i][0] for i in range(len(pair.windows))]))  # NaN goes through
            at += len(pair.windows)
            values.append(Relevance(logit=best, truncated=pair.truncated) if np.isfinite(best) else None)
        return [values[row * len(first) : (row + 1) * len(first)] for row in range(len(second))]
