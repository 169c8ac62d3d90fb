"""The sparse index finds by words, ranks as BM25 says, and forgets what was deleted."""

from __future__ import annotations

import math
import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from rank_bm25 import BM25Okapi

from retrieval.index import postings
from retrieval.index.sparse import SPARSE_FILE, SparseIndex
from retrieval.text import terms

WORDS = st.sampled_from(["river", "rivers", "king", "bridge", "of", "the", "rare", "tower"])
DOCUMENTS = st.lists(WORDS, max_size=9).map(" ".join)
CORPORA = st.dictionaries(st.sampled_from("abcdefgh"), DOCUMENTS, max_size=8)


def built(folder: Path, texts: dict[str, str]) -> SparseIndex:
    """An index of these texts, open for writing."""
    index = SparseIndex.create(folder)
    index.add(texts.items())
    index.commit()
    return index


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "with spaces" / "sparse"


@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["the the"]])
def test_corpora_with_nothing_in_them(folder: Path, texts: list[str]) -> None:
    """Case R01: no words, no hits, no exception; the documents count nevertheless."""
    with built(folder, {str(number): text for number, text in enumerate(texts)}) as index:
        assert len(index) == len(texts)
        assert index.search("", 5) == []
        assert index.search("?! …", 5) == []
        assert index.search("bridge", 5) == []
        assert [key for key, _ in index.search("the", 5)] == (["0"] if texts == ["the the"] else [])


def test_a_word_in_one_of_two_documents(folder: Path) -> None:
    """Case R02: Robertson's idf is 0 here and would be negative below; the match still ranks first, above zero."""
    with built(folder, {"a": "a bridge over a river", "b": "a tower by a road"}) as index:
        assert [key for key, score in index.search("the bridge", 5) if score > 0] == ["a"]
        best, other = index.search("a river", 5)
        assert (best[0], other[0]) == ("a", "b")
        assert best[1] > other[1] > 0


def test_a_corpus_of_one_document(folder: Path) -> None:
    """Case R02: every word is in all documents."""
    with built(folder, {"only": "one bridge"}) as index:
        ((key, score),) = index.search("bridge", 5)
        assert key == "only"
        assert score == pytest.approx(math.log(1 + 0.5 / 1.5))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("首都", "tokyo"),
        ("日本の首都", "tokyo"),
        ("ﾃﾚﾋﾞ", "television"),
        ("テレビ", "television"),
        ("한국의 수도", "seoul"),
        ("กรุงเทพ", "bangkok"),
        ("столица России", "moscow"),
        ("العاصمة", "cairo"),
        ("長江", "yangtze"),
    ],
)
def test_scripts_without_spaces_and_other_alphabets(folder: Path, query: str, expected: str) -> None:
    """Case R03: the right document is found, and what shares nothing with the query is no hit."""
    texts = {
        "tokyo": "東京は日本の首都です。",
        "television": "テレビは二十世紀に広まった。",
        "seoul": "서울은 대한민국의 수도이다.",
        "bangkok": "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย",
        "moscow": "Москва является столицей, столица России.",
        "cairo": "القاهرة هي العاصمة الكبرى.",
        "yangtze": "长江 (長江) 是亚洲第一长河。",
        "london": "London is the capital of England.",
    }
    with built(folder, texts) as index:
        hits = index.search(query, 10)
        assert hits[0][0] == expected
        assert all(score > 0 for _, score in hits)
        assert "london" not in dict(hits)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (unicodedata.normalize("NFD", "Café Zürich"), unicodedata.normalize("NFC", "zürich")),
        (unicodedata.normalize("NFC", "Café Zürich"), unicodedata.normalize("NFD", "zürich")),
        ("Ｆｕｌｌ ｗｉｄｔｈ １９６４", "1964"),
        ("plain ascii", "ａｓｃｉｉ"),
        ("a co\u200doperative", "cooperative"),
        ("Muller's mill", "Müller"),
    ],
)
def test_one_text_in_two_forms(folder: Path, text: str, query: str) -> None:
    """Case R04: composed and decomposed, full-width and ASCII, zero-width joiners."""
    with built(folder, {"a": text, "b": "something else"}) as index:
        assert [key for key, _ in index.search(query, 5)] == ["a"]


