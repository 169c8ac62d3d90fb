"""Opening a corpus: its format is found out, faults are counted and never stop it half way."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval.corpora import Corpus, ProblemKind, Progress, jsonl, open_corpus
from retrieval.errors import CorpusError

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def record(**fields: object) -> str:
    return json.dumps({"id": "a", "title": "Alder", "text": "The alder likes wet ground.", **fields})


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_a_record_becomes_a_document_with_one_section(tmp_path: Path) -> None:
    """All fields arrive, numbers are accepted as ids, keys that we do not know are ignored."""
    line = record(id=7, url="https://example.org/a", section="Habitat", aliases=["Alnus", "Aller"], extra=[1])
    (document,) = open_corpus(write(tmp_path / "c.jsonl", line))
    assert (document.id, document.title, document.url) == ("7", "Alder", "https://example.org/a")
    assert document.aliases == ("Alnus", "Aller")
    (section,) = document.sections
    assert (section.title, section.text) == ("Habitat", "The alder likes wet ground.")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
@pytest.mark.parametrize("name", ["c.jsonl", "without suffix"])
def test_content_decides_the_format(tmp_path: Path, pack: Callable[[bytes], bytes], name: str) -> None:
    """Compression and format are known by the first bytes, whatever the file is called; a BOM does not hurt."""
    path = tmp_path / name
    path.write_bytes(pack(b"\xef\xbb\xbf" + record().encode() + b"\n\n" + record(id="b").encode()))
    corpus = open_corpus(path)
    assert corpus.format == "jsonl"
    assert [document.id for document in corpus] == ["a", "b"]
    assert not corpus.problems


def test_each_fault_is_counted_by_kind_and_the_rest_is_read(tmp_path: Path) -> None:
    """Broken lines, missing fields, wrong types, blank texts and repeated ids: counted, with file and line."""
    path = tmp_path / "c.jsonl"
    lines = [
        record(),
        '{"id": "b", "text": ',
        json.dumps({"id": "c", "title": "No text"}),
        record(id="d", text=["a", "list"]),
        record(id="e", text=" \n"),
        record(text="The same id, another text."),
        '{"id": "lone surrogate", "text": "\\ud800"}',
        record(id="z"),
    ]
    path.write_bytes("\n".join(lines).encode() + b'\n{"id": "y", "text": "\xff\xfe"}\n')
    corpus = open_corpus(path)
    assert [document.id for document in corpus] == ["a", "a", "z"]
    assert corpus.problems == {
        "broken_record": 3,
        "missing_field": 1,
        "wrong_type": 1,
        "empty_text": 1,
        "repeated_id": 1,
    }
    by_kind = {problem.kind: problem for problem in corpus.examples}
    assert by_kind[ProblemKind.MISSING_FIELD].where == "c.jsonl, line 3"
    assert "'text'" in by_kind[ProblemKind.MISSING_FIELD].detail


def test_counts_begin_anew_with_each_iteration(tmp_path: Path) -> None:
    """A corpus can be read twice and tells the same twice."""
    corpus = open_corpus(write(tmp_path / "c.jsonl", record(), "{"))
    first = [list(corpus), dict(corpus.problems)]
    assert first == [list(corpus), dict(corpus.problems)]
    assert corpus.problems == {"broken_record": 1}


def test_many_faults_of_a_kind_keep_few_examples(tmp_path: Path) -> None:
    """A file of a million broken lines must not fill the memory with examples."""
    corpus = open_corpus(write(tmp_path / "c.jsonl", record(), *["{"] * 50))
    list(corpus)
    assert corpus.problems == {"broken_record": 50}
    assert len(corpus.examples) == 5


def test_an_endless_line_is_skipped_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line above the limit is a counted problem, the next line is read."""
    monkeypatch.setattr(jsonl, "_LINE_BYTES", 200)
    corpus = open_corpus(write(tmp_path / "c.jsonl", record(), record(text="x" * 1000), record(id="b")))
    assert [document.id for document in corpus] == ["a", "b"]
    assert corpus.problems == {"too_large": 1}


def test_a_truncated_archive_gives_what_it_holds(tmp_path: Path) -> None:
    """A download that broke off is read up to the break, and the break is reported."""
    path = tmp_path / "c.jsonl.gz"
    lines = "\n".join(record(id=f"{n}", text=hashlib.sha256(bytes(n)).hexdigest()) for n in range(2000))
    path.write_bytes(gzip.compress(lines.encode())[:-5000])
    corpus = open_corpus(path)
    assert 0 < len(list(corpus)) < 2000
    assert corpus.problems["truncated"] == 1


