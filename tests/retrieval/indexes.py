"""Small corpora, the indexes of them, and encoders that count, fail or lie. Used by tests only."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval import Passage
from retrieval.index import Encoder, TransformerEncoder, build_index, index_info
from retrieval.index.store import PassageStore

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


def made(parent: Path, encoder: Encoder, texts: Iterable[str]) -> Path:
    """The folder of an index of these texts."""
    records = [{"id": str(n), "title": f"Title {n}", "text": text} for n, text in enumerate(texts)]
    build_index(jsonl(parent / "corpus.jsonl", records), parent / "index", encoder=encoder)
    return parent / "index"


def stored(out: Path) -> list[Passage]:
    """All passages of an index."""
    store = PassageStore(out / index_info(out).manifest.data)
    found = store.rows(0, 1_000_000)
    store.close()
    return found


def vectors(out: Path) -> bytes:
    return (out / index_info(out).manifest.data / "vectors.npy").read_bytes()


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
