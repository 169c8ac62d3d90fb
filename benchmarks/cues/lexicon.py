"""How much each word of the questions weighs: document frequencies of one dataset and construction."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable

import numpy as np

from retrieval import EvidenceSet, Passage
from retrieval.text import tokenise
from rinse.order import canonical_order

from ..contrasts.model import Contrast


class Lexicon:
    """Document frequencies of words over distinct passages.

    They are counted once, before passages are added to the sides (RINSE, table 2: all k use the weights of k = 0).
    A word is a token of `retrieval.text.tokenise`; a passage is read with its title, as scorers see it.
    """

    def __init__(self, passages: Iterable[Passage]) -> None:
        self._words: dict[str, tuple[str, ...]] = {}
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

    def order(self, question: str, evidence: EvidenceSet) -> list[tuple[str, float]]:
        """Passage ids with their BM25 against the question, best first, ties by passage id."""
        asked = tokenise(question)
        # Ids are local to the question: all words that it does not ask for share one, which only counts as length.
        ids = {word: number for number, word in enumerate(dict.fromkeys(asked))}
        return canonical_order(
            [ids[word] for word in asked],
            {one.id: [ids.get(word, len(ids)) for word in self.words(one)] for one in evidence},
            idf=np.array([self.weight(word) for word in ids], dtype=np.float32),
            average_length=self.average_length,
        )
