"""Small corpora, the indexes of them, and encoders that count, fail or lie. Used by tests only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval import Passage
from retrieval.corpora import Document, Section
from retrieval.index import Encoder, TransformerEncoder, build_index, index_info
from retrieval.index.layout import vectors_files
from retrieval.index.view import Data

TEXTS = {
    "bridge": "The old bridge was built by a captain in the north of the city.",
    "queen": "A queen was born on the island and moved to the castle.",
    "film": "The film is named for a river and was first seen in the east.",
    "japanese": "東京都は日本の首都です。",
    "kana": "テレビは居間にあります。",
    "korean": "서울은 대한민국의 수도이다.",
    "accents": "Zoë Müller lives in São Paulo.",
    "wide": "The model ＡＢＣ１２３ was sold in the west.",
}


def jsonl(path: Path, records: Iterable[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def numbered(count: int, *, word: str = "bridge") -> list[dict[str, str]]:
    return [
        {"id": str(number), "title": f"Title {number}", "text": f"The {word} number {number} of the old city."}
        for number in range(count)
    ]


def document(key: str, text: str, title: str = "") -> Document:
    return Document(id=key, title=title, sections=(Section(text=text),))


def made(parent: Path, encoder: Encoder, texts: Iterable[str]) -> Path:
    """The folder of an index of these texts."""
    records = [{"id": str(n), "title": f"Title {n}", "text": text} for n, text in enumerate(texts)]
    build_index(jsonl(parent / "corpus.jsonl", records), parent / "index", encoder=encoder)
    return parent / "index"


def stored(out: Path) -> list[Passage]:
    """All passages of an index."""
    with closing(Data(out / index_info(out).manifest.data)) as data, data.view() as view:
        return list(view.after(0, 1_000_000).values())


def vectors(out: Path) -> bytes:
    (file,) = vectors_files(out / index_info(out).manifest.data)
    return file.read_bytes()


class Hashing:
    """An encoder without a model: a text is the sum of a vector for each of its words. The same in any batch."""

    name, fingerprint, dims = "hashing", "h" * 64, 16

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self._row(text) for text in texts], dtype=np.float32).reshape(-1, self.dims)

    def _row(self, text: str) -> NDArray[np.float64]:
        row = np.full(self.dims, 1e-6)
        for word in text.lower().split():
            digest = hashlib.blake2b(word.encode(), digest_size=self.dims).digest()
            row += np.frombuffer(digest, np.int8)
        return np.asarray(row / np.linalg.norm(row))


class Noting(Hashing):
    """Notes what it encodes, and fails when it is told to."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.fails = False

    def encode(self, texts: Iterable[str]) -> NDArray[np.float32]:
        if self.fails:
            raise RuntimeError("the machine is on fire")
        self.texts.extend(texts)
        return super().encode(list(texts))


class Counting:
    """An encoder that counts what it encodes and fails after so many calls."""

    def __init__(self, inner: TransformerEncoder, *, fails_after: int | None = None) -> None:
        self._inner, self._left = inner, fails_after
        self.texts: list[str] = []

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def fingerprint(self) -> str:
        return self._inner.fingerprint

    @property
    def dims(self) -> int:
        return self._inner.dims

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._left is not None:
            if self._left == 0:
                raise RuntimeError("the machine is on fire")
            self._left -= 1
        self.texts.extend(texts)
        return self._inner.encode(texts)


class Broken(Counting):
    """An encoder whose vectors cannot be used."""

    def __init__(self, inner: TransformerEncoder, row: NDArray[np.float32]) -> None:
        super().__init__(inner)
        self._row = row

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.tile(self._row, (len(texts), 1)).astype(np.float32)


class Changed:
    """The tiny encoder with one property or method replaced."""

    def __init__(self, inner: TransformerEncoder, **changes: object) -> None:
        self._inner, self._changes = inner, changes

    @property
    def name(self) -> str:
        return str(self._changes.get("name", self._inner.name))

    @property
    def fingerprint(self) -> str:
        return str(self._changes.get("fingerprint", self._inner.fingerprint))

    @property
    def dims(self) -> int:
        dims = self._changes.get("dims", self._inner.dims)
        assert isinstance(dims, int)
        return dims

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        encode = self._changes.get("encode", self._inner.encode)
        assert callable(encode)
        vectors: NDArray[np.float32] = encode(texts)
        return vectors
