"""A passage on its way through the model: inputs that overlap, one after the other."""

from __future__ import annotations

from retrieval.index.encoder import TokenStates
from retrieval.text import sentences

from .subject import Window

SLICE_CHARACTERS = 4_000
"""Characters given to the tokenizer at once; far more than one input of the model holds."""
OVERLAP_TOKENS = 48
"""Tokens that two windows of a long passage share."""
MAX_WINDOWS = 128
"""Windows read of one passage, about 20,000 English words; the rest is not read and the score says so (S06)."""


class Draft:
    """The windows of one passage that were read so far. A window begins where the one before it was cut.

    Args:
        heading: Read again with every window; may be empty.
        text: The passage.
    """

    def __init__(self, heading: str, text: str) -> None:
        self.heading = heading
        self.text = text
        self.windows: list[Window] = []
        self._prefix = f"{heading}. " if heading else ""
        self._begin = 0

    @property
    def complete(self) -> bool:
        """Whether nothing is left to read, or `MAX_WINDOWS` were read."""
        return self._begin >= len(self.text) or len(self.windows) >= MAX_WINDOWS

    @property
    def next_input(self) -> str:
        """What the model reads next: the heading and a piece of the text."""
        return self._prefix + self._piece

    def add(self, states: TokenStates) -> None:
        """Take the model's answer to `next_input`."""
        piece, offset = self._piece, len(self._prefix)
        spans = tuple((start + offset, end + offset) for start, end in sentences(piece))
        self.windows.append(Window(states=states, text=self.next_input, offset=offset, sentences=spans))
        self._begin = _next_begin(states, self._begin, len(piece), offset, len(self.text))

    @property
    def truncated(self) -> bool:
        """Of a complete draft: whether some of the text was not read."""
        return self._begin < len(self.text) or any(map(_lost, self.windows))

    @property
    def _piece(self) -> str:
        return self.text[self._begin : self._begin + SLICE_CHARACTERS]


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
