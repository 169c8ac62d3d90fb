"""`run_quick` from files to report, with the real backbone on a few sentences of our own."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import corpus as corpora
from benchmarks.errors import RunFileError
from benchmarks.output import Report, report_json
from benchmarks.quick import QuickOptions, run_quick
from retrieval.backbones import find_backbone
from retrieval.errors import BackboneNotFoundError
from retrieval.index.encoder import DEFAULT_ENCODER

TEXTS = {
    "Lake": "The lake is fed by the Mirna. It is deep.",
    "Ferry": "The ferry Aurora crosses the lake near Osterby.",
    "Hill": "The hill above Osterby is bare.",
    "Osterby": "Osterby was founded by the glazier Hanna Berg.",
    "Hanna Berg": "Hanna Berg was born in Tolvik in 1711.",
}
QUESTIONS = {
    "Where was the founder of Osterby born?": (["Tolvik"], ["Osterby", "Hanna Berg"]),
    "Which river feeds the lake that the ferry Aurora crosses?": (["Mirna"], ["Lake", "Ferry"]),
    "Who painted the portrait of Hanna Berg?": ([], []),
}


@pytest.fixture(scope="module", autouse=True)
def _weights() -> None:
    try:
        find_backbone(DEFAULT_ENCODER, allow_hub=False)
    except BackboneNotFoundError as error:
        pytest.skip(str(error))


@pytest.fixture(autouse=True)
def _cache_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora, "cache_folder", lambda: tmp_path / "cache")


@pytest.fixture
def options(tmp_path: Path) -> QuickOptions:
    """Three questions over five passages, two policies; a slip in the file of questions."""
    corpus = tmp_path / "toy.corpus.jsonl"
    corpus.write_text(
        "".join(json.dumps({"id": title, "title": title, "text": text}) + "\n" for title, text in TEXTS.items())
    )
    lines = [_line(number, *item) for number, item in enumerate(QUESTIONS.items())]
    questions = tmp_path / "toy.jsonl"
    questions.write_text("\n".join([*lines, lines[0], "a slip"]))
    return QuickOptions(
        questions=(questions,),
        corpus=corpus,
        policies=("fixed-2", "threshold"),
        search={"answer_at": 0.5, "abstain_below": -0.5, "max_turns": 2, "k": 2},
    )


def _line(number: int, question: str, expected: tuple[list[str], list[str]]) -> str:
    answers, gold = expected
    passages = [{"title": title, "text": TEXTS[title], "is_support": True} for title in gold]
    names: dict[str, Any] = {"id": f"q{number}", "group": f"g{number}", "dataset": "toy", "split": "dev"}
    judged = {"question": question, "answers": answers, "answerable": bool(gold), "passages": passages}
    return json.dumps(names | judged)


def without_times(report: Report) -> Any:
    data = json.loads(report_json(report))
    for row in data["rows"]:
        del row["seconds_per_turn"]
    return data


def test_two_runs_differ_in_times_only(options: QuickOptions) -> None:
    """The second one finds the index in the cache; concurrency changes nothing but is named in the settings."""
    first, again = without_times(run_quick(options)), without_times(run_quick(options))
    assert first == again
    side_by_side = without_times(run_quick(dataclasses.replace(options, concurrency=3)))
    assert side_by_side["rows"] == first["rows"]
    assert [(row["policy"], row["n"], row["answerable"]) for row in first["rows"]] == [
        ("fixed-2", 3, 2),
        ("threshold", 3, 2),
    ]
    assert [fault["kind"] for fault in first["failures"]] == ["repeated_id", "not_json"]
    assert all(row["degraded"] == 0 and row["failures"] == 0 for row in first["rows"])
    assert {row["all_support@5"] for row in first["rows"]} == {1.0}, "five passages hold all that is asked for"


def test_a_run_is_taken_up_and_never_mixed_with_another(options: QuickOptions, tmp_path: Path) -> None:
    """Case R11: a sample first, then all; the sample's outcomes are not searched again."""
    out = tmp_path / "run.jsonl"
    run_quick(dataclasses.replace(options, limit=1, out=out))
    begun = out.read_text()
    assert len(begun.splitlines()) == 1 + 2
    whole = run_quick(dataclasses.replace(options, out=out))
    assert out.read_text().startswith(begun)
    assert len(out.read_text().splitlines()) == 1 + 6
    assert without_times(whole)["rows"] == without_times(run_quick(options))["rows"]
    with pytest.raises(RunFileError, match="differs in search"):
        run_quick(dataclasses.replace(options, out=out, search={**options.search, "k": 3}))
