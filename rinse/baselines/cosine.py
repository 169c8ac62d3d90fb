"""Plain similarity: the best cosine between the question and a passage, as a dense retriever computes it.

It says what a passage is *about*; the simplest rival that a sufficiency scorer must beat.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from retrieval import EvidenceSet
from retrieval.index.encoder import Encoder, TransformerEncoder
from retrieval.memo import Memo

from ..errors import ScoreError
from ..sufficiency import Sufficiency

_KEPT = 20_000
"""Vectors in memory, 1.5 kB each."""


class CosineScorer:
    """A `SufficiencyScorer`: the best cosine of question and passage, in [-1, 1]; -1 without evidence.

    Args:
        encoder: Its unit vectors are compared.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._vectors: Memo[str, NDArray[np.float32]] = Memo(_KEPT, lambda _: 1)

    @classmethod
    def minilm(cls) -> CosineScorer:
        """On all-MiniLM-L6-v2.

        Raises:
            BackboneError: its weights are not on this machine; the message says what to install.
        """
        return cls(TransformerEncoder.named())

    @property
    def fingerprint(self) -> str:
        """Identifies the encoder by content."""
        return hashlib.sha256(f"cosine\n{self._encoder.fingerprint}".encode()).hexdigest()

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`.

        Raises:
            ScoreError: the encoder gave no finite vector for the question, or for any passage.
        """
        asked = self._vector(question)
        cosines = [float(asked @ self._vector(passage.full_text)) for passage in evidence]
        usable = [cosine for cosine in cosines if np.isfinite(cosine)]
        if cosines and not usable:
            raise ScoreError(
                f"The encoder {self._encoder.name} gave no finite vectors for {len(cosines)} passages."
            )
        masked = tuple(
            sorted(one.id for one, cosine in zip(evidence, cosines, strict=True) if not np.isfinite(cosine))
        )
        return Sufficiency(score=max(usable, default=-1.0), passages=len(evidence), masked=masked)

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = self._vectors.get(text)
        if vector is None:
            # one text at a time: a batch's other members would show in the last bits
            vector = self._encoder.encode([text])[0]
            self._vectors.put(text, vector)
        return vector
