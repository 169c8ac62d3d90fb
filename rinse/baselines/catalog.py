"""All rival scorers: what each reads, what it runs on, what it costs, and how it is made.

>>> rival("upr").backbone
'SmolLM2-135M-Instruct'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from retrieval.backbones import KNOWN, WEIGHTS, find_backbone
from retrieval.errors import BackboneNotFoundError
from retrieval.index.encoder import DEFAULT_ENCODER, TransformerEncoder

from ..local_generator import DEFAULT_GENERATOR, LocalGenerator
from ..paper.outputs import DEFAULT_RERANKER
from ..sufficiency import SufficiencyScorer
from .answers import AnswerStore, GreedyAnswers
from .cosine import CosineScorer
from .crag import DEFAULT_CRAG, CragScorer
from .entailment import DEFAULT_ENTAILMENT, EntailmentModel
from .rerank_score import RerankScorer
from .retrieval_score import RetrievalScorer
from .self_rag import DEFAULT_SELF_RAG, SelfRagScorer
from .uar import DEFAULT_UAR, UarScorer
from .word_overlap import WordOverlapScorer

Reads = Literal["evidence", "answer"]
"""Question and evidence alone, or an answer that was generated from them too."""


class Parts:
    """What scorers are made of. A model is loaded once and shared by all scorers that are made of the same parts.

    Args:
        folders: Where weights lie, or what stands in their place, by the name under which a rival `needs` them: a
            folder or a hub id. What is not named here is found by its name.
        answers: Keeps greedy answers that several scorers read; None = each generates its own.
    """

    def __init__(
        self, folders: Mapping[str, str] = MappingProxyType({}), *, answers: AnswerStore | None = None
    ) -> None:
        self._folders = folders
        self._answers = answers

    def where(self, weights: str) -> str:
        """The folder or name under which weights are looked for."""
        return self._folders.get(weights, weights)

    @cached_property
    def model(self) -> LocalGenerator:
        """The causal language model, loaded.

        Raises:
            BackboneNotFoundError, BackboneCorruptError: it cannot be found or read.
        """
        model = LocalGenerator.named(self.where(DEFAULT_GENERATOR))
        model.load()
        return model

    @cached_property
    def answered(self) -> GreedyAnswers:
        """Greedy answers of the causal language model."""
        return GreedyAnswers(self.model, self._answers)

    @cached_property
    def entailment(self) -> EntailmentModel:
        """The entailment model. Raises what `EntailmentModel.named` raises."""
        return EntailmentModel.named(self.where(DEFAULT_ENTAILMENT))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """One way to judge sufficiency, before it is made."""

    name: str
    """As tables print it."""
    title: str
    """For people."""
    source: str
    """Where it comes from."""
    reads: Reads
    needs: tuple[str, ...]
    """Names of the weights that it runs on; empty = none."""
    cost: str
    """Passes and decoded tokens of a record."""
    heavy: bool
    """Whether a record takes seconds on a CPU, so that a benchmark reads a sample with it."""
    build: Callable[[Parts], SufficiencyScorer]

    @property
    def backbone(self) -> str | None:
        """The weights by name; None where it has none."""
        return " + ".join(self.needs) or None

    def make(self, parts: Parts | None = None) -> SufficiencyScorer:
        """The scorer.

        Raises:
            BackboneNotFoundError, BackboneCorruptError: weights are not on this machine, or cannot be read.
        """
        return self.build(parts or Parts())

    def missing(self, parts: Parts | None = None) -> tuple[str, ...]:
        """The names of weights that are not on this machine. Nothing is downloaded to find out.

        Raises:
            BackboneCorruptError: weights are there and cannot be read.
        """
        known = parts or Parts()
        return tuple(name for name in self.needs if not _here(known.where(name)))


def _here(name: str) -> bool:
    try:
        find_backbone(name, allow_hub=False)
    except BackboneNotFoundError:
        return _in_hub_cache(KNOWN[name].hub_id if name in KNOWN else name)
    return True


def _in_hub_cache(hub_id: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return (
        "/" in hub_id
        and not Path(hub_id).is_absolute()
        and isinstance(try_to_load_from_cache(hub_id, WEIGHTS), str)
    )


ENTRIES: tuple[Rival, ...] = (
    Rival(
        name="minilm-cosine",
        title="MiniLM cosine",
        source="dense retrieval: what a passage is about",
        reads="evidence",
        needs=(DEFAULT_ENCODER,),
        cost="one encoder pass a passage and one for the question",
        heavy=False,
        build=lambda parts: CosineScorer(TransformerEncoder.named(parts.where(DEFAULT_ENCODER))),
    ),
    Rival(
        name="word-overlap",
        title="Question-word overlap",
        source="lexical control",
        reads="evidence",
        needs=(),
        cost="counts words",
        heavy=False,
        build=lambda _: WordOverlapScorer(),
    ),
    Rival(
        name="retrieval-score",
        title="Top retrieval score",
        source="BM25",
        reads="evidence",
        needs=(),
        cost="counts words",
        heavy=False,
        build=lambda _: RetrievalScorer(),
    ),
    Rival(
        name="rerank-score",
        title="Top rerank score",
        source="cross-encoder reranking",
        reads="evidence",
        needs=(DEFAULT_RERANKER,),
        cost="one pass of question and passage for each passage",
        heavy=True,
        build=lambda parts: RerankScorer.named(parts.where(DEFAULT_RERANKER)),
    ),
    Rival(
        name="crag",
        title="CRAG evaluator",
        source="Yan et al. 2024",
        reads="evidence",
        needs=(DEFAULT_CRAG,),
        cost="one pass of question and passage for each passage, nothing decoded",
        heavy=True,
        build=lambda parts: CragScorer.named(parts.where(DEFAULT_CRAG)),
    ),
    Rival(
        name="uar-tree",
        title="UAR decision tree",
        source="Cheng et al. 2024",
        reads="evidence",
        needs=(DEFAULT_UAR,),
        cost="one pass over all passages, nothing decoded",
        heavy=True,
        build=lambda parts: UarScorer.named(parts.where(DEFAULT_UAR)),
    ),
    Rival(
        name="self-rag",
        title="Self-RAG critic",
        source="Asai et al. 2024",
        reads="evidence",
        needs=(DEFAULT_SELF_RAG,),
        cost="one pass a passage, nothing decoded",
        heavy=True,
        build=lambda parts: SelfRagScorer.named(parts.where(DEFAULT_SELF_RAG)),
    ),
)
"""All rivals, in the order of tables: simple ones, what reads the evidence, what reads an answer."""


def rival(name: str) -> Rival:
    """The rival of this name.

    Raises:
        KeyError: there is none; names the known ones.
    """
    for one in ENTRIES:
        if one.name == name:
            return one
    raise KeyError(f"Unknown rival {name!r}. Known: {', '.join(one.name for one in ENTRIES)}.")
