"""Scores that one passage decides: the best value over the evidence (RINSE, appendix A, passage-level scores)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from retrieval import EvidenceSet, Passage

from ..errors import ScoreError
from ..paper.sources import passage_text
from ..sufficiency import Sufficiency

NO_EVIDENCE = -1e4
"""The score of a set without a passage where scores are logits: below what any passage gets."""


def canonical_passages(evidence: EvidenceSet) -> tuple[Passage, ...]:
    """The passages by id, so that batches, and with them the last bits of a score, do not depend on arrival."""
    return tuple(sorted(evidence, key=lambda passage: passage.id))


def canonical_text(passage: Passage) -> str:
    """Heading and text as a passage-level scorer reads them, the same whichever source came first."""
    return passage_text(passage)[0]


def best_passage(
    passages: Sequence[Passage], values: Sequence[float], *, model: str, lowest: float, truncated: bool = False
) -> Sufficiency:
    """The best value as the score; passages without a finite value are masked (case S04).

    Args:
        passages: The evidence.
        values: One a passage.
        model: Its name, for the message.
        lowest: The score where there is no passage.
        truncated: Whether something was too long to be read whole.

    Raises:
        ScoreError: there are passages, but no finite value.
    """
    usable = [value for value in values if np.isfinite(value)]
    if values and not usable:
        raise ScoreError(f"{model} gave no finite value for any of {len(values)} passages.")
    masked = (one.id for one, value in zip(passages, values, strict=True) if not np.isfinite(value))
    return Sufficiency(
        score=max(usable, default=lowest),
        passages=len(passages),
        masked=tuple(sorted(masked)),
        truncated=truncated,
    )
