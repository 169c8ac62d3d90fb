"""The comparison of engines for the sparse index measures what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.errors import SettingsError
from benchmarks.output import report_json
from benchmarks.sparse import run_sparse

PLACES = ("harbour", "mill", "abbey", "tunnel", "quarry", "ferry", "orchard", "market", "tower", "canal")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A corpus of a hundred short texts, and a question about every fifth."""
    texts = [f"The {one} of {other} stands north of the {one}." for one in PLACES for other in PLACES]
    corpus, questions = tmp_path / "corpus.jsonl", tmp_path / "questions.jsonl"
    corpus.write_text("".join(json.dumps({"id": f"d{n}", "text": text}) + "\n" for n, text in enumerate(texts)))
    rows = [
        {
            "id": str(number),
            "dataset": "toy",
            "split": "train",
            "question": f"Where is {text.removeprefix('The ').partition(' stands')[0]}?",
            "answers": ["north"],
            "answerable": True,
            "group": str(number),
            "passages": [{"text": text, "is_support": True}],
        }
        for number, text in enumerate(texts)
        if number % 5 == 0
    ]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return corpus, questions


def test_our_index_is_exact_and_forgets(files: tuple[Path, Path]) -> None:
    """Rows as architecture.md names them; ours agrees with rank-bm25 and with a fresh index after deletions."""
    corpus, questions = files
    report = run_sparse(corpus=corpus, questions=[questions])
    ours = [row for row in report.rows if row["system"] == "bm25"]
    assert [(row.get("construction"), row.get("case")) for row in ours] == [
        ("retrieval", None),
        (None, "build"),
        (None, "delete-random"),
        (None, "delete-longer"),
    ]
    assert (ours[0]["n"], ours[0]["recall@5"], ours[0]["same_ten_as_exact"]) == (20, 1.0, 1.0)
    assert ours[2]["same_order_as_fresh"] == ours[3]["same_order_as_fresh"] == 1.0
    assert {row["system"] for row in report.rows} >= {"bm25", "fts5", "bm25, whole words"}
    assert "NaN" not in report_json(report)


def test_questions_of_another_corpus_are_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "x", "text": "Something else."}\n')
    with pytest.raises(SettingsError, match=r"support in other\.jsonl"):
        run_sparse(corpus=other, questions=[files[1]])
