"""Which policy the settings mean: shipped, given, certified, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.calibrating import CalibrateRequest, calibrate
from agent.calibration_data import read_runs
from agent.certify import save_certificate
from agent.config import Settings, load_settings
from agent.errors import CertificateMismatchError, ConfigError
from agent.policy import budget_of, certificate_of, choose_policy
from policies.bars import Bars
from policies.combine import FirstOf
from policies.fixed import FixedK
from policies.guaranteed import LttThreshold
from policies.shipped import shipped, shipped_scorers
from policies.threshold import Band
from tests.agent.labelled_world import SEARCH, episodes, write_run
from tests.policies.calibration.world import pairs

KNOWN = {"scorer": shipped_scorers()[0]}
UNKNOWN = {"scorer": "0" * 64}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"SUFFICIT_{name.upper()}", raising=False)


def chosen(identity: dict[str, str], **flags: Any) -> object:
    policy = choose_policy(load_settings(flags), identity)
    return policy.parts[0] if isinstance(policy, FirstOf) else policy


def test_the_default_is_what_was_shipped_for_the_scorer() -> None:
    """Bars for each turn; a band where thresholds are given, with the shipped one for what is not."""
    found = shipped(KNOWN["scorer"])
    assert found is not None
    assert chosen(KNOWN) == found.bars
    assert isinstance(found.bars, Bars)
    assert chosen(KNOWN, answer_at=9.0) == Band(
        answer_at=9.0, abstain_below=found.abstain_below, min_turns=found.min_turns
    )
    low = chosen(KNOWN, answer_at=found.abstain_below - 1.0)
    assert isinstance(low, Band)
    assert low.abstain_below == low.answer_at == found.abstain_below - 1.0
    assert chosen(KNOWN, policy="band", min_turns=1) == Band(
        answer_at=found.answer_at, abstain_below=found.abstain_below, min_turns=1
    )


def test_with_a_tier_that_fetches_the_default_knows_what_a_page_costs() -> None:
    """The bars of the cache and of the web; a policy that is named, or thresholds, go first."""
    found = shipped(KNOWN["scorer"])
    assert found is not None
    assert chosen(KNOWN, tiers=("cache", "web")) == found.coverage
    assert chosen(KNOWN, tiers=("local", "cache")) == found.bars
    assert chosen(KNOWN, tiers=("web",), policy="bars") == found.bars
    assert isinstance(chosen(KNOWN, tiers=("web",), answer_at=1.0), Band)


def test_a_scorer_that_nothing_was_shipped_for_needs_thresholds() -> None:
    """Thresholds of one scorer mean nothing on another one's scores."""
    for flags in ({}, {"policy": "band"}, {"policy": "utility"}, {"answer_at": 1.0}):
        with pytest.raises(
            ConfigError, match=r"Nothing was shipped for the scorer 000000000000.*sufficit calibrate"
        ):
            chosen(UNKNOWN, **flags)
    assert chosen(UNKNOWN, answer_at=1.0, abstain_below=0.5) == Band(answer_at=1.0, abstain_below=0.5)
    assert chosen(UNKNOWN, policy="fixed-3") == FixedK(3)


def test_fixed_calls_have_a_budget_of_as_many() -> None:
    """A turn of two queries must not pass it by one, gated or not."""
    settings = load_settings({"policy": "gated-4"})
    assert budget_of(settings, choose_policy(settings, KNOWN)).max_calls == 4
    settings = load_settings({"policy": "fixed-2"})
    assert budget_of(settings, choose_policy(settings, KNOWN)).max_calls == 2
    settings = load_settings({"policy": "band"})
    assert budget_of(settings, choose_policy(settings, KNOWN)) == settings.budget


def test_limits_that_the_user_set_hold_beside_a_number_of_calls() -> None:
    """A cap on calls or turns is a promise about cost; what was not set gives way."""
    for flags, calls, turns in (
        ({"policy": "fixed-100", "max_calls": 3}, 3, None),
        ({"policy": "gated-5", "max_calls": 2, "max_turns": 2}, 2, 2),
        ({"policy": "fixed-2", "max_calls": 9}, 2, None),
    ):
        settings = load_settings(flags)
        budget = budget_of(settings, choose_policy(settings, KNOWN))
        assert (budget.max_calls, budget.max_turns) == (calls, turns)


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ({"policy": "bars", "answer_at": 9.0}, "answer_at"),
        ({"policy": "never", "abstain_below": 0.0}, "abstain_below"),
        ({"min_turns": 5}, "min_turns"),
        ({"policy": "utility", "min_turns": 2, "answer_at": 1.0}, "answer_at, min_turns"),
    ],
)
def test_a_threshold_that_changes_nothing_is_refused(flags: dict[str, Any], named: str) -> None:
    """The user meant something by it; silence would be a wrong answer later."""
    with pytest.raises(ConfigError, match=f"does not look at {named}"):
        chosen(KNOWN, **flags)


def test_a_certificate_decides_for_its_own_searches_only(tmp_path: Path) -> None:
    """Another budget, scorer or tier is refused by name; so is a second policy beside it."""
    run = write_run(tmp_path / "dev.run", episodes(pairs(120, seed=0)))
    done = calibrate(read_runs([run]), CalibrateRequest(share=0.2))
    assert done.certificate is not None
    file = tmp_path / "certificate.json"
    save_certificate(done.certificate, file)
    certificate = certificate_of(load_settings({"certificate": file}), SEARCH)
    assert isinstance(choose_policy(load_settings({}), SEARCH, certificate), LttThreshold)
    with pytest.raises(CertificateMismatchError, match="scorer"):
        certificate_of(load_settings({"certificate": file}), {**SEARCH, "scorer": "another"})
    with pytest.raises(ConfigError, match="policy, answer_at says otherwise"):
        certificate_of(load_settings({"certificate": file, "policy": "band", "answer_at": 1.0}), SEARCH)
    assert certificate_of(load_settings({}), SEARCH) is None
