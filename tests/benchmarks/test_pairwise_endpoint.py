"""Sufficient Context through a model behind an endpoint, as a scorer of `pairwise`."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import ConfigError
from benchmarks.errors import SettingsError
from benchmarks.pairwise.legend import system_rows
from benchmarks.pairwise.systems import resolve
from retrieval import EvidenceSet, Passage
from tests.agent.llm.server import says, serving

EVIDENCE = EvidenceSet.of([Passage(text="The bridge was built by the weavers of the town.")])


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no settings lie."""
    monkeypatch.chdir(tmp_path)


def test_the_model_behind_an_endpoint_gives_the_label(monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads the sample, under its own name, beside the paper's figure; a reply without a label is 0."""
    with serving(says('{"sufficient": 1}'), says("Yes.")) as server:
        monkeypatch.setenv("SUFFICIT_LLM_URL", server.url)
        monkeypatch.setenv("SUFFICIT_LLM_MODEL", "one")
        system = resolve("sufficient-context@endpoint:two")
        scorer = system.maker(None)()
        assert [scorer.score("Who built it?", EVIDENCE).score for _ in range(2)] == [1.0, 0.0]
        other = resolve("sufficient-context@endpoint").maker(None)()
    assert {seen.fields["model"] for seen in server.seen} == {"two"}
    assert (system.sampled, system.fitted, system.backbone) == (True, False, "two")
    assert scorer.fingerprint != other.fingerprint
    (row,) = system_rows([system], [])
    assert (row["backbone"], row["paper_average"]) == ("two", 0.54)


def test_an_endpoint_that_is_not_set_is_a_typed_error() -> None:
    """And so is a rival that cannot be asked through one."""
    with pytest.raises(ConfigError, match="SUFFICIT_LLM_URL"):
        resolve("sufficient-context@endpoint")
    with pytest.raises(SettingsError, match="sufficient-context@endpoint for a model"):
        resolve("flare@endpoint")
