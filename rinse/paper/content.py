"""The content reader: is every local part of the question supported by some source? (RINSE, section 4)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval import Passage
from retrieval.memo import Memo

from ..gaps import Coverage
from ..readers.question import same_length
from ..readers.states import canonical_heading
from ..windows import membership, weighted_means, windows
from .lexicon import Lexicon
from .pairs import Tokens
from .reranker import CrossEncoder, Relevance
from .settings import ReaderSettings
from .sources import Source, passage_text, rejoin

NO_TEXT_LOGIT = -20.0
"""What the reranker says of no text at all. It cannot be asked; this is below what it says of unrelated texts."""
QUESTION_TOKENS = 512
"""WordPieces read of a question; each two of them cost a pass a source."""
MATCHES = 65_536
"""Sources and passages remembered, some hundred bytes each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionParts:
    """A question cut into windows."""

    text: str
    tokens: Tokens
    weights: NDArray[np.float32]
    """IDF, shape `(tokens,)`."""
    spans: tuple[tuple[int, int], ...]
    """Tokens of each window."""
    means: NDArray[np.float32]
    """Takes each window's IDF-weighted mean of values of tokens, shape `(windows, tokens)`."""

    @property
    def texts(self) -> tuple[str, ...]:
        """Each window as it stands in the question."""
        places = self.tokens.spans
        return tuple(self.text[places[begin][0] : places[end - 1][1]] for begin, end in self.spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMatch:
    """One source against one question."""

    tokens: NDArray[np.float32]
    """1 where the question's token occurs in the source, shape `(tokens,)`."""
    overlap: NDArray[np.float32]
    """Share of each window's IDF whose tokens occur, in [0, 1], shape `(windows,)`."""
    relevance: NDArray[np.float32]
    """The reranker's logit for each window, shape `(windows,)`."""
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentReading:
    """What the content reader found."""

    features: NDArray[np.float64]
    """Quantiles of the overlap profile, then of the relevance profile, shape `(2 * quantiles,)`."""
    coverage: Coverage
    """By IDF overlap."""
    masked: frozenset[str]
    """Passages that stand in no source for which the reranker gave finite values (case S04)."""
    truncated: bool


class ContentReader:
    """Matches windows with sources and remembers what it matched. Thread-safe.

    Args:
        reranker: For windows against sources and for whole questions against passages.
        lexicon: WordPieces and IDF.
        settings: Windows, quantiles, and which tokens are function words.
    """

    def __init__(self, reranker: CrossEncoder, lexicon: Lexicon, settings: ReaderSettings) -> None:
        self._reranker = reranker
        self._lexicon = lexicon
        self._settings = settings
        self._matches: Memo[tuple[str, tuple[str, ...], str], SourceMatch] = Memo(MATCHES, lambda _: 1)
        self._relevance: Memo[tuple[str, str, str], Relevance] = Memo(MATCHES, lambda _: 1)

    def parts(self, question: str) -> QuestionParts:
        """Cut a question into windows."""
        text = same_length(question)
        tokens = self._lexicon.words.read([text])[0].first(QUESTION_TOKENS)
        size, stride = self._settings.window.size, self._settings.window.stride
        spans = windows(len(tokens.ids), size=size, stride=stride)
        weights = self._lexicon.weights(tokens)
        return QuestionParts(
            text=text,
            tokens=tokens,
            weights=weights,
            spans=spans,
            means=weighted_means(membership(spans, len(tokens.ids)), weights),
        )

    def read(self, question: str, passages: Sequence[Passage]) -> ContentReading:
        """Cover the question by the sources of these passages. Only sources not yet seen with it cost work."""
        parts = self.parts(question)
        sources = rejoin(passages)
        matches = self._match(parts, sources)
        found = [match for match in matches if match is not None]
        usable = {key for source, match in zip(sources, matches, strict=True) if match for key in source.chunks}
        overlap = _best([match.overlap for match in found], len(parts.spans), floor=0.0)
        relevance = _best([match.relevance for match in found], len(parts.spans), floor=NO_TEXT_LOGIT)
        return ContentReading(
            features=np.concatenate((self._quantiles(overlap, 0.0), self._quantiles(relevance, NO_TEXT_LOGIT))),
            coverage=Coverage(
                tokens=_best([match.tokens for match in found], len(parts.tokens.ids), floor=0.0),
                windows=overlap,
                content=parts.weights >= self._settings.function_idf,
                token_spans=parts.tokens.spans,
                window_spans=parts.spans,
            ),
            masked=frozenset(passage.id for passage in passages) - usable,
            truncated=parts.tokens.truncated or any(match.truncated for match in found),
        )

    def relevance(self, question: str, passages: Sequence[Passage]) -> dict[str, Relevance | None]:
        """The whole question against each passage; None where the reranker gave no finite value."""
        keys = {passage.id: (question, passage.id, canonical_heading(passage)) for passage in passages}
        known = {key: self._relevance.get(memo) for key, memo in keys.items()}
        new = [passage for passage in passages if known[passage.id] is None]
        if new:
            texts = [passage_text(passage)[0] for passage in new]
            for passage, (value,) in zip(new, self._reranker.score([same_length(question)], texts), strict=True):
                known[passage.id] = value
                if value is not None:
                    self._relevance.put(keys[passage.id], value)
        return known

    def _match(self, parts: QuestionParts, sources: Sequence[Source]) -> list[SourceMatch | None]:
        keys = [(parts.text, source.chunks, source.heading) for source in sources]
        matches = [self._matches.get(key) for key in keys]
        new = [row for row, match in enumerate(matches) if match is None]
        if new:
            made = self._match_new(parts, [sources[row].text for row in new])
            for row, match in zip(new, made, strict=True):
                matches[row] = match
                if match is not None:
                    self._matches.put(keys[row], match)
        return matches

    def _match_new(self, parts: QuestionParts, texts: Sequence[str]) -> list[SourceMatch | None]:
        words = self._lexicon.words.read(texts)
        relevance = self._reranker.score(parts.texts, texts) if parts.spans else [[] for _ in texts]
        return [self._one(parts, *pair) for pair in zip(words, relevance, strict=True)]

    def _one(self, parts: QuestionParts, words: Tokens, values: Sequence[Relevance | None]) -> SourceMatch | None:
        finite = [value for value in values if value is not None]
        if len(finite) < len(values):
            return None
        tokens = self._lexicon.occurs(parts.tokens, words.ids)
        return SourceMatch(
            tokens=tokens,
            overlap=(parts.means @ tokens).clip(0.0, 1.0),
            relevance=np.array([value.logit for value in finite], dtype=np.float32),
            truncated=words.truncated or any(value.truncated for value in finite),
        )

    def _quantiles(self, profile: NDArray[np.float32], floor: float) -> NDArray[np.float64]:
        """Quantiles over windows with linear interpolation; `floor` where the question has no window."""
        at = self._settings.quantiles
        if not len(profile):
            return np.full(len(at), floor)
        return np.asarray(np.quantile(profile.astype(np.float64), at), dtype=np.float64)


def _best(profiles: Sequence[NDArray[np.float32]], width: int, *, floor: float) -> NDArray[np.float32]:
    """The best value of any source at each place, shape `(width,)`; `floor` where there is no source."""
    if not profiles:
        return np.full(width, floor, dtype=np.float32)
    return np.asarray(np.max(profiles, axis=0), dtype=np.float32)
