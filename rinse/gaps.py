"""Where the question is not covered: runs of weak windows as readable spans of its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import regex
from numpy.typing import NDArray

from .sufficiency import Gap

_WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['’ʼ.][\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How well the evidence covers a question, token by token and window by window."""

    tokens: NDArray[np.float32]
    """In [0, 1], shape `(tokens,)`."""
    windows: NDArray[np.float32]
    """In [0, 1], shape `(windows,)`."""
    content: NDArray[np.bool_]
    """Which tokens are more than function words and signs, shape `(tokens,)`."""
    token_spans: tuple[tuple[int, int], ...]
    """Characters of each token in the question."""
    window_spans: tuple[tuple[int, int], ...]
    """Tokens of each window."""


def find_gaps(question: str, coverage: Coverage, *, threshold: float) -> tuple[Gap, ...]:
    """The maximal runs of windows below `threshold`, in the order of the question.

    A window of function words alone belongs to no gap and ends none. A run becomes whole words; words at its
    edges that mean nothing by themselves or that are covered (a window that is weak as a whole may begin with the
    last covered word) are left out. A run without any other word is no gap.
    """
    words = [match.span() for match in _WORD.finditer(question)]
    open_words = [word for word in words if _is_open(word, coverage, threshold)]
    gaps: list[Gap] = []
    for run in _runs(coverage, threshold):
        begin = coverage.token_spans[coverage.window_spans[run[0]][0]][0]
        end = coverage.token_spans[coverage.window_spans[run[-1]][1] - 1][1]
        begin = max(begin, gaps[-1].end if gaps else 0)  # windows overlap, gaps do not
        inside = [(left, right) for left, right in open_words if right > begin and left < end and left >= begin]
        if inside:
            start, stop = inside[0][0], inside[-1][1]
            mean = float(np.mean([coverage.windows[i] for i in run]))
            gaps.append(Gap(start=start, end=stop, text=question[start:stop], coverage=mean))
    return tuple(gaps)


def whole_question(question: str) -> tuple[Gap, ...]:
    """Every word of the question as one gap without coverage: there is no evidence at all."""
    words = [match.span() for match in _WORD.finditer(question)]
    if not words:
        return ()
    start, stop = words[0][0], words[-1][1]
    return (Gap(start=start, end=stop, text=question[start:stop], coverage=0.0),)


def _runs(coverage: Coverage, threshold: float) -> Iterator[list[int]]:
    """Weak windows in runs; windows without content tokens are skipped as if they were not there."""
    run: list[int] = []
    for index, (begin, end) in enumerate(coverage.window_spans):
        if not coverage.content[begin:end].any():
            continue
        if coverage.windows[index] < threshold:
            run.append(index)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _is_open(word: tuple[int, int], coverage: Coverage, threshold: float) -> bool:
    """Whether a word has content and is not covered itself."""
    inside = [i for i, (left, right) in enumerate(coverage.token_spans) if right > word[0] and left < word[1]]
    mean = np.mean([coverage.tokens[i] for i in inside]) if inside else 0.0
    return bool(inside) and bool(coverage.content[inside].any()) and bool(mean < threshold)
