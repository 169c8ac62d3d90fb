"""The content reader: is every local part of the question supported somewhere in the evidence?

RINSE, section 4, in a form that needs a passage's own states only (no pass over question and passage together) and
has nothing to fit: three views of coverage, each a mean of cosines, averaged with equal weights.

* `tokens`: each question token against its best token of the evidence (late interaction), weighted by the
  profile's IDF;
* `windows`: each window of the question against its best *source*, by the weighted mean of its tokens' best
  cosines there. Fragments of different sources never add up inside a window; the chunks of one source do;
* `passages`: the whole question against the best sentences of the two passages nearest to it.

No view ever falls as evidence grows.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import regex
from numpy.typing import NDArray

from retrieval import EvidenceSet, Passage
from retrieval.index.encoder import TokenStates
from retrieval.memo import Memo

from ..errors import ScoreError
from ..gaps import Coverage
from ..profile import Profile
from ..windows import membership, weighted_means, windows
from .states import PassageReader, TokenEncoder, canonical_heading, unit, usable

_FOREIGN = regex.compile(r"[\p{L}--\p{Latin}]", regex.VERSION1)
"""Letters of other scripts: the vocabulary holds some of them one by one, the model learned nothing about them."""

NEAREST = 2
"""Passages that a question is compared with as a whole: a chain of two hops has two."""
QUESTIONS = 64
"""Questions whose vectors and matches are kept."""
MATCHES = 20_000
"""Pairs of question and passage whose match is kept, about a kilobyte each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """A question as the reader sees it."""

    text: str
    ids: tuple[int, ...]
    """Vocabulary ids, shape `(tokens,)`."""
    token_spans: tuple[tuple[int, int], ...]
    """Characters of each token in `text`."""
    vectors: NDArray[np.float32]
    """Unit token vectors, shape `(tokens, dims)`."""
    weights: NDArray[np.float32]
    """IDF of each token, shape `(tokens,)`."""
    readable: NDArray[np.float32]
    """1 for a token that the backbone can read, 0 for an unknown sign or a letter of a script that it does not
    know; such a token never counts as covered (case S07). Shape `(tokens,)`."""
    window_spans: tuple[tuple[int, int], ...]
    """Tokens of each window."""
    means: NDArray[np.float32]
    """Takes the weighted mean of each window's tokens, shape `(windows, tokens)`."""
    whole: NDArray[np.float32]
    """Unit mean of all token states times the share of readable tokens, shape `(1, dims)`."""
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What one passage says about one question, whatever other passages there are."""

    tokens: NDArray[np.float32]
    """Best cosine of each question token with a token of the passage, in [0, 1], shape `(tokens,)`."""
    whole: float
    """Best cosine of the question with a sentence of the passage, in [0, 1]."""
    ids: tuple[int, ...]
    """Vocabulary ids of the passage."""
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentReading:
    """The reader's answer for one question and one set."""

    tokens: float
    """Coverage of single tokens, in [0, 1]."""
    windows: float
    """Coverage of windows by one source each, in [0, 1]."""
    passages: float
    """Mean of the two passages nearest to the question as a whole, in [0, 1]; of one passage, half of it."""
    coverage: Coverage
    """Where the question is covered."""
    question_ids: tuple[int, ...]
    """Vocabulary ids of the question."""
    passage_ids: Mapping[str, tuple[int, ...]]
    """Vocabulary ids of every passage that was read."""
    masked: tuple[str, ...]
    """Passages for which the encoder gave nothing usable, in alphabetical order (case S04)."""
    truncated: bool

    @property
    def raw(self) -> float:
        """The equal-weight mean of the three coverages, in [0, 1]."""
        return (self.tokens + self.windows + self.passages) / 3


