"""The overlap audit: what counts as shared, and how it is counted (RINSE, appendix E)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmarks.cli import app
from benchmarks.datasets import load_records
from benchmarks.errors import SettingsError
from benchmarks.overlap import Fingerprints, overlap, run_overlap, sentence_digests
from tests.benchmarks.official_files import array, hotpot, lines

LONG = "The ferry that crosses the lake was built by two brothers."
"""Eleven words."""
OTHER = "A road leads around the northern shore of the water to the mill."
SHORT = "The ferry crosses the deep lake slowly."
"""Seven words."""


def ours(name: str, *passages: str, gold: int = 1, **changes: Any) -> dict[str, Any]:
    """A line of our own form; the first `gold` passages are support."""
    full = {
        "id": name,
        "dataset": "toy",
        "split": "dev",
        "question": f"What is asked by {name}?",
        "answers": [],
        "answerable": gold > 0,
        "passages": [{"text": text, "is_support": place < gold} for place, text in enumerate(passages)],
        "group": name,
    }
    return {**full, **changes}


def file(path: Path, *entries: dict[str, Any]) -> Path:
    return lines(path, *entries)


def row_of(tmp_path: Path, first: list[dict[str, Any]], second: list[dict[str, Any]]) -> dict[str, Any]:
    report = run_overlap([file(tmp_path / "a", *first)], [file(tmp_path / "b", *second)])
    (row,) = report.rows
    return row


@pytest.mark.parametrize(
    ("ours_text", "theirs", "shared"),
    [
        (f"Before. {LONG} After.", f"{LONG} Something else follows here.", True),
        (f"  {LONG.upper()}", LONG.replace(" ", "  "), True),
        (LONG, LONG.replace("two", "three"), False),
        (LONG[:-1], f"{LONG[:-1]} of the miller.", False),
        (SHORT, SHORT, False),
        (f"{SHORT} {SHORT}", f"{SHORT} {SHORT}", False),
    ],
)
def test_a_passage_is_shared_by_a_whole_sentence_of_eight_words(
    tmp_path: Path, ours_text: str, theirs: str, *, shared: bool
) -> None:
    """Dress does not count, a part of a sentence and short sentences don't either."""
    row = row_of(tmp_path, [ours("a", ours_text)], [ours("b", theirs)])
    assert row["passages_shared"] == row["gold_passages_shared"] == int(shared)
    assert row["groups_by_passage_share"] == float(shared)


def test_eight_words_are_enough() -> None:
    """The bound of the paper is inclusive."""
    assert len(list(sentence_digests("One two three four five six seven eight."))) == 1
    assert list(sentence_digests("One two three four five six seven.")) == []


def test_counts_are_of_distinct_passages_questions_and_groups(tmp_path: Path) -> None:
    """A passage that many questions bring along is one passage; each of their groups shares it."""
    first = [
        ours("a", LONG, OTHER, question="Who built the ferry?"),
        ours("b", OTHER, LONG),
        ours("c", OTHER, SHORT, question="WHO built   the ferry"),
        ours("d", OTHER, gold=0),
    ]
    row = row_of(tmp_path, first, [ours("x", LONG, gold=0, question="Who built the ferry?!")])
    assert row == {
        "dataset": "toy",
        "records": 4,
        "questions": 3,
        "questions_shared": 1,
        "questions_share": 1 / 3,
        "passages": 3,
        "passages_shared": 1,
        "passages_share": 1 / 3,
        "gold_passages": 2,
        "gold_passages_shared": 1,
        "gold_passages_share": 1 / 2,
        "groups": 4,
        "groups_by_question_shared": 2,
        "groups_by_question_share": 2 / 4,
        "groups_by_passage_shared": 2,
        "groups_by_passage_share": 2 / 4,
        "groups_by_gold_shared": 1,
        "groups_by_gold_share": 1 / 4,
        "groups_by_any_shared": 3,
        "groups_by_any_share": 3 / 4,
        "groups_by_question_or_gold_shared": 2,
        "groups_by_question_or_gold_share": 2 / 4,
    }


def test_without_gold_its_share_is_undefined(tmp_path: Path) -> None:
    """None, not zero and not NaN (case E02)."""
    row = row_of(tmp_path, [ours("a", LONG, gold=0)], [ours("b", LONG)])
    assert (row["gold_passages"], row["gold_passages_share"], row["groups_by_gold_share"]) == (0, None, 0.0)


def test_groups_to_leave_out_name_their_dataset(tmp_path: Path) -> None:
    """One group name in two datasets is two groups; `essential` forgives a shared distractor."""
    mine = file(tmp_path / "a", ours("g", LONG), ours("h", OTHER, LONG), ours("g", OTHER, dataset="other"))
    theirs = file(tmp_path / "b", ours("x", SHORT), ours("y", LONG))
    found = overlap(load_records([mine]).records, Fingerprints(load_records([theirs]).records))
    assert found.strict == {("toy", "g"), ("toy", "h")}
    assert found.essential == {("toy", "g")}


@given(st.lists(st.lists(st.sampled_from([LONG, OTHER, SHORT]), min_size=1, max_size=3), min_size=1, max_size=5))
def test_a_file_overlaps_itself_wherever_a_long_sentence_stands(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]]
) -> None:
    """And gold is a part of all passages, and the stricter set holds the other one."""
    path = tmp_path_factory.getbasetemp() / "self"
    records = load_records([file(path, *(ours(str(n), *row) for n, row in enumerate(texts)))]).records
    found = overlap(records, Fingerprints(records))
    assert found.question == {("toy", record.group) for record in records}
    assert found.passage == {("toy", str(n)) for n, row in enumerate(texts) if {LONG, OTHER} & set(row)}
    assert found.gold <= found.passage
    assert found.essential <= found.strict


def test_official_files_compare_with_our_own_and_faults_are_reported(tmp_path: Path) -> None:
    """The command takes several files on both sides, in any format, and says what could not be read."""
    entry = hotpot(context=[["Mirna", [LONG]], ["Lake", [OTHER]]])
    first = array(tmp_path / "a.json", entry, hotpot("test", answer=None))
    second, third = file(tmp_path / "b", ours("x", SHORT)), file(tmp_path / "c", ours("y", LONG))
    done = CliRunner().invoke(
        app, ["overlap", str(first), str(second), str(third), "--and", str(second), "--json"]
    )
    assert done.exit_code == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["settings"] == {"files": ["a.json", "b"], "against": ["b", "c"], "min_words": 8}
    assert [(row["dataset"], row["groups_by_any_shared"]) for row in report["rows"]] == [
        ("hotpotqa", 1),
        ("toy", 1),
    ]
    assert [(fault["file"], fault["kind"], fault["count"]) for fault in report["failures"]] == [
        ("a.json", "no_label", 1)
    ]


def test_nothing_to_compare_is_said(tmp_path: Path) -> None:
    """An empty side must not look like no overlap; a wrong file is an error of one line."""
    good = file(tmp_path / "a", ours("a", LONG))
    empty = array(tmp_path / "b.json", hotpot(answer=None))
    with pytest.raises(SettingsError, match="second side"):
        run_overlap([good], [empty])
    with pytest.raises(SettingsError, match="first side"):
        run_overlap([empty], [good])
    done = CliRunner().invoke(app, ["overlap", str(good), str(tmp_path)])
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("error: Cannot read")
