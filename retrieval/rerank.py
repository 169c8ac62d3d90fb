"""The seam for models that read a question and a passage together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .passage import Passage


@runtime_checkable
class Reranker(Protocol):
    """Scores passages against a question. One seam for ranking and for RINSE's content reader.

    Contract: a pure function of question and each passage (a passage's score does not depend on its
    siblings); returns logits, not probabilities, so that order survives at the top of the scale (case S01);
    finite; blocking, therefore called from a worker thread.
    """

    def rerank(self, question: str, passages: Sequence[Passage]) -> NDArray[np.float32]:
        """Return one logit a passage, shape `(n,)`; `(0,)` for no passages."""
        ...