def test_never_more_hits_than_documents_or_k(folder: Path) -> None:
    """Case R07: three documents and k = 10 are three hits; k = 0 none; an empty index none."""
    with built(folder, dict.fromkeys("abc", "bridge")) as index:
        assert [key for key, _ in index.search("bridge", 10)] == ["a", "b", "c"]
        assert index.search("bridge", 0) == index.search("bridge", -1) == []
        index.delete("abc")
        index.commit()
        assert index.search("bridge", 10) == []


def test_hits_share_nothing(folder: Path, tmp_path: Path) -> None:
    """Case R08: k = 5 then 10, another index, a list that the caller empties: every answer is its own."""
    texts = {f"{number:02}": "bridge" + " and" * number for number in range(12)}
    with built(folder, texts) as index, built(tmp_path / "other", {"x": "bridge"}) as other:
        five = index.search("bridge", 5)
        ten = index.search("bridge", 10)
        assert (len(five), len(ten)) == (5, 10)
        assert ten[:5] == five
        ten.clear()
        assert len(index.search("bridge", 10)) == 10
        assert [key for key, _ in other.search("bridge", 5)] == ["x"]


def test_distinct_queries_on_a_fresh_index(folder: Path) -> None:
    """Case R09: two queries, two answers, also after opening the index again."""
    built(folder, {"a": "a stone bridge", "b": "a wooden tower"}).close()
    with SparseIndex.open(folder) as index:
        assert [key for key, _ in index.search("bridge", 5)] == ["a"]
        assert [key for key, _ in index.search("tower", 5)] == ["b"]


def test_ties_are_ordered_by_id_even_at_the_edge(folder: Path) -> None:
    """Of many equal documents the smallest ids win, in whatever order they came."""
    keys = [f"{number:03}" for number in np.random.default_rng(0).permutation(200)]
    with built(folder, dict.fromkeys(keys, "same words")) as index:
        assert [key for key, _ in index.search("words", 7)] == [f"{number:03}" for number in range(7)]


def test_excluded_documents_make_room_for_others(folder: Path) -> None:
    with built(folder, dict.fromkeys("abcd", "bridge")) as index:
        hits = index.search("bridge", 2, exclude=frozenset({"a", "c", "unknown"}))
        assert [key for key, _ in hits] == ["b", "d"]


def test_the_order_of_query_words_does_not_matter(folder: Path) -> None:
    with built(folder, {"a": "red bridge king", "b": "bridge of the king tower"}) as index:
        assert index.search("king bridge tower", 5) == index.search("tower king bridge", 5)


def test_scores_are_those_of_rank_bm25(tmp_path_factory: pytest.TempPathFactory) -> None:
    """An oracle that is not ours: rank-bm25 with its idf replaced by Lucene's, which is never negative."""

    @settings(max_examples=40, deadline=None)
    @given(texts=CORPORA, query=DOCUMENTS)
    def check(texts: dict[str, str], query: str) -> None:
        with built(tmp_path_factory.mktemp("oracle"), texts) as index:
            found = dict(index.search(query, 20))
        assert found == pytest.approx(oracle(texts, query))

    check()


class LuceneIdf(BM25Okapi):  # type: ignore[misc]  # rank-bm25 has no types
    """rank-bm25 with ln(1 + (N - n + 0.5) / (n + 0.5))."""

    def _calc_idf(self, nd: dict[str, int]) -> None:
        self.idf = {word: math.log(1 + (self.corpus_size - n + 0.5) / (n + 0.5)) for word, n in nd.items()}


def oracle(texts: dict[str, str], query: str) -> dict[str, float]:
    """Scores above zero by id."""
    documents = [terms(text) for text in texts.values()]
    if not any(documents):
        return {}
    scores = LuceneIdf(documents, k1=1.2, b=0.75).get_scores(terms(query))
    return {key: score for key, score in zip(texts, scores, strict=True) if score > 0}


