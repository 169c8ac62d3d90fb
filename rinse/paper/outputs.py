"""What the three readers say of a question and a set: the seam between reading and everything fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from retrieval import EvidenceSet, Passage
from retrieval.backbones import Backbone, find_backbone
from retrieval.index.encoder import DEFAULT_ENCODER

from ..errors import ScoreError
from ..gaps import Coverage
from ..order import canonical_order
from ..sufficiency import AnswerSpan
from .content import ContentReader, ContentReading
from .forward import BATCH_TOKENS
from .latent import LatentReader
from .lexicon import Lexicon, WordPieces
from .reranker import CrossEncoder, Relevance
from .settings import ReaderSettings
from .sources import passage_text
from .span import NO_SPAN_MARGIN, PassageSpan, SpanReader, best_answer

DEFAULT_RERANKER = "nreimers/mmarco-mMiniLMv2-L12-H384-v1"
DEFAULT_SPAN_BASE = "FacebookAI/roberta-base"
"""What a span reader is fitted from; it has no head for answers until then."""
DEFAULT_LATENT = "Qwen/Qwen2.5-1.5B-Instruct"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperBackbones:
    """The models on this disk, hashed."""

    words: Backbone
    """Whose WordPieces make the windows."""
    reranker: Backbone
    span: Backbone
    latent: Backbone

    @classmethod
    def named(
        cls,
        *,
        span: str | Path,
        words: str | Path = DEFAULT_ENCODER,
        reranker: str | Path = DEFAULT_RERANKER,
        latent: str | Path = DEFAULT_LATENT,
        allow_hub: bool = True,
    ) -> Self:
        """Find all four by name or folder; see `find_backbone` for what is raised."""
        found = {
            role: find_backbone(str(name), allow_hub=allow_hub)
            for role, name in (("words", words), ("reranker", reranker), ("span", span), ("latent", latent))
        }
        return cls(**found)

    def fingerprints(self) -> dict[str, tuple[str, str]]:
        """Name and content of each, by role; of `words` the content of its tokenizer alone."""
        models = {"reranker": self.reranker, "span": self.span, "latent": self.latent}
        return {"words": (self.words.name, WordPieces(self.words).fingerprint)} | {
            role: (model.name, model.fingerprint) for role, model in models.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderOutputs:
    """All that a fit needs of one record, and all that the fitted score is computed from."""

    features: NDArray[np.float64]
    """Quantiles of the overlap profile, then of the relevance profile, shape `(n_features,)`."""
    margin: float
    """Best span minus null over all passages and windows, in logits; `NO_SPAN_MARGIN` without any text."""
    state: NDArray[np.float32]
    """Unit-normalised last-token state, shape `(dims,)`."""
    passages: int
    """|E|: distinct passages that could be read."""
    masked: tuple[str, ...]
    """Ids of passages for which a model gave nothing usable, sorted; everything was read without them."""
    truncated: bool
    """True if some text was too long to be read whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperReading:
    """`ReaderOutputs` with what people want to see beside them."""

    outputs: ReaderOutputs
    coverage: Coverage
    """The question's windows by IDF overlap."""
    span: AnswerSpan | None
    """The best span of all passages."""


class PaperReaders:
    """The three readers on their backbones. Blocking, thread-safe; remembers, so a turn costs what is new.

    Args:
        backbones: Frozen models, loaded on first use.
        lexicon: WordPieces of `backbones.words` and their IDF.
        settings: What is chosen; the defaults are the paper's.
        device: `cpu` or `cuda`.
        batch_tokens: Padded tokens in a pass of reranker and span reader.
    """

    def __init__(
        self,
        backbones: PaperBackbones,
        lexicon: Lexicon,
        settings: ReaderSettings | None = None,
        *,
        device: str = "cpu",
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        self.backbones = backbones
        self.lexicon = lexicon
        self.settings = settings = settings or ReaderSettings()
        reranker = CrossEncoder(backbones.reranker, settings, device=device, batch_tokens=batch_tokens)
        self._content = ContentReader(reranker, lexicon, settings)
        self._span = SpanReader(backbones.span, settings, device=device, batch_tokens=batch_tokens)
        self._latent = LatentReader(backbones.latent, settings, device=device)

    @property
    def dims(self) -> int:
        """Width of a latent state."""
        return self._latent.dims

    def read(self, question: str, evidence: EvidenceSet) -> ReaderOutputs:
        """What the fit stores. See `reading`."""
        return self.reading(question, evidence).outputs

    def reading(self, question: str, evidence: EvidenceSet) -> PaperReading:
        """Read question and set. No evidence is a valid input.

        Raises:
            ScoreError: a model gave no usable value for every passage, or for the set as a whole (case S04).
        """
        question = question.encode("utf-8", "replace").decode("utf-8")
        relevance = self._content.relevance(question, evidence.passages)
        spans = self._span.read(question, evidence.passages)
        kept = [passage for passage in evidence if relevance[passage.id] and spans[passage.id]]
        content, kept = self._cover(question, kept)
        masked = sorted(set(evidence.ids) - {passage.id for passage in kept})
        if masked and not kept:
            raise ScoreError(
                f"The models gave no finite value for any of {len(masked)} passages. "
                "Check the weights of the profile's backbones."
            )
        read = {passage.id: span for passage in kept if (span := spans[passage.id]) is not None}
        values = {passage.id: value for passage in kept if (value := relevance[passage.id]) is not None}
        latent = self._latent.read(question, self._documents(question, kept, values))
        outputs = ReaderOutputs(
            features=content.features,
            margin=max((span.margin for span in read.values()), default=NO_SPAN_MARGIN),
            state=latent.state,
            passages=len(kept),
            masked=tuple(masked),
            truncated=content.truncated or latent.truncated or _any_truncated(read, values),
        )
        return PaperReading(outputs=outputs, coverage=content.coverage, span=best_answer(read))

    def _cover(self, question: str, passages: Sequence[Passage]) -> tuple[ContentReading, list[Passage]]:
        """Content of the passages whose sources can be read; leaving one out changes its source, so look again."""
        kept = list(passages)
        while True:
            content = self._content.read(question, kept)
            if not content.masked:
                return content, kept
            kept = [passage for passage in kept if passage.id not in content.masked]

    def _documents(
        self, question: str, passages: Sequence[Passage], relevance: dict[str, Relevance]
    ) -> list[Passage]:
        """The best-reranked passages, ties by id, in the order in which the latent reader reads them."""
        best = sorted(passages, key=lambda passage: (-relevance[passage.id].logit, passage.id))
        chosen = {passage.id: passage for passage in best[: self.settings.documents]}
        if self.settings.given_order:
            return [passage for passage in passages if passage.id in chosen]
        words = self.lexicon.words.read([question, *(passage_text(passage)[0] for passage in chosen.values())])
        order = canonical_order(
            words[0].ids,
            {key: tokens.ids for key, tokens in zip(chosen, words[1:], strict=True)},
            idf=self.lexicon.idf,
            average_length=self.lexicon.average_tokens,
        )
        return [chosen[key] for key, _ in order]


def _any_truncated(spans: dict[str, PassageSpan], relevance: dict[str, Relevance]) -> bool:
    return any(span.truncated for span in spans.values()) or any(value.truncated for value in relevance.values())
