"""All rival scorers: what each reads, what it runs on, what it costs, and how it is made.

>>> rival("upr").backbone
'SmolLM2-135M-Instruct'
"""

from __future__ import annotations

from retrieval.index.encoder import DEFAULT_ENCODER, TransformerEncoder

from ..local_generator import DEFAULT_GENERATOR
from ..paper.outputs import DEFAULT_RERANKER
from .attribution import AttributionScorer
from .cosine import CosineScorer
from .crag import DEFAULT_CRAG, CragScorer
from .entailment import DEFAULT_ENTAILMENT
from .flare import FlareScorer
from .p_true import PTrueScorer
from .ragas import RagasScorer
from .rerank_score import RerankScorer
from .retrieval_score import RetrievalScorer
from .rival import Rival
from .self_rag import DEFAULT_SELF_RAG, SelfRagScorer
from .semantic_entropy import SemanticEntropyScorer
from .sufficient_context import SufficientContextScorer
from .uar import DEFAULT_UAR, UarScorer
from .upr import UprScorer
from .word_overlap import WordOverlapScorer
from .yes_no import YesNoScorer

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
        name="sufficient-context",
        title="Sufficient Context",
        source="Joren et al. 2025",
        reads="evidence",
        needs=(DEFAULT_GENERATOR,),
        cost="one pass over all passages, up to 4 tokens decoded",
        heavy=True,
        build=lambda parts: SufficientContextScorer(parts.model),
    ),
    Rival(
        name="yes-no",
        title="Yes/no prompt",
        source="RINSE, appendix A",
        reads="evidence",
        needs=(DEFAULT_GENERATOR,),
        cost="one pass over all passages, nothing decoded",
        heavy=True,
        build=lambda parts: YesNoScorer(parts.model),
    ),
    Rival(
        name="upr",
        title="UPR",
        source="Sachan et al. 2022",
        reads="evidence",
        needs=(DEFAULT_GENERATOR,),
        cost="one pass a passage, nothing decoded",
        heavy=True,
        build=lambda parts: UprScorer(parts.model),
    ),
    Rival(
        name="ragas-cr",
        title="RAGAS context relevance",
        source="Es et al. 2024",
        reads="evidence",
        needs=(DEFAULT_GENERATOR,),
        cost="one pass over all passages, up to 32 tokens decoded",
        heavy=True,
        build=lambda parts: RagasScorer(parts.model),
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
    Rival(
        name="p-true",
        title="P(True)",
        source="Kadavath et al. 2022",
        reads="answer",
        needs=(DEFAULT_GENERATOR,),
        cost="two passes over all passages, an answer of up to 24 tokens decoded",
        heavy=True,
        build=lambda parts: PTrueScorer(parts.answered),
    ),
    Rival(
        name="attribution",
        title="Attribution by entailment",
        source="Honovich et al. 2022; Gao et al. 2023",
        reads="answer",
        needs=(DEFAULT_GENERATOR, DEFAULT_ENTAILMENT),
        cost="one pass over all passages, an answer of up to 24 tokens decoded, one entailment pass a passage",
        heavy=True,
        build=lambda parts: AttributionScorer(parts.answered, parts.entailment),
    ),
    Rival(
        name="semantic-entropy",
        title="Semantic entropy",
        source="Kuhn et al. 2023; Farquhar et al. 2024",
        reads="answer",
        needs=(DEFAULT_GENERATOR, DEFAULT_ENTAILMENT),
        cost="one pass over all passages, six answers of up to 24 tokens decoded, up to 30 entailment passes",
        heavy=True,
        build=lambda parts: SemanticEntropyScorer(parts.answered, parts.entailment),
    ),
    Rival(
        name="flare",
        title="FLARE, least token probability",
        source="Jiang et al. 2023",
        reads="answer",
        needs=(DEFAULT_GENERATOR,),
        cost="one pass over all passages, an answer of up to 24 tokens decoded",
        heavy=True,
        build=lambda parts: FlareScorer(parts.answered),
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
