"""What a sufficiency scorer returns, and the seam that it serves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from retrieval import EvidenceSet

from .errors import ScoreError


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderScore:
    """What one reader says about a question and a set."""

    reader: str
    """`content`, `span` or `latent`, or the name of a reader of your own."""
    raw: float
    """The reader's own scale, larger is more sufficient (h_r of the paper, section 4)."""
    corrected: float
    """After the size correction and standardisation of the profile; the score is the sum of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A part of the question that no source covers: a maximal run of windows below the profile's gap threshold."""

    start: int
    """First character in the question."""
    end: int
    """One past the last character."""
    text: str
    """`question[start:end]`."""
    coverage: float
    """Mean coverage of the run's windows, in [0, 1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSpan:
    """The text that a span reader prefers, if one ran."""

    passage_id: str
    start: int
    end: int
    text: str
    margin: float
    """Best span logits minus null logits; above zero the reader prefers the span to 'no answer'."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sufficiency:
    """Whether question plus passages suffice, as a ranking score. It is no probability; `policies` calibrates.

    Raises:
        ScoreError: the score or a reader's value is NaN or infinite.
    """

    score: float
    """Larger is more sufficient; comparable between sets and questions of one profile."""
    readers: tuple[ReaderScore, ...] = ()
    gaps: tuple[Gap, ...] = ()
    """In the order of the question."""
    span: AnswerSpan | None = None
    passages: int = 0
    """Number of distinct passages, |E|."""
    masked: tuple[str, ...] = ()
    """Ids of passages for which a model gave nothing usable; the score was computed without them (case S04)."""
    truncated: bool = False
    """True if some text was too long to be read whole."""

    def __post_init__(self) -> None:
        values = {"score": self.score}
        for reader in self.readers:
            values[f"{reader.reader}.raw"] = reader.raw
            values[f"{reader.reader}.corrected"] = reader.corrected
        bad = {name: value for name, value in values.items() if not math.isfinite(value)}
        if bad:
            raise ScoreError(f"Scores must be finite numbers, got {bad}. Nothing can be decided on them.")


@runtime_checkable
class SufficiencyScorer(Protocol):
    """Scores whether a question plus a set of passages suffice.

    Contract:
        * a pure function of the question and the *set*: the scorer brings the evidence into a canonical order
          itself, so arrival order, repeats and batching do not matter;
        * nothing is decoded;
        * no evidence is a valid input with the lowest coverage: every word of the question is a gap;
        * blocking and thread-safe: the loop calls it from a worker thread.
    """

    @property
    def fingerprint(self) -> str:
        """Identifies models and fitted statistics by content; thresholds belong to one fingerprint."""
        ...

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set.

        Raises:
            ScoreError: a reader gave no usable value.
        """
        ...
