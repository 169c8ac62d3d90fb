"""Passages as a model sees them: token vectors and sentence vectors, read once and kept for every question."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval import Passage
from retrieval.combining import Combiner
from retrieval.index.encoder import TokenStates
from retrieval.memo import Memo

from .subject import HEADING, Subject, Window, subject_of
from .windowing import Draft

HEADING_CHARACTERS = 200
"""A longer heading is cut: it is read again with every window of the passage."""
CHARACTERS_AT_ONCE = 12_000
"""Of passages that a search has under way: about 16 of 120 words. Bounds memory, and how long another search waits
for its turn; a longer passage is read by itself."""
MEMORY_BYTES = 256 * 2**20
"""States kept in memory: about 2,500 passages of 100 words."""


class TokenEncoder(Protocol):
    """A backbone that gives contextual token vectors, as `retrieval.index.encoder.TransformerEncoder` does.

    Contract: deterministic and thread-safe; one `TokenStates` a text, in order.
    """

    @property
    def fingerprint(self) -> str:
        """Identifies weights, tokenizer and longest input by content."""
        ...

    @property
    def name(self) -> str:
        """For messages to people."""
        ...

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """The vectors of every token of every text, special tokens left out."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageStates:
    """One passage, read whole."""

    tokens: NDArray[np.float16]
    """Unit vectors of all tokens of all windows, shape `(tokens, dims)`; no rows for a text without any sign."""
    sentence_of: NDArray[np.int32]
    """Which sentence each token belongs to, never falling but for heading tokens, which have -1; shape
    `(tokens,)`."""
    sentences: NDArray[np.float16]
    """Unit vectors of its sentences, each with the heading's tokens, shape `(sentences, dims)`."""
    ids: tuple[int, ...]
    """Vocabulary ids of heading and text, as the windows read them (overlaps stand twice)."""
    subject: Subject
    truncated: bool
    """True if the passage was longer than `MAX_WINDOWS` windows, or its heading left no room for it."""

    @property
    def bytes(self) -> int:
        """What keeping it costs, near enough."""
        arrays = self.tokens.nbytes + self.sentences.nbytes + self.sentence_of.nbytes
        return arrays + 36 * len(self.ids) + self.subject.bytes


def plain_text(text: str) -> str:
    """The text that a passage's identity is made of, so that two spellings of one passage are read alike.

    NFKC with white space folded; lone surrogates, which no tokenizer takes, become question marks.
    """
    folded = " ".join(unicodedata.normalize("NFKC", text).split())
    return folded.encode("utf-8", "replace").decode("utf-8")


def canonical_heading(passage: Passage) -> str:
    """The heading of the first source in alphabetical order: which source came first does not matter (S10)."""
    first = min(passage.provenance, key=lambda place: (place.source_id, place.title, place.section))
    heading = ", ".join(part for part in (first.title, first.section) if part)
    return plain_text(heading)[:HEADING_CHARACTERS].rstrip()


class SharedEncoder:
    """An encoder whose forward passes are shared by the threads that read at the same time. Thread-safe.

    Args:
        encoder: The backbone.
    """

    def __init__(self, encoder: TokenEncoder) -> None:
        self._encoder = encoder
        self._combined: Combiner[str, TokenStates | None] = Combiner(self._read, lanes=free_lanes)

    @property
    def name(self) -> str:
        """That of the encoder."""
        return self._encoder.name

    def read(self, texts: Sequence[str]) -> list[TokenStates | None]:
        """The texts' states, in order; None where the encoder gave something that cannot be used (case S04).

        Raises:
            Exception: what the encoder raises for one of these texts.
        """
        return self._combined(texts)

    def _read(self, texts: Sequence[str]) -> list[TokenStates | None]:
        """All of them together; if that gives anything unusable, each alone: none may spoil another."""
        answers = self._encoder.token_states(texts)
        if len(answers) == len(texts) and all(map(_usable, answers)):
            return list(answers)
        return [None] if len(texts) == 1 else [one for text in texts for one in self._read([text])]


def _usable(states: TokenStates | None) -> bool:
    return states is not None and states.states.ndim == 2 and bool(np.isfinite(states.states).all())


def free_lanes() -> int:
    """Forward passes that run side by side without competing for cores, as torch's threads are set."""
    import torch

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // torch.get_num_threads())


