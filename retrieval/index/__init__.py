"""The local index: an encoder, a folder with passages, vectors and words, and the tier that searches it."""

from .build import Progress, build_index
from .encoder import Encoder, TransformerEncoder
from .info import index_info
from .links import LinkRule
from .local import LocalIndex
from .manifest import IndexInfo
from .tier import LocalTier
from .writer import IndexWriter

__all__ = [
    "Encoder",
    "IndexInfo",
    "IndexWriter",
    "LinkRule",
    "LocalIndex",
    "LocalTier",
    "Progress",
    "TransformerEncoder",
    "build_index",
    "index_info",
]
