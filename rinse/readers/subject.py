"""What a passage is about and whom it names, by which passages speak of each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.index.encoder import TokenStates

from .names import names

NAME_WEIGHT = 5.0
"""A name of less IDF is in too many passages to say anything."""
LONGEST_NAME_WEIGHT = 12.0
"""The most that a name of several word pieces weighs."""
HEADING = -1
"""Stands for the number of a sentence where a token is the heading's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One input of the model: the heading and a piece of the passage."""

    states: TokenStates
    text: str
    offset: int
    """Where the piece begins in `text`, behind the heading."""
    sentences: tuple[tuple[int, int], ...]
    """Of the piece, by characters of `text`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A passage's heading, words and names."""

    heading: tuple[int, ...]
    """Vocabulary ids of its heading, without what stands in parentheses."""
    body: frozenset[int]
    """Vocabulary ids of its text."""
    names: Mapping[str, float]
    """Names in heading and text, each with its IDF, above `NAME_WEIGHT`."""
    sentences: tuple[frozenset[str], ...]
    """Which of the names each sentence holds, itself or in the heading; the sentences that the model read."""

    @property
    def bytes(self) -> int:
        """What keeping it costs, near enough."""
        return 64 * (len(self.body) + 2 * len(self.names) + sum(4 + len(held) for held in self.sentences))


def subject_of(
    heading: str, windows: Sequence[Window], places: Sequence[NDArray[np.int32]], idf: NDArray[np.float32]
) -> Subject:
    """The subject of a passage.

    Args:
        heading: Its heading; may be empty.
        windows: The passage as the model read it.
        places: The number of each token's sentence in its window, or `HEADING`.
        idf: The profile's, by vocabulary id.
    """
    main = heading.partition("(")[0] or heading
    first = windows[0].states
    weights: dict[str, float] = {}
    sentences: list[frozenset[str]] = []
    for window, place in zip(windows, places, strict=True):
        found = list(_names(window, idf))
        weights |= {name: weight for name, _, weight in found}
        sentences += [
            frozenset(name for name, where, _ in found if where in (number, HEADING))
            for number in np.unique(place[place != HEADING])
        ]
    return Subject(
        heading=tuple(
            key
            for key, (begin, end) in zip(first.ids, first.spans, strict=True)
            if begin < len(main) and end <= len(main)
        ),
        body=frozenset(
            key
            for window in windows
            for key, (begin, _) in zip(window.states.ids, window.states.spans, strict=True)
            if begin >= window.offset
        ),
        names=weights,
        sentences=tuple(sentences),
    )


def _names(window: Window, idf: NDArray[np.float32]) -> Iterator[tuple[str, int, float]]:
    """Each name with the number of its sentence and its weight."""
    begins = np.array([begin for begin, _ in window.states.spans], dtype=np.int64)
    starts = [begin for begin, _ in window.sentences]
    for name, begin, end in names(window.text, frozenset(starts)):
        first, last = np.searchsorted(begins, (begin, end))
        pieces = [key for key in window.states.ids[first:last] if key < len(idf)]
        weight = float(idf[pieces].sum()) if pieces else 0.0
        weight = min(weight, LONGEST_NAME_WEIGHT) if len(pieces) > 1 else weight
        if weight > NAME_WEIGHT:
            number = HEADING if begin < window.offset else int(np.searchsorted(starts, begin, side="right")) - 1
            yield name, number, weight
