"""`python -m benchmarks replay`: one report from recorded runs, for machines and for people."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.episodes import Episode
from benchmarks.cli import app
from benchmarks.errors import RunFileError, SettingsError
from benchmarks.output import Report, report_json
from benchmarks.stopping.replaying import ReplayOptions, run_replay
from benchmarks.stopping.rows import DIFFERENCES, FIGURES
from benchmarks.stopping.table import replay_tables
from policies.shipped import shipped_scorers
from tests.benchmarks.episodes_world import world, write_run

SOME = ("fixed-2", "fixed-6", "never", "threshold", "random", "decaying", "llm-stop", "oracle-utility")


def shipped(episodes: Sequence[Episode]) -> list[Episode]:
    """The same with scores of the scorer that thresholds were shipped for."""
    return [one.model_copy(update={"scorer": shipped_scorers()[0]}) for one in episodes]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two datasets, 6 questions each, with their twins."""
    episodes = [*world(6, dataset="hills"), *world(6, dataset="lakes")]
    return write_run(tmp_path_factory.mktemp("run") / "dev.jsonl", shipped(episodes))


@pytest.fixture(scope="module")
def report(run: Path) -> Report:
    return run_replay(ReplayOptions(runs=(run,), policies=SOME, draws=100))


def rows_of(report: Report, **wanted: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in report.rows if all(row[name] == value for name, value in wanted.items())]


def test_one_row_for_each_dataset_subset_and_policy(report: Report) -> None:
    """AUROC at fixed looks comes first; what was not run is listed with the reason, never dropped."""
    cases = list(dict.fromkeys(row["case"] for row in report.rows))
    assert cases == ["auroc-at-look", None, "oracle-gain"]
    keys = [(row["dataset"], row["subset"], row["policy"], row["case"], row.get("look")) for row in report.rows]
    assert len(set(keys)) == len(keys)
    compared = [row["policy"] for row in rows_of(report, dataset="macro", subset="all", case=None)]
    assert compared == ["default", "fixed-2", "fixed-6", "never", "threshold", "random", "oracle-utility"]
    assert set(report.settings["left_out"]) == {"decaying", "llm-stop"}
    assert {(row["dataset"], row["subset"]) for row in report.rows} == {
        (dataset, subset) for dataset in ("hills", "lakes", "macro") for subset in ("all", "original", "twin")
    }


def test_every_row_has_every_key_and_no_nan(report: Report) -> None:
    """Flat rows; the keys that docs/stopping.md lists; undefined is null (case E02)."""
    data = json.loads(report_json(report), parse_constant=pytest.fail)
    listed = (Path(__file__).parents[2] / "docs" / "stopping.md").read_text()
    for row in data["rows"]:
        for key, value in row.items():
            assert not isinstance(value, dict | list), key
            assert f"`{key.removesuffix('_lo').removesuffix('_hi')}`" in listed, key
        if row["case"] is None:
            assert {*FIGURES, *(f"{name}_vs_default" for name in DIFFERENCES)} <= set(row)
    (twin,) = [
        row for row in data["rows"] if (row["dataset"], row["subset"], row["policy"]) == ("hills", "twin", "never")
    ]
    assert twin["auroc"] is None
    assert twin["risk"] is None
    assert twin["correct_decisions"] == 1


def test_macro_is_the_mean_over_datasets_and_paired_figures_stay_so(report: Report) -> None:
    """Unweighted; identical policies differ by exactly 0 there, too (case E03)."""
    by_dataset = {row["dataset"]: row for row in rows_of(report, subset="all", policy="fixed-2")}
    mean = (by_dataset["hills"]["utility"] + by_dataset["lakes"]["utility"]) / 2
    assert by_dataset["macro"]["utility"] == pytest.approx(mean)
    assert by_dataset["macro"]["n"] == 24
    for row in rows_of(report, policy="default"):
        assert (row["utility_vs_default"], row["utility_vs_default_lo"], row["utility_vs_default_hi"]) == (0, 0, 0)
        assert row["utility_p"] is None
    horizon = rows_of(report, subset="all", policy="fixed-6", dataset="hills")[0]
    assert horizon["correct_decisions_vs_horizon_at_least"] == 0
    assert horizon["not_worse_than_horizon"] is True
    assert all(row["utility_p_holm"] >= row["utility_p"] for row in rows_of(report, policy="fixed-2"))


