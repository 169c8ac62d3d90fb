"""How much each word of the questions weighs: document frequencies of one dataset and construction."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from retrieval import EvidenceSet, Passage
from retrieval.text import tokenise
from rinse.order import bm25_of_counts

from ..contrasts.model import Contrast


class Lexicon:
    """Document frequencies of words over distinct passages.

    They are counted once, before passages are added to the sides (RINSE, table 2: all k use the weights of k = 0).
    A word is a token of `retrieval.text.tokenise`; a passage is read with its title, as scorers see it.
    """

    def __init__(self, passages: Iterable[Passage]) -> None:
        self._words: dict[str, tuple[str, ...]] = {}
        self._counts: dict[str, Counter[str]] = {}
        self._questions: dict[str, _Asked] = {}
        self._matches: dict[tuple[str, str], Match] = {}
        self._frequency: Counter[str] = Counter()
        self._passages = length = 0
        # A text under two titles is one passage and counts once, whichever of them comes first.
        for text in dict(sorted({(one.id, one.full_text) for one in passages})).values():
            words = self._read(text)
            self._frequency.update(set(words))
            self._passages += 1
            length += len(words)
        self.average_length = length / self._passages if length else 1.0
        """Words of an average passage; 1 where there is no word at all."""

    @classmethod
    def of(cls, contrasts: Iterable[Contrast]) -> Lexicon:
        """The lexicon of the passages that sides hold; passages that are only there to be added do not count."""
        return cls(
            contrast.passages[key] for contrast in contrasts for side in contrast.sides for key in side.passages
        )

    def __len__(self) -> int:
        """Passages that were counted."""
        return self._passages

    def words(self, passage: Passage) -> tuple[str, ...]:
        """The words of the passage with its title, in order, repeats kept; remembered."""
        return self._read(passage.full_text)

    def _read(self, text: str) -> tuple[str, ...]:
        known = self._words.get(text)
        if known is None:
            # Thousands of passages share few words: interned, they cost a pointer each.
            known = self._words[text] = tuple(map(sys.intern, tokenise(text)))
        return known

    def weight(self, word: str) -> float:
        """`log((n + 1) / (df + 1)) + 1` for n passages, df of them with the word; at least 1.

        A word that no passage holds has df = 0 and weighs most.
        """
        return math.log((self._passages + 1) / (self._frequency[word] + 1)) + 1

    def match(self, question: str, passage: Passage) -> Match:
        """What one passage holds of one question; remembered, since the sides of a group share both."""
        text = passage.full_text
        known = self._matches.get((question, text))
        if known is None:
            known = self._matches[question, text] = self._asked(question).match(self._counted(text))
        return known

    def order(self, question: str, evidence: EvidenceSet) -> list[tuple[str, float]]:
        """Passage ids with their BM25 against the question, best first, ties by passage id."""
        scores = ((one.id, self.match(question, one).bm25) for one in evidence)
        return sorted(scores, key=lambda item: (-item[1], item[0]))

    def distinct(self, question: str) -> int:
        """Distinct words of the question."""
        return len(self._asked(question).weights)

    def _asked(self, question: str) -> _Asked:
        known = self._questions.get(question)
        if known is None:
            known = self._questions[question] = _Asked(question, self)
        return known

    def _counted(self, text: str) -> Counter[str]:
        known = self._counts.get(text)
        if known is None:
            known = self._counts[text] = Counter(self._read(text))
        return known


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What a passage holds of a question."""

    words: frozenset[str]
    """The question's words that it holds."""
    coverage: float
    """Share of the question's IDF weight that they carry, each distinct word once, in [0, 1]; 0 of no word."""
    bm25: float


class _Asked:
    """A question, made ready to be held against many passages."""

    def __init__(self, question: str, lexicon: Lexicon) -> None:
        words = tokenise(question)
        self.weights = {word: lexicon.weight(word) for word in dict.fromkeys(words)}
        # fsum rounds once: passages that cover equal weights tie exactly, whatever the order of the words
        self._whole = math.fsum(self.weights.values())
        numbers = {word: number for number, word in enumerate(self.weights)}
        self._numbers = numbers
        self._ids = [numbers[word] for word in words]
        self._idf = np.array(list(self.weights.values()), dtype=np.float32)
        self._average = lexicon.average_length

    def match(self, counts: Counter[str]) -> Match:
        held = frozenset(word for word in self.weights if word in counts)
        score = bm25_of_counts(
            self._ids,
            {self._numbers[word]: counts[word] for word in held},
            counts.total(),
            idf=self._idf,
            average_length=self._average,
        )
        covered = math.fsum(self.weights[word] for word in held) / self._whole if held else 0.0
        return Match(words=held, coverage=covered, bm25=score)
