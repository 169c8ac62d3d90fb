"""Passages as a model sees them: token vectors and sentence vectors, read once and kept for every question."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval import Passage
from retrieval.index.encoder import TokenStates
from retrieval.memo import Memo
from retrieval.text import sentences

from .subject import HEADING, Subject, Window, subject_of

HEADING_CHARACTERS = 200
"""A longer heading is cut: it is read again with every window of the passage."""
SLICE_CHARACTERS = 4_000
"""Characters given to the tokenizer at once; far more than one input of the model holds."""
OVERLAP_TOKENS = 48
"""Tokens that two windows of a long passage share."""
MAX_WINDOWS = 128
"""Windows read of one passage, about 20,000 English words; the rest is not read and the score says so (S06)."""
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


class PassageReader:
    """Reads passages through an encoder, one at a time, and remembers them.

    One at a time: a forward pass over a batch differs in the last bits with the batch's other members, and a score
    must not depend on what else is there (cases S02, S10).

    Args:
        encoder: The backbone.
        idf: The profile's IDF by vocabulary id, for the weight of names.
        memory_bytes: The most that is kept.
    """

    def __init__(
        self, encoder: TokenEncoder, idf: NDArray[np.float32], *, memory_bytes: int = MEMORY_BYTES
    ) -> None:
        self._encoder = encoder
        self._idf = idf
        self._memo: Memo[tuple[str, str], PassageStates] = Memo(memory_bytes, lambda states: states.bytes)

    def read(self, passage: Passage) -> PassageStates | None:
        """The passage's states, or None if the encoder gave something that cannot be used (case S04)."""
        heading = canonical_heading(passage)
        key = (passage.id, heading)
        states = self._memo.get(key)
        if states is None:
            states = self._read(heading, plain_text(passage.text))
            if states is not None:
                self._memo.put(key, states)
        return states

    def _read(self, heading: str, text: str) -> PassageStates | None:
        prefix = f"{heading}. " if heading else ""
        windows: list[Window] = []
        begin = 0
        while begin < len(text) and len(windows) < MAX_WINDOWS:
            piece = text[begin : begin + SLICE_CHARACTERS]
            states = usable(self._encoder.token_states([prefix + piece]))
            if states is None:
                return None
            spans = tuple((start + len(prefix), end + len(prefix)) for start, end in sentences(piece))
            windows.append(Window(states=states, text=prefix + piece, offset=len(prefix), sentences=spans))
            begin = _next_begin(states, begin, len(piece), len(prefix), len(text))
        if not windows:
            return None
        places = [_sentence_of(window) for window in windows]
        return PassageStates(
            tokens=np.concatenate([unit(window.states.states) for window in windows]).astype(np.float16),
            sentence_of=_continued(places),
            sentences=np.concatenate(
                [_sentence_vectors(window, place) for window, place in zip(windows, places, strict=True)]
            ).astype(np.float16),
            ids=tuple(key for window in windows for key in window.states.ids),
            subject=subject_of(heading, windows, places, self._idf),
            truncated=begin < len(text) or any(map(_lost, windows)),
        )


def usable(answer: Sequence[TokenStates | None]) -> TokenStates | None:
    """The only element of an encoder's answer if it is made of finite numbers, otherwise None."""
    states = answer[0] if len(answer) == 1 else None
    if states is None or states.states.ndim != 2 or not np.isfinite(states.states).all():
        return None
    return states


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


def _lost(window: Window) -> bool:
    """Whether the heading alone filled the input: signs of some scripts are several tokens each."""
    return window.states.truncated and all(begin < window.offset for begin, _ in window.states.spans)


def _next_begin(window: TokenStates, begin: int, piece: int, offset: int, end: int) -> int:
    """Where the next window of a long passage begins; `end` if this one reached the end of the text."""
    if not window.truncated and begin + piece >= end:
        return end
    starts = [start - offset for start, _ in window.spans if start >= offset]
    if len(starts) <= 2 * OVERLAP_TOKENS:  # hardly any token fits beside the heading: go on without overlap
        return begin + max((stop - offset for _, stop in window.spans), default=piece) if starts else begin + piece
    return begin + starts[-OVERLAP_TOKENS]
