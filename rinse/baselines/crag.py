"""The retrieval evaluator of CRAG: does a passage answer the question?

Source: Yan et al. 2024, Corrective Retrieval Augmented Generation. Adapted as in appendix A of the RINSE paper:
the released classifier reads `question [SEP] passage`, and the best passage's logit for "correct" counts. It has
that one logit; the thresholds that make "incorrect" and "ambiguous" of it are not used. Backbone: T5-large, 770M.
Cost: one pass a passage, nothing decoded.
"""

from __future__ import annotations

from retrieval import EvidenceSet
from retrieval.backbones import Backbone
from retrieval.errors import BackboneCorruptError

from ..sufficiency import Sufficiency
from .best_passage import NO_EVIDENCE, best_passage, canonical_passages, canonical_text
from .model import identity
from .released import ReleasedModel, find_released

DEFAULT_CRAG = "crag-evaluator-t5-large"
"""Its authors publish the weights outside model hubs: a folder must be passed."""
_BETWEEN = " [SEP] "


class CragScorer:
    """A `SufficiencyScorer`: the best logit over passages, unbounded; `NO_EVIDENCE` without a passage.

    Passages are read whole: T5 knows no longest input, and the released code does not cut either.

    Args:
        backbone: The evaluator, with one label.
        device: Where it runs.

    Raises:
        BackboneCorruptError: the model is no T5.
    """

    def __init__(self, backbone: Backbone, *, device: str = "cpu") -> None:
        kind = backbone.config().get("model_type")
        if kind != "t5":
            raise BackboneCorruptError(
                f"{backbone.folder} holds a model of type {kind!r}, the evaluator of CRAG is a t5. "
                "Pass the folder of its released weights."
            )
        self._released = ReleasedModel(backbone, "T5ForSequenceClassification", device=device)

    @classmethod
    def named(cls, name: str = DEFAULT_CRAG, *, device: str = "cpu") -> CragScorer:
        """The evaluator in this folder. Raises what `find_released` raises."""
        backbone = find_released(
            name,
            loaded="T5ForSequenceClassification.from_pretrained(SOURCE, num_labels=1)",
            published="the retrieval evaluator linked from the repository HuskyInSalt/CRAG",
        )
        return cls(backbone, device=device)

    @property
    def fingerprint(self) -> str:
        """The backbone's content and what stands between question and passage."""
        return identity("crag", self._released.backbone.fingerprint, _BETWEEN)

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`.

        Raises:
            ScoreError: the model gave no finite logit for any passage.
            BackboneCorruptError: the model cannot be loaded, or has more than one label.
        """
        passages = canonical_passages(evidence)
        if not passages:
            return Sufficiency(score=NO_EVIDENCE)
        prompts = [
            self._released.plain(question) + _BETWEEN + self._released.plain(canonical_text(passage))
            for passage in passages
        ]
        inputs = [encoding.ids for encoding in self._released.tokenizer.encode_batch(prompts)]
        self._require_one_label()
        logits = self._released.run(inputs, lambda model, arguments: model(**arguments).logits[:, 0])
        return best_passage(passages, [float(value) for value in logits], model="CRAG", lowest=NO_EVIDENCE)

    def _require_one_label(self) -> None:
        labels = self._released.model.config.num_labels
        if labels != 1:
            raise BackboneCorruptError(
                f"{self._released.backbone.folder} gives {labels} values a text, the evaluator of CRAG gives one "
                "logit. Convert its weights with num_labels=1."
            )
