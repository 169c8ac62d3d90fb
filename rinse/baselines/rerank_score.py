"""The best relevance that a reranker gives to a passage.

Source: the reranker of a retrieval pipeline (Nogueira and Cho 2019), its logit read as a score; the cross-encoder
is the one that the RINSE paper's content reader uses (section 4). Backbone: mMARCO MiniLMv2-L12-H384, 118M. Cost:
one pass a window of a passage, nothing decoded.
"""

from __future__ import annotations

from retrieval import EvidenceSet
from retrieval.backbones import Backbone, find_backbone

from ..paper.outputs import DEFAULT_RERANKER
from ..paper.reranker import CrossEncoder
from ..paper.settings import ReaderSettings
from ..sufficiency import Sufficiency
from .best_passage import NO_EVIDENCE, best_passage, canonical_passages, canonical_text
from .model import identity


class RerankScorer:
    """A `SufficiencyScorer`: the best logit over passages, unbounded; `NO_EVIDENCE` without a passage.

    Args:
        backbone: A cross-encoder with one logit.
        device: Where it runs.
    """

    def __init__(self, backbone: Backbone, *, device: str = "cpu") -> None:
        self._backbone = backbone
        self._settings = ReaderSettings()
        self._reranker = CrossEncoder(backbone, self._settings, device=device)

    @classmethod
    def named(cls, name: str = DEFAULT_RERANKER, *, device: str = "cpu") -> RerankScorer:
        """The cross-encoder of this hub id, or in this folder. Raises what `find_backbone` raises."""
        return cls(find_backbone(name), device=device)

    @property
    def fingerprint(self) -> str:
        """The backbone's content and the windows in which it reads."""
        windows = f"{self._settings.reranker_tokens} {self._settings.reranker_overlap}"
        return identity("rerank-score", self._backbone.fingerprint, windows)

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`.

        Raises:
            ScoreError: the reranker gave no finite logit for any passage.
            BackboneCorruptError: the reranker cannot be loaded.
        """
        passages = canonical_passages(evidence)
        rows = self._reranker.score([question], [canonical_text(passage) for passage in passages])
        found = [row[0] for row in rows]
        return best_passage(
            passages,
            [float("nan") if one is None else one.logit for one in found],
            model=self._backbone.name,
            lowest=NO_EVIDENCE,
            truncated=any(one is not None and one.truncated for one in found),
        )
