"""Certificates on recorded searches, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import benchmarks.cli_stopping_ltt  # noqa: F401  # its command joins the others
from benchmarks.cli import app
from benchmarks.errors import SettingsError
from benchmarks.stopping.resplit import ResplitOptions, certify_recorded
from tests.agent.labelled_world import episodes, write_run
from tests.policies.calibration.world import case, pairs

runner = CliRunner()


def test_each_dataset_and_all_of_them(tmp_path: Path) -> None:
    """Certified shares, held-out figures and the bound, by dataset; scores that say nothing certify nothing."""
    good = write_run(tmp_path / "good.run", episodes(pairs(80, seed=0, gain=5.0)))
    noise = write_run(tmp_path / "noise.run", episodes(pairs(30, seed=1, gain=0.0), "noise"))
    report = certify_recorded(ResplitOptions(runs=(good, noise), alphas=(0.3,), splits=10))
    rows = {str(row["dataset"]): row for row in report.rows}
    assert list(rows) == ["noise", "towns", "all"]
    towns, dull = rows["towns"], rows["noise"]
    assert towns["certified_threshold"] is not None
    assert float(towns["split_certified"] or 0) > 0.5
    assert float(towns["split_violations"] or 0) <= 0.1
    assert float(towns["split_risk"] or 0) < 0.3
    assert 0 < float(towns["split_coverage"] or 0) < float(towns["coverage_at_most"] or 0)
    assert (dull["certified_threshold"], dull["split_certified"], dull["split_coverage"]) == (None, 0.0, None)
    assert rows["all"]["groups"] == 110


def test_the_command_prints_both(tmp_path: Path) -> None:
    """One JSON object each; nothing is NaN (case E02)."""
    run = write_run(tmp_path / "none.run", episodes([case(str(i), [1.0, 2.0], None) for i in range(12)]))
    recorded = runner.invoke(app, ["ltt", str(run), "--alpha", "0.2", "--draws", "3", "--json"])
    assert recorded.exit_code == 0, recorded.output
    [row] = json.loads(recorded.stdout)["rows"]
    assert (row["mu"], row["coverage_at_most"], row["split_certified"]) == (1.0, 0.0, 0.0)
    simulated = runner.invoke(app, ["ltt", "--alpha", "0.2", "--pairs", "20", "--draws", "3", "--json"])
    assert simulated.exit_code == 0, simulated.output
    assert [row["rule"] for row in json.loads(simulated.stdout)["rows"]] == ["ltt", "exact-binomial", "observed"]


def test_what_cannot_be_split_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="at least 1 split"):
        ResplitOptions(runs=(), splits=0)
    refused = runner.invoke(app, ["ltt", str(tmp_path / "absent.run")])
    assert refused.exit_code == 1
    assert "Cannot read" in refused.stderr
