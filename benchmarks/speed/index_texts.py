"""Passages and queries to measure an index on: invented words, as frequent as the words of a language.

What an index costs depends on how long the lists of its words are. So a few words are very frequent and most of
them rare (Zipf's law, in Mandelbrot's form), and a passage repeats some of its own words. Over 4,112 passages the
constants give 55 distinct words each, 34,000 in all and a share of 0.063 for the most frequent one; for as many
paragraphs of Wikipedia, of 88 words on average, these figures are 56, 28,000 and 0.068.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from retrieval import Passage

VOCABULARY = 200_000
"""Distinct words, far more than any passages use."""
PASSAGE_WORDS = 85
"""Of an average passage."""
QUERY_WORDS = 15
"""Of a query, the most frequent words included: people ask whole questions."""
_SPREAD = 30
_SHORTEST, _LONGEST = 20, 200
_EXPONENT, _OFFSET = 1.2, 2.5
_REPEATED = 0.2
"""Share of a passage's words that are copies of others in it."""
_BLOCK = 2_000
_SYLLABLES = tuple(consonant + vowel for consonant in "bcdfghjklmnprtvz" for vowel in "aiou")


def write_passages(count: int, *, seed: int) -> Iterator[Passage]:
    """Passages without titles; the same seed writes the same ones."""
    random = np.random.default_rng([seed, 1])
    for start in range(0, count, _BLOCK):
        drawn = random.normal(PASSAGE_WORDS, _SPREAD, size=min(_BLOCK, count - start))
        sizes = drawn.clip(_SHORTEST, _LONGEST).astype(np.int64)
        ends = np.cumsum(sizes)
        first = np.repeat(ends - sizes, sizes)  # of each word: where its passage begins
        inside = first + (random.random(len(first)) * np.repeat(sizes, sizes)).astype(np.int64)
        ranks = _ranks(random, len(first))
        ranks = np.where(random.random(len(first)) < _REPEATED, ranks[inside], ranks)
        words = _spelled(ranks)
        for at, (end, size) in enumerate(zip(ends.tolist(), sizes.tolist(), strict=True)):
            yield Passage(text=" ".join(words[end - size : end]), source_id=f"{start + at}")


def write_queries(count: int, *, seed: int) -> list[str]:
    """Queries whose words are as frequent as those of the passages."""
    random = np.random.default_rng([seed, 2])
    return [" ".join(_spelled(_ranks(random, QUERY_WORDS))) for _ in range(count)]


def _ranks(random: np.random.Generator, count: int) -> NDArray[np.intp]:
    return np.searchsorted(_shares(), random.random(count), side="right")


@cache
def _shares() -> NDArray[np.float64]:
    """Share of all words up to each rank."""
    weights = np.cumsum((np.arange(VOCABULARY) + 1 + _OFFSET) ** -_EXPONENT)
    return np.asarray(weights / weights[-1], dtype=np.float64)


def _spelled(ranks: NDArray[np.intp]) -> list[str]:
    """A word of two or three syllables for each rank; only stemming makes two of them alike."""
    return [
        _SYLLABLES[rank // 64 % 64] + _SYLLABLES[rank % 64] + (_SYLLABLES[rank // 4096] if rank >= 4096 else "")
        for rank in ranks.tolist()
    ]
