"""The engines that `benchmarks.sparse` compares, behind one face. All of them read `retrieval.text.terms`."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from rank_bm25 import BM25Okapi

from retrieval.index.sparse import SparseIndex
from retrieval.text import terms, tokenise

Items = Iterable[tuple[str, str]]


def engine_versions() -> dict[str, str | None]:
    """Versions of what is compared; None = not installed."""
    found: dict[str, str | None] = {"sqlite": sqlite3.sqlite_version}
    for name in ("tantivy", "rank-bm25", "pystemmer"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found


class Engine(Protocol):
    """A BM25 index in a folder."""

    def add(self, items: Items) -> None:
        """Add documents, as id and text, durably."""
        ...

    def delete(self, ids: Iterable[str]) -> None:
        """Remove documents, durably."""
        ...

    def search(self, query: str, k: int) -> list[str]:
        """Ids of the best k documents, best first."""
        ...

    def close(self) -> None:
        """Release the files."""
        ...


class LowLengths(SparseIndex):
    """The product's index with the other usual pair of parameters."""

    k1 = 0.9
    b = 0.4


class WholeWords(SparseIndex):
    """The product's index without stemming."""

    @staticmethod
    def words(text: str) -> list[str]:
        """See `SparseIndex`."""
        return tokenise(text)


class Own:
    """The product's index, or a variant of it."""

    def __init__(self, folder: Path, kind: type[SparseIndex] = SparseIndex) -> None:
        self._index = kind.create(folder)

    def add(self, items: Items) -> None:
        """See `Engine`."""
        self._index.add(items)
        self._index.commit()

    def delete(self, ids: Iterable[str]) -> None:
        """See `Engine`."""
        self._index.delete(ids)
        self._index.commit()

    def search(self, query: str, k: int) -> list[str]:
        """See `Engine`."""
        return [key for key, _ in self._index.search(query, k)]

    def close(self) -> None:
        """See `Engine`."""
        self._index.close()


class Tantivy:
    """Tantivy with one writing thread; k1 = 1.2 and b = 0.75 are fixed in it."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        self._tantivy: Any = tantivy
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_text_field("body", tokenizer_name="whitespace", index_option="freq")
        self._schema = builder.build()
        folder.mkdir(parents=True)
        self._index = tantivy.Index(self._schema, path=str(folder))

    def add(self, items: Items) -> None:
        """See `Engine`."""
        self._write(
            lambda writer: [
                writer.add_document(self._tantivy.Document(id=[key], body=[" ".join(terms(text))]))
                for key, text in items
            ]
        )

    def delete(self, ids: Iterable[str]) -> None:
        """See `Engine`."""
        self._write(lambda writer: [writer.delete_documents_by_term("id", key) for key in ids])

    def search(self, query: str, k: int) -> list[str]:
        """See `Engine`."""
        query_of, should = self._tantivy.Query, self._tantivy.Occur.Should
        clauses = [(should, query_of.term_query(self._schema, "body", term, "freq")) for term in terms(query)]
        searcher = self._index.searcher()
        hits = searcher.search(query_of.boolean_query(clauses), k, count=False).hits
        return [searcher.doc(address)["id"][0] for _, address in hits]

    def close(self) -> None:
        """See `Engine`."""

    def _write(self, change: Callable[[Any], object]) -> None:
        writer = self._index.writer(heap_size=64_000_000, num_threads=1)
        change(writer)
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()


class Fts5:
    """SQLite's FTS5 with its own bm25(); k1 = 1.2, b = 0.75 and an idf of at least 1e-6 are fixed in it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._connection = sqlite3.connect(folder / "fts5.sqlite")
        self._connection.execute(
            "CREATE VIRTUAL TABLE texts USING fts5"
            "(id UNINDEXED, body, tokenize = \"unicode61 remove_diacritics 0 tokenchars '+#.'\")"
        )
        self._connection.execute("CREATE TABLE numbers (id TEXT PRIMARY KEY, number INTEGER NOT NULL)")

    def add(self, items: Items) -> None:
        """See `Engine`."""
        for number, (key, text) in enumerate(items):
            self._connection.execute(
                "INSERT INTO texts (rowid, id, body) VALUES (?, ?, ?)", (number, key, " ".join(terms(text)))
            )
            self._connection.execute("INSERT INTO numbers VALUES (?, ?)", (key, number))
        self._connection.execute("INSERT INTO texts (texts) VALUES ('optimize')")
        self._connection.commit()

    def delete(self, ids: Iterable[str]) -> None:
        """See `Engine`."""
        self._connection.executemany(
            "DELETE FROM texts WHERE rowid = (SELECT number FROM numbers WHERE id = ?)", ((key,) for key in ids)
        )
        self._connection.commit()

    def search(self, query: str, k: int) -> list[str]:
        """See `Engine`."""
        match = " OR ".join(f'"{term}"' for term in terms(query))
        rows = self._connection.execute(
            "SELECT id FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?", (match, k)
        )
        return [key for (key,) in rows]

    def close(self) -> None:
        """See `Engine`."""
        self._connection.close()


class _LuceneIdf(BM25Okapi):  # type: ignore[misc]  # rank-bm25 has no types
    def _calc_idf(self, nd: dict[str, int]) -> None:
        self.idf = {word: math.log(1 + (self.corpus_size - n + 0.5) / (n + 0.5)) for word, n in nd.items()}


class RankBm25:
    """The oracle: rank-bm25 with Lucene's idf, in memory. It cannot delete."""

    def __init__(self, items: Items) -> None:
        self._ids, texts = zip(*items, strict=True)
        self._bm25 = _LuceneIdf([terms(text) for text in texts], k1=1.2, b=0.75)

    def search(self, query: str, k: int) -> list[str]:
        """Ids of the best k documents, best first, ties by id."""
        scores = self._bm25.get_scores(terms(query))
        found = np.flatnonzero(scores > 0)
        return [self._ids[number] for number in sorted(found, key=lambda one: (-scores[one], self._ids[one]))[:k]]
