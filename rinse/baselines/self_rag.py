"""The critic of Self-RAG: is a passage relevant to the question?

Source: Asai et al. 2024, Self-RAG. Adapted as in appendix A of the RINSE paper: only the released critic is used
and nothing is decoded; the best passage's `logit([Relevant]) - logit([Irrelevant])` for the next token counts. The
prompt has the critic's form, in our own words. Backbone: Llama-2, 7B. Cost: one pass a passage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval import EvidenceSet, Passage
from retrieval.backbones import Backbone
from retrieval.errors import BackboneCorruptError

from ..errors import ScoreError
from ..sufficiency import Sufficiency
from .best_passage import NO_EVIDENCE, best_passage, canonical_passages, canonical_text
from .model import identity
from .released import ReleasedModel, find_released, last_states

if TYPE_CHECKING:
    from torch import Tensor

DEFAULT_SELF_RAG = "selfrag/self_rag_critic"
_MARKS = ("[Relevant]", "[Irrelevant]")
_PROMPT = (
    "### Instruction:\nDecide whether the evidence helps with the task: it is about the same thing and brings "
    "information that an answer needs. Say [Relevant] if it does and [Irrelevant] if it does not.\n\n"
    "### Input:\nTask: {question}\nEvidence: {passage}\n\n### Response:"
)


class SelfRagScorer:
    """A `SufficiencyScorer`: the best difference of logits over passages; `NO_EVIDENCE` without a passage.

    Args:
        backbone: The critic; its tokenizer holds the reflection tokens.
        device: Where it runs.

    Raises:
        BackboneCorruptError: the tokenizer lacks a reflection token.
    """

    def __init__(self, backbone: Backbone, *, device: str = "cpu") -> None:
        self._released = ReleasedModel(backbone, "LlamaForCausalLM", device=device)
        self._relevant, self._irrelevant = (self._mark(mark) for mark in _MARKS)

    @classmethod
    def named(cls, name: str = DEFAULT_SELF_RAG, *, device: str = "cpu") -> SelfRagScorer:
        """The critic of this hub id, or in this folder. Raises what `find_released` raises."""
        backbone = find_released(
            name, loaded="LlamaForCausalLM.from_pretrained(SOURCE)", published=f"{DEFAULT_SELF_RAG} (hub)"
        )
        return cls(backbone, device=device)

    @property
    def fingerprint(self) -> str:
        """The backbone's content and the prompt."""
        return identity("self-rag", self._released.backbone.fingerprint, _PROMPT)

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`.

        Raises:
            ScoreError: a passage with its prompt is longer than the model reads, or no difference is finite.
            BackboneCorruptError: the model cannot be loaded.
        """
        passages = canonical_passages(evidence)
        if not passages:
            return Sufficiency(score=NO_EVIDENCE)
        prompts = [self._prompt(question, passage) for passage in passages]
        inputs = [encoding.ids for encoding in self._released.tokenizer.encode_batch(prompts)]
        self._check_length(max(map(len, inputs)))
        differences = self._released.run(inputs, self._difference)
        return best_passage(
            passages, [float(value) for value in differences], model="Self-RAG", lowest=NO_EVIDENCE
        )

    def _prompt(self, question: str, passage: Passage) -> str:
        plain = self._released.plain
        return _PROMPT.format(question=plain(question), passage=plain(canonical_text(passage)))

    def _difference(self, model: Any, arguments: dict[str, Tensor]) -> Tensor:  # noqa: ANN401
        """Shape `(batch,)`: only the last position meets the vocabulary."""
        logits: Tensor = model.lm_head(last_states(model.model, arguments))
        return logits[:, self._relevant] - logits[:, self._irrelevant]

    def _mark(self, mark: str) -> int:
        number: int | None = self._released.tokenizer.token_to_id(mark)
        if number is None:
            raise BackboneCorruptError(
                f"The tokenizer in {self._released.backbone.folder} has no token {mark}, so it is no critic of "
                "Self-RAG. Pass the folder of its released weights, converted with their own tokenizer."
            )
        return number

    def _check_length(self, tokens: int) -> None:
        reads = self._released.model.config.max_position_embeddings
        if tokens > reads:
            raise ScoreError(
                f"{self._released.backbone.name} reads at most {reads} tokens, a passage with its prompt has "
                f"{tokens}. Cut the passage into chunks."
            )
