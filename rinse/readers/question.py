"""A question as the readers see it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np
import regex
from numpy.typing import NDArray

from retrieval.index.encoder import TokenStates
from retrieval.memo import Memo

from ..errors import ScoreError
from ..profile import Profile
from ..windows import membership, weighted_means, windows
from .names import words
from .states import SharedEncoder, unit

_FOREIGN = regex.compile(r"[\p{L}--\p{Latin}]", regex.VERSION1)
"""Letters of other scripts: the vocabulary holds some of them one by one, the model learned nothing about them."""
QUESTIONS = 64
"""Questions whose vectors are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """A question's tokens, windows and phrases."""

    text: str
    ids: tuple[int, ...]
    """Vocabulary ids, shape `(tokens,)`."""
    words: frozenset[str]
    """Its words in lower case."""
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
    phrases: NDArray[np.float32]
    """Unit mean of each phrase's token states times its share of readable tokens, shape `(phrases, dims)`."""
    whole: NDArray[np.float32]
    """Unit mean of all token states times the share of readable tokens, shape `(1, dims)`."""
    truncated: bool

    def mean(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """IDF-weighted mean over the tokens, the last axis of `values`; plain where nothing weighs anything."""
        total = float(self.weights.sum())
        if not len(self.weights):
            return np.zeros(values.shape[:-1], dtype=np.float32)
        shares = self.weights / total if total > 0 else np.full_like(self.weights, 1 / len(self.weights))
        return np.asarray((values * shares).sum(axis=-1), dtype=np.float32)


class QuestionReader:
    """Reads questions through an encoder and remembers the last ones. Thread-safe."""

    def __init__(self, encoder: SharedEncoder, profile: Profile) -> None:
        self._encoder = encoder
        self._profile = profile
        self._memo: Memo[str, QuestionView] = Memo(QUESTIONS, lambda _: 1)

    def read(self, question: str) -> QuestionView:
        """The question's view.

        Raises:
            ScoreError: the encoder gave nothing usable, or its vocabulary is larger than the IDF table.
        """
        view = self._memo.get(question)
        if view is None:
            [states] = self._encoder.read([same_length(question)])
            if states is None:
                raise ScoreError(
                    f"The encoder {self._encoder.name} gave no finite vectors for the question. "
                    "Check its weights with: sufficit doctor"
                )
            view = _view(question, states, self._profile)
            self._memo.put(question, view)
        return view


def same_length(question: str) -> str:
    """The question with full-width and other compatibility signs made plain where that keeps every position."""
    plain = "".join(
        folded if len(folded := unicodedata.normalize("NFKC", sign)) == 1 else sign for sign in question
    )
    return plain.encode("utf-8", "replace").decode("utf-8")


def _view(question: str, states: TokenStates, profile: Profile) -> QuestionView:
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
    phrases = windows(count, size=settings.phrase.size, stride=settings.phrase.stride)
    return QuestionView(
        text=question,
        ids=states.ids,
        words=words(question),
        token_spans=states.spans,
        vectors=unit(states.states),
        weights=weights,
        readable=readable,
        window_spans=spans,
        means=weighted_means(membership(spans, count), weights),
        phrases=_means(states.states, readable, phrases),
        whole=_means(states.states, readable, ((0, count),)),
        truncated=states.truncated,
    )


def _means(
    states: NDArray[np.float32], readable: NDArray[np.float32], spans: tuple[tuple[int, int], ...]
) -> NDArray[np.float32]:
    """Unit means of the spans' states, each times its share of readable tokens, shape `(spans, dims)`."""
    if not len(states):
        return np.zeros((len(spans), states.shape[1]), dtype=np.float32)
    rows = [unit(states[begin:end].mean(axis=0)) * readable[begin:end].mean() for begin, end in spans]
    return np.array(rows, dtype=np.float32).reshape(len(spans), states.shape[1])