def test_progress_runs_from_nothing_to_all_bytes(tmp_path: Path) -> None:
    """Progress counts bytes on disk, also of a compressed file."""
    path = tmp_path / "c.jsonl.gz"
    texts = [hashlib.sha256(bytes(n)).hexdigest() * 20 for n in range(3000)]
    path.write_bytes(gzip.compress("\n".join(record(id=text, text=text) for text in texts).encode()))
    corpus = open_corpus(path)
    assert corpus.progress.done == 0
    seen = [corpus.progress for _ in corpus]
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    assert seen[0].done < seen[-1].done
    assert corpus.progress == Progress(done=path.stat().st_size, total=path.stat().st_size)


def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    """So anybody can check an index's manifest with sha256sum."""
    path = write(tmp_path / "c.jsonl", record())
    assert open_corpus(path).sha256() == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["c.jsonl", "c.jsonl.gz"])
def test_an_empty_file_is_an_empty_corpus(tmp_path: Path, name: str) -> None:
    """R01: no documents, no exception."""
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"") if name.endswith(".gz") else b"")
    corpus = open_corpus(path)
    assert list(corpus) == []
    assert not corpus.problems


@pytest.mark.parametrize("texts", [[""], ["", ""], ["the the"]])
def test_corpora_of_next_to_nothing(tmp_path: Path, texts: list[str]) -> None:
    """R01: blank texts are counted and left out, stop words are text."""
    lines = [record(id=f"{n}", text=text) for n, text in enumerate(texts)]
    corpus = open_corpus(write(tmp_path / "c.jsonl", *lines))
    assert [document.sections[0].text for document in corpus] == [text for text in texts if text]
    assert corpus.problems == ({} if all(texts) else {"empty_text": texts.count("")})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'[{"id": "a", "text": "b"}]', "JSON array"),
        (b"<html><body>Hi</body></html>", "put HTML files into a folder"),
        (b"Just some words", "put .txt and .md files into a folder"),
        (b"PK\x03\x04 zip", "begins with"),
        (b'{"id": "a"}\n{"id": "b"}', r"line 1: The record has no 'text'"),
        (b'{\n "id": "a",\n "text": "pretty printed"\n}\n', "line 1"),
        (b"", "the file is empty"),
    ],
)
def test_what_is_no_corpus_is_refused_with_a_remedy(tmp_path: Path, content: bytes, expected: str) -> None:
    """The error names the file, what was found, what was expected and what to do, before anything is built."""
    path = tmp_path / "corpus"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=expected) as caught:
        open_corpus(path)
    assert str(path) in str(caught.value)
    assert "Expected" in str(caught.value)


def test_nothing_at_the_path_is_a_corpus_error(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="There is no corpus at"):
        open_corpus(tmp_path / "absent.jsonl")


def test_a_corpus_that_is_gone_is_a_corpus_error(tmp_path: Path) -> None:
    """Deleted between opening and reading: still a typed error, for reading and for hashing."""
    path = write(tmp_path / "c.jsonl", record())
    corpus = open_corpus(path)
    path.unlink()
    with pytest.raises(CorpusError, match="There is no corpus at"):
        list(corpus)
    with pytest.raises(CorpusError, match="There is no corpus at"):
        corpus.sha256()


@pytest.mark.parametrize("content", [b"\x1f\x8b broken gzip", b"BZh9 broken bzip2", b"\x1f\x8b"])
def test_a_damaged_archive_is_refused_at_once(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "c.jsonl.gz").write_bytes(content)
    with pytest.raises(CorpusError, match="cannot be read"):
        open_corpus(tmp_path / "c.jsonl.gz")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(tail=st.binary(max_size=300))
def test_no_bytes_stop_the_reading(tmp_path: Path, tail: bytes) -> None:
    """Whatever follows a good record, the corpus can be read to its end."""
    path = tmp_path / "c.jsonl"
    path.write_bytes(record().encode() + b"\n" + tail)
    documents = list(open_corpus(path))
    assert documents[0].id == "a"


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not on this machine")
@pytest.mark.parametrize(
    ("name", "documents"),
    [("corpus_wiki_pool", 37_322), ("corpus_2wiki_hipporag", 6_119), ("corpus_freshwiki", 2_474)],
)
def test_the_shared_corpora_load_without_a_problem(name: str, documents: int) -> None:
    """The corpora that benchmarks search."""
    corpus: Corpus = open_corpus(SHARED / f"{name}.jsonl.gz")
    assert sum(1 for _ in corpus) == documents
    assert not corpus.problems


def test_complaints_name_each_kind_and_the_first_of_it(tmp_path: Path) -> None:
    """One line a kind, of bounded length, whatever an id holds."""
    long = record(id="b\n" * 999)
    corpus = open_corpus(write(tmp_path / "c.jsonl", record(), "{", long, long, "{"))
    assert len(list(corpus)) == 3
    broken, repeated = corpus.complaints
    assert broken.startswith("broken record: 2, the first in c.jsonl, line 2: ")
    assert repeated.startswith("repeated id: 1, the first in c.jsonl, line 4: ")
    assert repeated.endswith("...")
    assert max(map(len, corpus.complaints)) < 500
