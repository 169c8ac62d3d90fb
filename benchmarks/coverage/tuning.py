"""The best threshold of similarity, found on questions for which both outcomes are known."""

from __future__ import annotations

from collections.abc import Sequence

from .lines import Line
from .strategies import NEVER, Nearest


def best_threshold(lines: Sequence[Line], nearest: Nearest, *, recall: float) -> float:
    """The cosine with which the fewest of these questions would have asked the web, at this support recall.

    The lines are of `Similarity` with a threshold that nothing reaches: each question was searched on the web, and
    what the cache would have served was noted. A threshold is judged by the mean over answerable questions of the
    share of support that is served, from the cache at or above it, from the web below. Ties go to the higher one.

    Args:
        lines: Of the first part of the stream.
        nearest: What the threshold looks at.
        recall: The least support recall, in [0, 1].

    Returns:
        A cosine, or `NEVER` if none reaches the recall.
    """
    cosines = {cosine for line in lines if (cosine := cosine_of(line, nearest)) is not None}
    best, fewest = NEVER, len(lines) + 1
    for threshold in sorted(cosines, reverse=True):
        misses = sum(not _hits(line, nearest, threshold) for line in lines)
        if misses < fewest and recall_at(lines, nearest, threshold) >= recall:
            best, fewest = threshold, misses
    return best


def cosine_of(line: Line, nearest: Nearest) -> float | None:
    """What the threshold is held against."""
    return line.nearest_question if nearest == "question" else line.nearest_passage


def recall_at(lines: Sequence[Line], nearest: Nearest, threshold: float) -> float:
    """Support recall with this threshold, over answerable questions; 1 without any."""
    shares = [
        ((line.would_hold or 0) if _hits(line, nearest, threshold) else line.held) / line.needs
        for line in lines
        if line.needs
    ]
    return sum(shares) / len(shares) if shares else 1.0


def support_recall(lines: Sequence[Line]) -> float:
    """The mean share of annotated support that was served, over answerable questions; 1 without any."""
    shares = [line.held / line.needs for line in lines if line.needs]
    return sum(shares) / len(shares) if shares else 1.0


def _hits(line: Line, nearest: Nearest, threshold: float) -> bool:
    cosine = cosine_of(line, nearest)
    return cosine is not None and cosine >= threshold
