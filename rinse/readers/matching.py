"""What one passage says about one question, whatever other passages there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval import Passage
from retrieval.memo import Memo

from .question import QuestionView
from .states import PassageReader, PassageStates, canonical_heading
from .subject import Subject

MEMORY_BYTES = 128 * 2**20
"""Matches kept in memory: some ten thousand pairs of question and passage of 100 words."""
SENTENCES = 16
"""Sentences of a passage that are kept one by one, those that cover most of the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One question beside one passage; all values are cosines in [0, 1]."""

    tokens: NDArray[np.float32]
    """Best cosine of each question token with a token of the passage, shape `(tokens,)`."""
    phrases: NDArray[np.float32]
    """Best cosine of each phrase of the question with a sentence, shape `(phrases,)`."""
    sentences: NDArray[np.float32]
    """Best cosine of each question token with a token of one sentence or the heading, for at most `SENTENCES`
    sentences, the best one first; shape `(sentences, tokens)`."""
    sentence_names: tuple[frozenset[str], ...]
    """The names in each of these sentences and the heading."""
    whole: float
    """Best cosine of the whole question with a sentence."""
    frequency: Mapping[int, int]
    """How often the passage holds each of the question's vocabulary ids that it holds."""
    length: int
    """Tokens of the passage."""
    subject: Subject
    truncated: bool

    @property
    def bytes(self) -> int:
        """What keeping it costs, near enough."""
        arrays = self.tokens.nbytes + self.phrases.nbytes + self.sentences.nbytes
        return arrays + 64 * len(self.frequency) + self.subject.bytes


class Matcher:
    """Compares questions with passages and remembers the result. Thread-safe."""

    def __init__(self, passages: PassageReader) -> None:
        self._passages = passages
        self._memo: Memo[tuple[str, str, str], Match] = Memo(MEMORY_BYTES, lambda match: match.bytes)

    def match(self, view: QuestionView, passages: Sequence[Passage]) -> dict[str, Match | None]:
        """The question beside each passage, by passage id; None if the encoder gave nothing usable (S04)."""
        found: dict[str, Match | None] = {passage.id: self._memo.get(_key(view, passage)) for passage in passages}
        for passage, states in self._passages.read([one for one in passages if found[one.id] is None]):
            if states is not None:
                found[passage.id] = match = _match(view, states)
                self._memo.put(_key(view, passage), match)
        return found


def _key(view: QuestionView, passage: Passage) -> tuple[str, str, str]:
    return view.text, passage.id, canonical_heading(passage)


def _match(view: QuestionView, states: PassageStates) -> Match:
    cosines = view.vectors @ states.tokens.astype(np.float32).T  # (question tokens, passage tokens)
    cosines = cosines.clip(0.0, 1.0) * view.readable[:, None]
    whole = states.sentences.astype(np.float32).T
    covered = _by_sentence(cosines, states.sentence_of)
    asked = frozenset(view.ids)
    best = np.argsort(-view.mean(covered), kind="stable")[:SENTENCES]
    return Match(
        tokens=cosines.max(axis=1, initial=0.0),
        phrases=_best(view.phrases @ whole),
        sentences=covered[best],
        sentence_names=tuple(states.subject.sentences[place] for place in best),
        whole=float(_best(view.whole @ whole)[0]),
        frequency=Counter(key for key in states.ids if key in asked),
        length=len(states.ids),
        subject=states.subject,
        truncated=states.truncated,
    )


def _best(cosines: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row's largest value, in [0, 1]; 0 of none."""
    return np.asarray(cosines.max(axis=1, initial=0.0).clip(0.0, 1.0), dtype=np.float32)


def _by_sentence(cosines: NDArray[np.float32], sentence_of: NDArray[np.int32]) -> NDArray[np.float32]:
    """Each sentence's best cosine, or the heading's if it is better, shape `(sentences, question tokens)`."""
    body = np.flatnonzero(sentence_of >= 0)
    if not len(body):
        return np.zeros((0, len(cosines)), dtype=np.float32)
    starts = np.flatnonzero(np.diff(sentence_of[body], prepend=-1))
    covered = np.maximum.reduceat(cosines[:, body], starts, axis=1)  # (question tokens, sentences)
    heading = cosines[:, sentence_of < 0].max(axis=1, initial=0.0)
    return np.ascontiguousarray(np.maximum(covered, heading[:, None]).T)
