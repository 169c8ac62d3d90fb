"""The corpus as a pool of distractors."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from retrieval import Passage
from retrieval.corpora import open_corpus, passages
from retrieval.index.cut import MAX_WORDS, OVERLAP
from retrieval.text import tokenise

from ..corpus import WHOLE_WORDS
from ..errors import SettingsError

TRIES = 200
"""Draws before a distractor is given up: the record then has none and is counted as dropped."""


class Pool:
    """Distinct passages, to be drawn at random or by a word of their title.

    Raises:
        SettingsError: there is no passage at all.
    """

    def __init__(self, found: Iterable[Passage]) -> None:
        # what is drawn must not depend on the order in which a corpus was written: of one text under several
        # titles the first title counts
        unique: dict[str, Passage] = {}
        for passage in found:
            known = unique.setdefault(passage.id, passage)
            if _place(passage) < _place(known):
                unique[passage.id] = passage
        self._passages = [unique[key] for key in sorted(unique)]
        if not self._passages:
            raise SettingsError(
                "The corpus holds no passage to draw distractors from. Give --corpus another file."
            )
        self._by_word: dict[str, list[int]] = {}
        for place, passage in enumerate(self._passages):
            for word in title_words(passage.title):
                self._by_word.setdefault(word, []).append(place)

    @classmethod
    def read(cls, corpus: Path) -> Pool:
        """The passages that an index of this corpus would hold, without building one.

        Raises:
            CorpusError: the corpus cannot be read.
        """
        opened = open_corpus(corpus)
        max_words, overlap = (WHOLE_WORDS, 0) if opened.format == "jsonl" else (MAX_WORDS, OVERLAP)
        return cls(
            passage for document in opened for passage in passages(document, max_words=max_words, overlap=overlap)
        )

    def __len__(self) -> int:
        return len(self._passages)

    def draws(self, generator: random.Random) -> Iterator[Passage]:
        """Passages at random, `TRIES` of them at most."""
        for _ in range(TRIES):
            yield generator.choice(self._passages)

    def draws_like(self, title: str, generator: random.Random) -> Iterator[Passage]:
        """Passages whose title shares a word of more than three characters with `title`, at random."""
        places = sorted({place for word in title_words(title) for place in self._by_word.get(word, ())})
        for place in generator.sample(places, min(TRIES, len(places))):
            yield self._passages[place]


def _place(passage: Passage) -> tuple[str, ...]:
    return passage.title, passage.section, passage.source_id, passage.text


def title_words(title: str) -> Sequence[str]:
    """The distinct words of a title that are longer than three characters (RINSE, appendix B)."""
    return tuple(dict.fromkeys(word for word in tokenise(title) if len(word) > 3))
