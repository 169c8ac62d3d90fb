"""The local index: an encoder, a folder with passages, vectors and words, and the tier that searches it."""

from .build import Progress, build_index, index_info
from .encoder import Encoder, TransformerEncoder
from .local import LocalIndex, LocalTier
from .manifest import IndexInfo

__all__ = [
    "Encoder",
    "IndexInfo",
    "LocalIndex",
    "LocalTier",
    "Progress",
    "TransformerEncoder",
    "build_index",
    "index_info",
]