class Churn(RuleBasedStateMachine):
    """After any adds, replacements, deletes and commits the index equals a fresh one of what is left."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    @initialize(texts=CORPORA)
    def start(self, texts: dict[str, str]) -> None:
        self.index = built(self.folder, texts)
        self.committed, self.pending = dict(texts), dict(texts)

    @rule(texts=CORPORA)
    def add(self, texts: dict[str, str]) -> None:
        self.index.add(texts.items())
        self.pending |= texts

    @rule(keys=st.sets(st.sampled_from("abcdefgh")))
    def delete(self, keys: set[str]) -> None:
        self.index.delete(keys)
        self.pending = {key: text for key, text in self.pending.items() if key not in keys}

    @rule()
    def commit(self) -> None:
        self.index.commit()
        self.committed = dict(self.pending)

    @rule()
    def reopen(self) -> None:
        self.index.close()
        self.index = SparseIndex.open(self.folder, read_only=False)
        self.pending = dict(self.committed)

    @invariant()
    def equals_what_was_committed(self) -> None:
        assert set(self.index.ids()) == set(self.committed)
        assert len(self.index) == len(self.committed)
        for query in ("river king", "the rare bridge", "of"):
            assert dict(self.index.search(query, 20)) == pytest.approx(oracle(self.committed, query))

    def teardown(self) -> None:
        if hasattr(self, "index"):
            self.index.close()


@pytest.mark.parametrize("few", [0, 1_024])
def test_adds_and_deletes_leave_no_trace(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """Churn equals a fresh build, where dead entries are thrown away early and where they stay."""
    monkeypatch.setattr("retrieval.index.sparse._FEW", few)
    run_state_machine_as_test(
        lambda: Churn(tmp_path_factory.mktemp("churn")),  # type: ignore[arg-type]  # a factory will do
        settings=settings(max_examples=15, stateful_step_count=12, deadline=None),
    )


def test_equal_to_the_last_bit_after_churn(folder: Path, tmp_path: Path) -> None:
    """Scores do not merely come close to those of a fresh index: they are the same numbers."""
    generator = np.random.default_rng(7)
    vocabulary = [f"word{number}" for number in range(50)]
    texts = {f"{n:03}": " ".join(generator.choice(vocabulary, generator.integers(1, 30))) for n in range(300)}
    kept = {key: text for key, text in texts.items() if generator.random() < 0.4}
    with built(folder, texts) as churned, built(tmp_path / "fresh", kept) as fresh:
        churned.delete(set(texts) - set(kept))
        churned.commit()
        for query in (" ".join(generator.choice(vocabulary, 6)) for _ in range(20)):
            assert churned.search(query, 10) == fresh.search(query, 10)


def test_compaction_keeps_the_living(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Throwing away dead entries changes no answer, shrinks the lists and spans several blocks."""
    monkeypatch.setattr("retrieval.index.sparse._FEW", 0)
    monkeypatch.setattr(postings, "_BLOCK", 8)
    with built(folder, {f"{number:02}": f"bridge number{number}" for number in range(40)}) as index:
        before = index.search("number3 number17 number39 bridge", 40)
        assert len(before) == 40
        index.delete(f"{number:02}" for number in range(40) if number % 7)
        index.commit()
        assert list(index.ids()) == ["00", "07", "14", "21", "28", "35"]
        assert [key for key, _ in index.search("number21 bridge", 2)] == ["21", "00"]
        index.add([("99", "bridge number99")])
        index.commit()
        assert [key for key, _ in index.search("number99", 2)] == ["99"]
    with closing(sqlite3.connect(folder / SPARSE_FILE)) as raw:
        (entries,) = raw.execute("SELECT SUM(LENGTH(entries)) / 4 FROM postings").fetchone()
    assert entries == 14


def test_of_equal_ids_the_last_one_counts(folder: Path) -> None:
    with built(folder, {}) as index:
        index.add([("a", "bridge"), ("a", "tower")])
        index.add([("a", "castle")])
        index.commit()
        assert (len(index), index.search("bridge tower", 5)) == (1, [])
        assert [key for key, _ in index.search("castle", 5)] == ["a"]