def test_no_policy_can_win_where_support_is_never_complete(tmp_path: Path) -> None:
    """Case E04: a retriever that misses the second hop; the report says so instead of ranking noise."""
    file = write_run(tmp_path / "run.jsonl", shipped(world(10, hopeless=True)))
    found = run_replay(ReplayOptions(runs=(file,), policies=("fixed-2", "never"), draws=50))
    (row,) = rows_of(found, case="oracle-gain", subset="all")
    assert row["oracle_gain"] == pytest.approx(0)
    assert "no policy can win here" in row["note"]
    captions = [str(table.caption) for table in replay_tables(found.rows, found.settings["left_out"])]
    assert any("no policy can win here" in caption for caption in captions)


def test_how_each_search_ended_is_written_and_adds_up(run: Path, tmp_path: Path) -> None:
    """Means over the lines of `--out` are the figures of the rows, regret included."""
    out = tmp_path / "ends.jsonl"
    report = run_replay(ReplayOptions(runs=(run,), policies=("fixed-2", "threshold"), draws=20, out=out))
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == 24 * 4  # the default and until-dry are always played
    means: dict[tuple[str, str], list[float]] = defaultdict(list)
    for line in lines:
        means[line["policy"], line["dataset"]].append(line["regret_utility"])
    for row in rows_of(report, subset="all", case=None):
        if row["dataset"] != "macro":
            regrets = means[row["policy"], row["dataset"]]
            assert row["regret_utility"] == pytest.approx(sum(regrets) / len(regrets))
    with pytest.raises(RunFileError, match="Cannot write"):
        run_replay(ReplayOptions(runs=(run,), policies=("never",), draws=1, out=tmp_path / "no" / "ends"))


def test_parameters_are_never_chosen_on_what_is_compared(run: Path, tmp_path: Path) -> None:
    """A question in both files ends it; apart, tuned policies join, and say from where."""
    with pytest.raises(SettingsError, match="stand both"):
        run_replay(ReplayOptions(runs=(run,), tune=(run,), draws=1))
    train = write_run(tmp_path / "train.jsonl", shipped(world(6, dataset="hills", split="train")))
    report = run_replay(ReplayOptions(runs=(run,), tune=(train,), policies=("tasr", "ragflow"), draws=1))
    notes = {row["policy"]: row["note"] for row in report.rows if row["policy"]}
    assert notes["tasr"] == "chosen on training searches"
    assert report.settings["tune"] == ["train.jsonl"]
    assert not report.settings["left_out"]


def test_curves_are_plain_lists(report: Report) -> None:
    """For plots: points, risk by coverage, stops by turn; all searches are in the histogram."""
    hills, _, mean = report.settings["curves"]
    assert (hills["dataset"], mean["dataset"]) == ("hills", "macro")
    assert {point["policy"] for point in mean["pareto"]} >= {"default", "random", "fixed-6"}
    for stops in hills["stop_turns"]:
        assert sum(stops["answered"]) + sum(stops["abstained"]) == 12
    for one in hills["risk_coverage"]:
        assert one["points"][-1][0] == 1.0
    assert mean["stop_turns"] == []


def test_recorded_without_probes_leaves_out_what_needs_them(tmp_path: Path) -> None:
    """Said, not failed: the observer is named."""
    bare = [one.model_copy(update={"probes": ()}) for one in shipped(world(3))]
    file = write_run(tmp_path / "run.jsonl", bare)
    report = run_replay(ReplayOptions(runs=(file,), policies=("stability",), draws=5))
    assert "observer probe" in report.settings["left_out"]["stability"]


def test_command_prints_json_or_tables(run: Path) -> None:
    """One object and nothing else on stdout, or a table for each dataset with the best utility first."""
    command = ["replay", str(run), "--policy", "fixed-6, oracle-utility", "--policy", "llm-stop"]
    command += ["--draws", "20"]
    data = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert data["benchmark"] == "replay"
    assert {"fixed-6", "oracle-utility"} <= {row["policy"] for row in data["rows"] if "policy" in row}
    shown = CliRunner().invoke(app, command).stdout
    assert (
        shown.index("AUROC of the score") < shown.index("hills: 12 searches") < shown.index("macro: 24 searches")
    )
    assert shown.index("oracle-utility") < shown.index("fixed-6")
    assert "not run here" in shown
    wrong = CliRunner().invoke(app, ["replay", str(run), "--policy", "best"])
    assert wrong.exit_code == 2
    assert "Unknown policy 'best'" in wrong.stderr


def test_nothing_to_replay_is_said(tmp_path: Path) -> None:
    """A run without a search that can be used has no table."""
    with pytest.raises(SettingsError, match="no search"):
        run_replay(ReplayOptions(runs=(write_run(tmp_path / "run.jsonl", []),)))
    with pytest.raises(SettingsError, match="a run"):
        ReplayOptions(runs=())
