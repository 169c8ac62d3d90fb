"""`sufficit index` changes an index from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.cli import app
from retrieval.index import IndexWriter, TransformerEncoder
from tests.retrieval.indexes import jsonl, numbered

runner = CliRunner()


@pytest.fixture
def index(tmp_path: Path, tiny_backbone: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index of five records, built by the command."""
    monkeypatch.delenv("SUFFICIT_INDEX", raising=False)
    corpus = jsonl(tmp_path / "corpus.jsonl", numbered(5))
    done = run("build", str(corpus), "--out", str(tmp_path / "index"), "--encoder", str(tiny_backbone))
    assert (done["documents"], done["changes"], done["overlap"]) == (5, 0, 1)
    return tmp_path / "index"


def run(*arguments: str) -> dict[str, Any]:
    """What the command prints with `--json`, and nothing else on stdout."""
    done = runner.invoke(app, ["index", *arguments, "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_documents_are_added_replaced_deleted_and_compacted(
    tmp_path: Path, index: Path, tiny_backbone: Path
) -> None:
    """Each command says what the index holds afterwards."""
    where = ("--index", str(index), "--encoder", str(tiny_backbone))
    more = jsonl(
        tmp_path / "more.jsonl", [*numbered(2, word="castle"), {"id": "9", "title": "", "text": "A moor."}]
    )
    added = run("add", str(more), *where)
    assert (added["documents"], added["passages"], added["changes"]) == (6, 6, 1)
    assert run("add", str(more), *where)["changes"] == 1
    deleted = run("delete", "9", "3", *where)
    assert (deleted["documents"], deleted["changes"]) == (4, 2)
    assert run("compact", *where)["documents"] == 4
    shown = runner.invoke(app, ["index", "info", str(index)])
    assert "documents      4" in shown.stdout


def test_an_unknown_id_is_told_and_deletes_nothing(index: Path, tiny_backbone: Path) -> None:
    where = ["--index", str(index), "--encoder", str(tiny_backbone)]
    done = runner.invoke(app, ["index", "delete", "1", "77", *where])
    assert done.exit_code == 1
    assert "holds no document with the id '77'" in done.output
    assert "--missing-ok" in done.output
    assert run("info", str(index))["documents"] == 5
    assert run("delete", "1", "77", "--missing-ok", *where)["documents"] == 4


def test_faults_are_one_message_each(tmp_path: Path, index: Path, tiny_backbone: Path) -> None:
    """Another encoder, another writer, no index: status 1, what was found, what to do."""
    named = ["--encoder", str(tiny_backbone)]
    missing = runner.invoke(app, ["index", "delete", "1", "--index", str(tmp_path / "nothing"), *named])
    assert missing.exit_code == 1
    assert "sufficit index build" in missing.output
    unknown = runner.invoke(app, ["index", "compact", "--index", str(index)])
    assert unknown.exit_code == 1
    assert "Pass a folder" in unknown.output
    with IndexWriter.open(index, TransformerEncoder.named(str(tiny_backbone))):
        busy = runner.invoke(app, ["index", "compact", "--index", str(index), *named])
    assert busy.exit_code == 1
    assert "Another process is building or changing" in busy.output


def test_each_change_reports_the_size_that_remains(tmp_path: Path, index: Path, tiny_backbone: Path) -> None:
    """Neither the database's log nor what a compaction left behind counts: `info` says the same right after."""
    where = ("--index", str(index), "--encoder", str(tiny_backbone))
    more = jsonl(tmp_path / "more.jsonl", numbered(40, word="castle"))
    for change in (("add", str(more)), ("delete", "1", "2"), ("compact",)):
        assert run(*change, *where)["bytes"] == run("info", str(index))["bytes"], change


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "there is nothing in it"),
        ("\n \n\n", "there is nothing in it"),
        ('{"id": "1", "text": " "}\n', "empty text: 1, the first in c.jsonl, line 1"),
        ('{"id": "1", "text": ""}\n{\n{"id": 2}\n', "broken record: 1, the first in c.jsonl, line 2: "),
    ],
)
def test_a_corpus_without_a_document_is_refused(
    tmp_path: Path, index: Path, tiny_backbone: Path, content: str, told: str
) -> None:
    """Status 1 and the reasons by kind; an index that is there stays as it is."""
    corpus, named = tmp_path / "c.jsonl", ["--encoder", str(tiny_backbone)]
    corpus.write_text(content)
    for command in (
        ["build", str(corpus), "--out", str(tmp_path / "new")],
        ["build", str(corpus), "--out", str(tmp_path / "new")],
        ["build", str(corpus), "--out", str(index), "--force"],
        ["add", str(corpus), "--index", str(index)],
    ):
        done = runner.invoke(app, ["index", *command, *named])
        assert done.exit_code == 1, done.output
        assert f"Error: {corpus} holds no document" in done.stderr
        assert told in done.stderr
    assert (run("info", str(index))["documents"], run("info", str(index))["changes"]) == (5, 0)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["lock"]


def test_what_was_left_out_is_told_in_words_with_its_line(
    tmp_path: Path, index: Path, tiny_backbone: Path
) -> None:
    """On stderr, for a build and an addition; the summary names kinds, `--json` keeps their counts."""
    good, corpus = '{"id": "1", "text": "A moor."}\n', tmp_path / "c.jsonl"
    corpus.write_text(good + "{\n" + good + "{\n")
    named = ["--encoder", str(tiny_backbone)]
    build = ["build", str(corpus), "--out", str(tmp_path / "new"), *named]
    done = runner.invoke(app, ["index", *build])
    assert done.exit_code == 0, done.output
    assert "problems       broken record: 2, repeated id: 1\n" in done.stdout
    first = "broken record: 2, the first in c.jsonl, line 2: "
    assert first in done.stderr
    assert "repeated id: 1, the first in c.jsonl, line 3: The id '1' occurred before; both are kept" in done.stderr
    added = runner.invoke(app, ["index", "add", str(corpus), "--index", str(index), *named, "--json"])
    assert first in added.stderr
    assert json.loads(added.stdout)["problems"] == {}
    assert run(*build)["problems"] == {"broken_record": 2, "repeated_id": 1}
    shown = runner.invoke(app, ["index", "info", str(index)])
    assert "problems       none\n" in shown.stdout
