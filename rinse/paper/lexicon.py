"""The words of questions and evidence: WordPieces with the profile's IDF.

The paper cuts questions into WordPieces (Devlin et al. 2019), but none of its three backbones reads WordPieces. So
the windows are made by BERT's uncased vocabulary, which the default backbone of Sufficit carries; of that model
only `tokenizer.json` is read. Its tokens also carry the IDF and the canonical order.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.backbones import Backbone

from ..errors import ProfileError
from .pairs import PlainTokenizer, Tokens


class WordPieces(PlainTokenizer):
    """The tokenizer that makes the windows.

    Args:
        backbone: Only its `tokenizer.json` is read.
    """

    def __init__(self, backbone: Backbone) -> None:
        super().__init__(backbone)
        self.name = backbone.name
        content = (backbone.folder / "tokenizer.json").read_bytes()
        self.fingerprint = hashlib.sha256(content).hexdigest()
        """sha256 (hex) of `tokenizer.json`."""

    @property
    def size(self) -> int:
        """Tokens of the vocabulary."""
        return self.raw.get_vocab_size()

    @property
    def unknown(self) -> int | None:
        """The id of a sign that the vocabulary lacks."""
        found: int | None = self.raw.token_to_id("[UNK]")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """WordPieces and what each weighs.

    Raises:
        ProfileError: the table is not one finite number not below 0 for each token of the vocabulary, or the
            average is not positive.
    """

    words: WordPieces
    idf: NDArray[np.float32]
    """Inverse document frequency by vocabulary id (Spärck Jones 1972), not below 0, shape `(vocabulary,)`. Counted
    once on the files for fitting, never on the evidence."""
    average_tokens: float
    """WordPieces of an average passage with its heading, for BM25."""

    def __post_init__(self) -> None:
        idf = self.idf
        if idf.shape != (self.words.size,) or not np.isfinite(idf).all() or bool((idf < 0).any()):
            raise ProfileError(
                f"The IDF table must hold a finite number not below 0 for each of the {self.words.size} tokens of "
                f"{self.words.name}, its shape is {idf.shape}. Count it again with: sufficit fit"
            )
        if not self.average_tokens > 0:
            raise ProfileError(
                f"An average passage must have more than 0 tokens, not {self.average_tokens}. Fit it again."
            )

    @classmethod
    def count(cls, words: WordPieces, passages: Iterable[str], questions: Iterable[str]) -> Lexicon:
        """Count the table: `idf = -log(max over both collections of (df + 0.5) / (n + 1))`, at least 0.

        "what" stands in few passages and in every second question, and must weigh as little as "of" does. A token
        in neither collection weighs most.

        Args:
            words: The tokenizer.
            passages: Passages as readers see them, each once; taken as they come, never held together.
            questions: Questions, each once.

        Raises:
            ProfileError: there is no passage.
        """
        texts, tokens = _shares(words, passages)
        asked, _ = _shares(words, questions)
        idf = np.maximum(-np.log(np.maximum(texts, asked)), 0.0).astype(np.float32)
        return cls(words=words, idf=idf, average_tokens=tokens)

    def weights(self, tokens: Tokens) -> NDArray[np.float32]:
        """What each token weighs, shape `(tokens,)`."""
        return self.idf[np.asarray(tokens.ids, dtype=np.int64)]

    def occurs(self, tokens: Tokens, text: Sequence[int]) -> NDArray[np.float32]:
        """1 where a token occurs in `text`, otherwise 0, shape `(tokens,)`; an unknown sign never does."""
        there = set(text) - {self.words.unknown}
        return np.array([token in there for token in tokens.ids], dtype=np.float32)


def _shares(words: WordPieces, texts: Iterable[str]) -> tuple[NDArray[np.float64], float]:
    """Share of the texts that hold each token, smoothed, and the mean number of tokens in a text."""
    holding: Counter[int] = Counter()
    documents = tokens = 0
    for text in texts:
        ids = words.read([text])[0].ids
        holding.update(set(ids))
        documents += 1
        tokens += len(ids)
    df = np.zeros(words.size, dtype=np.float64)
    df[list(holding)] = list(holding.values())
    return (df + 0.5) / (documents + 1), tokens / documents if documents else 0.0