class PassageReader:
    """Reads passages through an encoder, several in one forward pass, and remembers them. Thread-safe.

    What else is in its pass changes a state by float32 rounding only, and a score by far less than 1e-4 (S10).

    Args:
        encoder: The backbone.
        idf: The profile's IDF by vocabulary id, for the weight of names.
        memory_bytes: The most that is kept.
    """

    def __init__(
        self, encoder: SharedEncoder, idf: NDArray[np.float32], *, memory_bytes: int = MEMORY_BYTES
    ) -> None:
        self._encoder = encoder
        self._idf = idf
        self._memo: Memo[tuple[str, str], PassageStates] = Memo(memory_bytes, lambda states: states.bytes)

    def read(self, passages: Sequence[Passage]) -> Iterator[tuple[Passage, PassageStates | None]]:
        """Each passage with its states, or None if the encoder gave nothing usable (case S04); in any order."""
        unread: list[Passage] = []
        for passage in passages:
            states = self._memo.get(_key(passage))
            if states is None:
                unread.append(passage)
            else:
                yield passage, states
        for passage, draft in self._drafts(unread):
            states = None if draft is None or not draft.windows else _states(draft, self._idf)
            if states is not None:
                self._memo.put(_key(passage), states)
            yield passage, states

    def _drafts(self, passages: Sequence[Passage]) -> Iterator[tuple[Passage, Draft | None]]:
        """Each passage, read; None if a window of it has no usable states. Similar lengths are read together."""
        ahead = sorted(passages, key=lambda passage: (len(passage.text), passage.id))
        under_way: list[tuple[Passage, Draft]] = []
        while ahead or under_way:
            room = CHARACTERS_AT_ONCE - sum(len(draft.text) for _, draft in under_way)
            while ahead and (not under_way or len(ahead[-1].text) <= room):
                passage = ahead.pop()
                under_way.append((passage, Draft(canonical_heading(passage), plain_text(passage.text))))
                room -= len(passage.text)
            unfinished = [(passage, draft) for passage, draft in under_way if not draft.complete]
            yield from ((passage, draft) for passage, draft in under_way if draft.complete)
            under_way = []
            answers = self._encoder.read([draft.next_input for _, draft in unfinished])
            for (passage, draft), states in zip(unfinished, answers, strict=True):
                if states is None:
                    yield passage, None
                else:
                    draft.add(states)
                    under_way.append((passage, draft))


def _key(passage: Passage) -> tuple[str, str]:
    return passage.id, canonical_heading(passage)


def _states(draft: Draft, idf: NDArray[np.float32]) -> PassageStates:
    windows = draft.windows
    places = [_sentence_of(window) for window in windows]
    vectors = [_sentence_vectors(window, place) for window, place in zip(windows, places, strict=True)]
    return PassageStates(
        tokens=np.concatenate([unit(window.states.states) for window in windows]).astype(np.float16),
        sentence_of=_continued(places),
        sentences=np.concatenate(vectors).astype(np.float16),
        ids=tuple(key for window in windows for key in window.states.ids),
        subject=subject_of(draft.heading, windows, places, idf),
        truncated=draft.truncated,
    )


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length one; a row of zeros stays."""
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True).clip(1e-9), dtype=np.float32)


def _sentence_of(window: Window) -> NDArray[np.int32]:
    """The number of each token's sentence in its window, -1 for the heading's, shape `(tokens,)`."""
    begins = np.array([begin for begin, _ in window.states.spans], dtype=np.int64)
    starts = np.array([begin for begin, _ in window.sentences], dtype=np.int64)
    places = (np.searchsorted(starts, begins, side="right") - 1).clip(0)
    return np.where(begins < window.offset, HEADING, places).astype(np.int32)


def _continued(places: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Sentence numbers of all windows, counted on from one to the next."""
    counted, first = [], 0
    for place in places:
        counted.append(np.where(place == HEADING, HEADING, place + first).astype(np.int32))
        first += int(place.max(initial=HEADING)) + 1
    return np.concatenate(counted)


def _sentence_vectors(window: Window, place: NDArray[np.int32]) -> NDArray[np.float32]:
    """Unit means of each sentence's token states together with the heading's, shape `(sentences, dims)`."""
    heading = place == HEADING
    means = [
        window.states.states[heading | (place == number)].mean(axis=0) for number in np.unique(place[~heading])
    ]
    return unit(np.array(means, dtype=np.float32).reshape(len(means), window.states.states.shape[1]))
