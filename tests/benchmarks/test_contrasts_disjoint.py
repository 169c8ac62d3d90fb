"""Records apart from the files that are reported on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmarks.cli import app
from benchmarks.contrasts.disjoint import apart
from benchmarks.contrasts.file import stream_contrasts
from benchmarks.contrasts.model import Contrast
from benchmarks.datasets.records import Record
from benchmarks.errors import DatasetError
from benchmarks.overlap import MIN_WORDS
from retrieval import Passage
from tests.benchmarks.records_world import drawn, paragraphs, record, words, world, write_records

EIGHT = "one mill stood by the quiet green pond"
RUNNER = CliRunner()


def asking(name: str, text: str, question: str | None = None, **changes: Any) -> Record:
    held = [Passage(text=text, title="")]
    return record(name, held, question=question or f"What of {name}?", **changes)


def left(tmp_path: Path, records: Sequence[Record], *files: Sequence[Record]) -> list[str]:
    paths = [write_records(tmp_path / f"{at}.jsonl", held) for at, held in enumerate(files)]
    return [one.id for one in apart(records, paths).records]


def test_a_run_of_eight_words_is_shared_in_whatever_dress(tmp_path: Path) -> None:
    """Letter case, signs and the rest of the sentence do not count; seven words prove nothing."""
    reported = [asking("r", f"It is said that {EIGHT.upper()}, and so on.")]
    records = [
        asking("eight", f"Once, {EIGHT.replace(' ', ', ')}!"),
        asking("seven", f"Once {EIGHT.removeprefix('one ')}."),
        asking("other", "Nothing of the kind is told here, or anywhere else at all."),
    ]
    assert left(tmp_path, records, reported) == ["seven", "other"]


def test_distractors_count_on_both_sides(tmp_path: Path) -> None:
    """What a reported question is judged on must not have been fitted on, whether it supports or not."""
    far, near = Passage(text="Far away it rained for days on end, they say."), Passage(text=EIGHT)
    assert left(tmp_path, [record("a", [far], [near])], [record("r", [Passage(text="x")], [near])]) == []


def test_the_same_question_is_left_out(tmp_path: Path) -> None:
    """In any of the files, whatever the passage."""
    files = [[asking("r", "Some text.", "Who built it?")], [asking("s", "More text.", "Who sold it?")]]
    records = [asking(f"q{at}", f"Text {at}.", one) for at, one in enumerate(("who SOLD it", "Who ate it?"))]
    assert left(tmp_path, records, *files) == ["q1"]


def test_a_passage_of_fewer_words_is_shared_as_a_whole(tmp_path: Path) -> None:
    """Two of them are the same text or not."""
    reported = [asking("r", "The green pond.")]
    records = [asking("a", "the green pond"), asking("b", "The green pond froze."), asking("c", "?!")]
    assert left(tmp_path, records, reported) == ["b", "c"]


@given(st.integers(0, 10**6), st.integers(0, 12), st.integers(0, 12))
def test_what_is_left_shares_no_run_by_brute_force(
    tmp_path_factory: pytest.TempPathFactory, seed: int, begin: int, length: int
) -> None:
    """Against lists of words instead of digests."""
    draw = drawn("runs", seed)
    one, other = words(draw, 20).split(), words(draw, 20).split()
    other[begin : begin + length] = one[begin : begin + length]
    runs = {tuple(one[at : at + MIN_WORDS]) for at in range(len(one) - MIN_WORDS + 1)}
    shared = any(tuple(other[at : at + MIN_WORDS]) in runs for at in range(len(other) - MIN_WORDS + 1))
    folder = tmp_path_factory.mktemp("files")
    kept = left(folder, [asking("a", " ".join(one))], [asking("r", " ".join(other))])
    assert kept == ([] if shared else ["a"])


def test_what_was_left_out_and_what_could_not_be_read_is_counted(tmp_path: Path) -> None:
    """A row a dataset, empty ones too; slips of the evaluation file are named."""
    path = write_records(tmp_path / "dev.jsonl", [asking("r", EIGHT, "Who built it?")])
    path.write_text(path.read_text() + "a slip\n")
    records = [
        asking("a", "Text.", "Who built it?", dataset="mine"),
        asking("b", EIGHT, dataset="mine"),
        asking("c", "Text.", dataset="yours"),
    ]
    found = apart(records, [path])
    assert found.rows == (
        {"dataset": "mine", "records": 2, "left_out_question": 1, "left_out_passage": 1},
        {"dataset": "yours", "records": 1, "left_out_question": 0, "left_out_passage": 0},
    )
    assert [fault.kind for fault in found.faults] == ["not_json"]
    with pytest.raises(DatasetError, match="absent"):
        apart(records, [tmp_path / "absent.jsonl"])


def test_the_command_leaves_them_out_of_any_construction(tmp_path: Path) -> None:
    """And says how many, in the same report; the file that is reported on is never written over."""
    squad = paragraphs(4)
    data = write_records(tmp_path / "data.jsonl", [*squad, *world(2, distractors=2).records])
    dev = write_records(tmp_path / "dev.jsonl", squad[:1])
    out = tmp_path / "out.jsonl"
    arguments = ["contrasts", "--data", str(data), "--construction", "question-swap", "--disjoint-from", str(dev)]
    done = RUNNER.invoke(app, [*arguments, "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    left_out = {row["dataset"]: row for row in report["rows"] if "records" in row}
    assert left_out["squad2"] == {
        "dataset": "squad2",
        "records": 12,
        "left_out_question": 1,
        "left_out_passage": 2,
    }
    assert report["settings"]["disjoint_from"] == ["dev.jsonl"]
    groups = {one.group for one in stream_contrasts(out) if isinstance(one, Contrast)}
    assert groups == {one.group for one in squad} - {squad[0].group}
    refused = RUNNER.invoke(app, [*arguments, "--out", str(dev)])
    assert refused.exit_code == 2
