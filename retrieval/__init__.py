"""Where passages come from: values, tiers, the local index. Knows nothing of scoring."""

from .errors import RetrievalError
from .evidence import EvidenceSet, Ranking
from .passage import Passage, Provenance
from .retriever import Event, Hit, Request, Retrieved, Retriever
from .spend import Allowance, Spend
from .tiers import Tier

__all__ = [
    "Allowance",
    "Event",
    "EvidenceSet",
    "Hit",
    "Passage",
    "Provenance",
    "Ranking",
    "Request",
    "RetrievalError",
    "Retrieved",
    "Retriever",
    "Spend",
    "Tier",
]
