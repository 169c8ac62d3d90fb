"""Construction cues as systems: what a scorer may follow without knowing whether evidence suffices."""

from .lexicon import Lexicon
from .systems import PROBABILITIES, Record, Scores, cue_controlled, cue_scores

__all__ = ["PROBABILITIES", "Lexicon", "Record", "Scores", "cue_controlled", "cue_scores"]
