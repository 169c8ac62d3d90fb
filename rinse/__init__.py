"""Is the evidence enough, and what is missing? Scores of question plus passages, before any answer exists."""

from .errors import RinseError, ScoreError
from .odds import OddsScorer
from .scorer import RinseScorer
from .sufficiency import AnswerSpan, Gap, ReaderScore, Sufficiency, SufficiencyScorer

__all__ = [
    "AnswerSpan",
    "Gap",
    "OddsScorer",
    "ReaderScore",
    "RinseError",
    "RinseScorer",
    "ScoreError",
    "Sufficiency",
    "SufficiencyScorer",
]