class ContentReader:
    """Reads questions and passages apart from each other and compares them. Thread-safe.

    Args:
        encoder: The backbone; the caller has checked that the profile belongs to it.
        profile: IDF and windows.
    """

    def __init__(self, encoder: TokenEncoder, profile: Profile) -> None:
        self._encoder = encoder
        self._profile = profile
        self._passages = PassageReader(encoder)
        self._questions: Memo[str, QuestionView] = Memo(QUESTIONS, lambda _: 1)
        self._matches: Memo[tuple[str, str, str], Match] = Memo(MATCHES, lambda _: 1)

    def read(self, question: str, evidence: EvidenceSet) -> ContentReading:
        """Cover the question by the set. Work is proportional to the passages not yet seen with this question.

        Raises:
            ScoreError: the encoder gave nothing usable for the question, or for every passage of the set.
        """
        view = self._view(question)
        matches = {passage.id: self._match(view, passage) for passage in evidence}
        read = {key: match for key, match in matches.items() if match is not None}
        if matches and not read:
            raise ScoreError(
                f"The encoder {self._encoder.name} gave no finite vectors for any of {len(matches)} passages. "
                "Check its weights with: sufficit doctor"
            )
        coverage = self._cover(view, _sources(evidence, read))
        nearest = sorted((match.whole for match in read.values()), reverse=True)[:NEAREST]
        return ContentReading(
            tokens=_mean(coverage.tokens, view.weights),
            windows=_mean(coverage.windows, membership(view.window_spans, len(view.ids)) @ view.weights),
            passages=sum(nearest) / NEAREST,
            coverage=coverage,
            question_ids=view.ids,
            passage_ids={key: match.ids for key, match in read.items()},
            masked=tuple(sorted(matches.keys() - read.keys())),
            truncated=view.truncated or any(match.truncated for match in read.values()),
        )

    def _view(self, question: str) -> QuestionView:
        view = self._questions.get(question)
        if view is None:
            states = usable(self._encoder.token_states([_same_length(question)]))
            if states is None:
                raise ScoreError(
                    f"The encoder {self._encoder.name} gave no finite vectors for the question. "
                    "Check its weights with: sufficit doctor"
                )
            view = _question_view(question, states, self._profile)
            self._questions.put(question, view)
        return view

    def _match(self, view: QuestionView, passage: Passage) -> Match | None:
        key = (view.text, passage.id, canonical_heading(passage))
        match = self._matches.get(key)
        if match is None:
            states = self._passages.read(passage)
            if states is None:
                return None
            match = Match(
                tokens=_best(view.vectors, states.tokens) * view.readable,
                whole=float(_best(view.whole, states.sentences)[0]),
                ids=states.ids,
                truncated=states.truncated,
            )
            self._matches.put(key, match)
        return match

    def _cover(self, view: QuestionView, sources: Sequence[Sequence[Match]]) -> Coverage:
        """Join the matches: the chunks of a source first, then the best source for each window."""
        tokens = np.zeros(len(view.ids), dtype=np.float32)
        best = np.zeros(len(view.window_spans), dtype=np.float32)
        for matches in sources:
            source = np.max([match.tokens for match in matches], axis=0)
            tokens = np.maximum(tokens, source)
            # one product a source: the last bits of one product for all would depend on how many there are
            best = np.maximum(best, view.means @ source)
        return Coverage(
            tokens=tokens,
            windows=best.clip(0.0, 1.0),
            content=view.weights >= self._profile.settings.function_idf,
            token_spans=view.token_spans,
            window_spans=view.window_spans,
        )


def _question_view(question: str, states: TokenStates, profile: Profile) -> QuestionView:
    settings, count = profile.settings, len(states.ids)
    ids = np.asarray(states.ids, dtype=np.int64)
    if count and ids.max() >= len(profile.idf):
        raise ScoreError(
            f"The encoder knows the vocabulary id {ids.max()}, the IDF table of profile {settings.name!r} ends at "
            f"{len(profile.idf) - 1}. Count a table for this encoder: python -m benchmarks.idf"
        )
    foreign = [bool(_FOREIGN.search(question, *span)) for span in states.spans]
    readable = ((ids != settings.unknown_id) & ~np.array(foreign, dtype=np.bool_)).astype(np.float32)
    weights = profile.idf[ids]
    spans = windows(count, size=settings.window.size, stride=settings.window.stride)
    return QuestionView(
        text=question,
        ids=states.ids,
        token_spans=states.spans,
        vectors=unit(states.states),
        weights=weights,
        readable=readable,
        window_spans=spans,
        means=weighted_means(membership(spans, count), weights),
        whole=_whole(states.states, readable),
        truncated=states.truncated,
    )


def _sources(evidence: EvidenceSet, read: Mapping[str, Match]) -> list[list[Match]]:
    """The matches by source. A text that several sources hold belongs to each of them."""
    sources: dict[str, list[Match]] = {}
    for passage in evidence:
        if passage.id in read:
            for source in {place.source_id for place in passage.provenance}:
                sources.setdefault(source, []).append(read[passage.id])
    return list(sources.values())


def _best(rows: NDArray[np.float32], columns: NDArray[np.float16]) -> NDArray[np.float32]:
    """Each row's best cosine with any column vector, in [0, 1], shape `(rows,)`; 0 where there is none."""
    cosines = rows @ columns.astype(np.float32).T
    return np.asarray(cosines.max(axis=1, initial=0.0).clip(0.0, 1.0), dtype=np.float32)


def _whole(states: NDArray[np.float32], readable: NDArray[np.float32]) -> NDArray[np.float32]:
    if not len(states):
        return np.zeros((1, states.shape[1]), dtype=np.float32)
    return np.asarray(unit(states.mean(axis=0, keepdims=True)) * readable.mean(), dtype=np.float32)


def _mean(values: NDArray[np.float32], weights: NDArray[np.float32]) -> float:
    """Weighted mean; the plain one if nothing weighs anything, 0 of no values."""
    if not len(values):
        return 0.0
    total = float(weights.sum())
    return float(values @ weights) / total if total > 0 else float(values.mean())


def _same_length(question: str) -> str:
    """The question with full-width and other compatibility signs made plain where that keeps every position."""
    plain = "".join(
        folded if len(folded := unicodedata.normalize("NFKC", sign)) == 1 else sign for sign in question
    )
    return plain.encode("utf-8", "replace").decode("utf-8")
