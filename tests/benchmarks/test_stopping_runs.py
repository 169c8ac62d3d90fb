"""Recorded runs, read back: what can be used is used, what cannot is named."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from agent.observe import stability
from benchmarks.errors import DatasetError, RunFileError
from benchmarks.stopping.runs import load_run, load_runs, reduced
from tests.benchmarks.episodes_world import HORIZON, episode, world, write_run


def test_a_run_is_read_plain_or_gzip(tmp_path: Path) -> None:
    """Gzip is told by the first bytes, not by the name; the header comes along."""
    plain = write_run(tmp_path / "a.jsonl", world(3), corpus="hills")
    packed = tmp_path / "b.jsonl"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for file in (plain, packed):
        header, searches, faults = load_run(file)
        assert header.depends_on == {"corpus": "hills"}
        assert [search.twin for search in searches] == [False, True] * 3
        assert not faults


def test_states_show_what_observers_saw(tmp_path: Path) -> None:
    """`probe` as in a live run, `gold` from the annotation; texts of passages are gone, answers stay."""
    one = episode(
        "q", [0.1, 0.2, 0.9], [0, 2, 2], texts=["Lenne", "the Lenne", "Tessel"], margins=[0.5, None, 0.25]
    )
    search = reduced(one)
    seen = [state.observations for state in search.states]
    assert [each["probe.stable"] for each in seen] == stability(["Lenne", "the Lenne", "Tessel"]) == [1, 2, 1]
    assert [each.get("probe.margin") for each in seen] == [0.5, None, 0.25]
    assert [each["gold.found"] for each in seen] == [0, 2, 2]
    assert [each["gold.complete"] for each in seen] == [0, 1, 1]
    assert {each["gold.first_complete"] for each in seen} == {2}
    assert {each["gold.support"] for each in seen} == {2}
    assert "gold.first_complete" not in reduced(episode("q", [0.1], [0])).states[0].observations
    assert search.scored == (5, 15, 30)  # 5, then 10, then 15 passages were scored
    assert search.probes == ("Lenne", "the Lenne", "Tessel")
    assert search.group == "toy/q"


def test_bad_lines_are_faults_not_the_end(tmp_path: Path) -> None:
    """Damaged JSON, a repeated search, labels that do not fit the trace: each with its line."""
    good, other = episode("good", [0.5], [1]), episode("other", [0.5], [1])
    file = write_run(tmp_path / "run.jsonl", [good])
    short = episode("short", [0.5, 0.6], [1, 1]).model_copy(update={"found": (1,)})
    empty = other.model_copy(update={"id": "empty", "trace": (), "found": (), "probes": ()})
    lines = ['{"type": "sear', good.model_dump_json(), short.model_dump_json(), empty.model_dump_json()]
    with file.open("a") as out:
        out.write("\n".join([*lines, other.model_dump_json()]) + "\n")
    _, searches, faults = load_run(file)
    assert [search.id for search in searches] == ["good", "other"]
    assert [(fault.line, fault.kind) for fault in faults] == [
        (3, "not_json"),
        (4, "repeated_id"),
        (5, "bad_fields"),
        (6, "bad_fields"),
    ]


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    """Without the first line nobody knows what the searches depend on."""
    file = tmp_path / "x.jsonl"
    for content in ("", episode("q", [0.5], [1]).model_dump_json()):
        file.write_text(content)
        with pytest.raises(RunFileError, match="benchmarks record"):
            load_run(file)
    with pytest.raises(DatasetError):
        load_run(tmp_path / "none.jsonl")


def test_several_runs_are_one_and_two_scorers_are_none(tmp_path: Path) -> None:
    """A search that two files hold counts once; scores of two scorers have two scales."""
    one, two = write_run(tmp_path / "1", world(2)), write_run(tmp_path / "2", world(3))
    run = load_runs([one, two])
    assert len(run.searches) == 6
    assert len(run.depends_on) == 2
    assert run.datasets == ("toy",)
    assert max(len(search.states) for search in run.searches) == HORIZON
    other = write_run(tmp_path / "3", [episode("q", [0.5], [1], scorer="other")])
    with pytest.raises(RunFileError, match="2 scorers"):
        load_runs([one, other])
