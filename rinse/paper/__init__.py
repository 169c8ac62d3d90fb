"""The paper's scorer as the paper defines it (RINSE, section 4), on the paper's backbones."""

from .lexicon import Lexicon, WordPieces
from .outputs import PaperBackbones, PaperReaders, PaperReading, ReaderOutputs
from .profile import BackboneEntry, PaperProfile, PaperSettings
from .scorer import PaperScorer, raw_scores
from .settings import ReaderSettings

__all__ = [
    "BackboneEntry",
    "Lexicon",
    "PaperBackbones",
    "PaperProfile",
    "PaperReaders",
    "PaperReading",
    "PaperScorer",
    "PaperSettings",
    "ReaderOutputs",
    "ReaderSettings",
    "WordPieces",
    "raw_scores",
]
