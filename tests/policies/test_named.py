"""What `--policy` names."""

from __future__ import annotations

import pytest

from policies import StopPolicy, build_policy
from policies.bars import Bars
from policies.calibrated import Calibration
from policies.coverage_bars import CoverageBars
from policies.errors import PolicyParameterError
from policies.named import KNOWN_POLICIES, needs_thresholds
from policies.probed import ProbeWeights

CALIBRATION = Calibration(kind="platt", slope=2.0)
PROBE = ProbeWeights(score=1.0, stable=0.5, margin=0.25, unmarked=0.1)
BARS = Bars(answer_at=(None, 1.0), abstain_below=(-1.0, 0.5))
COVERAGE = CoverageBars(ahead=BARS, fetching=BARS, otherwise=BARS)


def build(spec: str, *, unchecked: bool = False) -> StopPolicy:
    """With everything that any name needs."""
    return build_policy(
        spec,
        answer_at=1.0,
        abstain_below=0.5,
        min_turns=2,
        patience=3,
        unchecked=unchecked,
        calibration=CALIBRATION,
        hazard=(0.3, 0.1),
        bars=BARS,
        coverage=COVERAGE,
        probe=PROBE,
    )


EXPECTED = {
    "fixed-6": "FixedK(k=6)",
    "band": "FirstOf(Band(answer_at=1.0, abstain_below=0.5, min_turns=2, patience=3), Stagnation(patience=3))",
    "bars": f"FirstOf({BARS!r}, Stagnation(patience=3))",
    "coverage": f"FirstOf({COVERAGE!r}, Stagnation(patience=3))",
    "probed": f"FirstOf(Probed(weights={PROBE!r}, answer_at=1.0, min_turns=2), Stagnation(patience=3))",
    "threshold": "FirstOf(ScoreThreshold(answer_at=1.0, min_turns=2), Stagnation(patience=3))",
    "never": "Never()",
    "single": "FixedK(k=1)",
    "until-dry": "UntilDry(patience=3)",
    "random-0.25": "RandomStop(stop_rate=0.25, seed=0)",
    "decaying": "FirstOf(DecayingBar(start=1.0, end=0.5, turns=6), Stagnation(patience=3))",
    "no-gain": "Gated(part=NoGain(min_gain=0.0, patience=3), answer_at=None)",
    "gated-no-gain": "Gated(part=NoGain(min_gain=0.0, patience=3), answer_at=1.0)",
    "gated-6": "Gated(part=FixedK(k=6), answer_at=1.0)",
    "novelty": "Gated(part=NoveltyRate(at_least=0.5, patience=3), answer_at=None)",
    "stability": "AnswerAtEnd(part=AnswerStability(turns=2))",
    "tasr-0.25": "AnswerAtEnd(part=Tasr(margin=0.25, turns=2))",
    "llm-stop": "AnswerAtEnd(part=LlmSaysStop())",
    "llm-sufficient": "FirstOf(SufficiencyPrompt(at_least=0.5), Stagnation(patience=3))",
    "utility": f"ExpectedUtility(calibration={CALIBRATION!r}, hazard=(0.3, 0.1), "
    "utility=Utility(right=1.0, wrong=0.5, call_price=0.05), look_ahead=1, informed=0.0)",
    "ragflow": f"RagflowLadder(calibration={CALIBRATION!r}, rungs=(0.85, 0.75, 0.65, 0.55), min_gain=0.05, "
    "patience=2)",
}
"""The repr goes into traces."""


@pytest.mark.parametrize(("spec", "expected"), EXPECTED.items())
def test_a_name_builds_a_policy_that_shows_its_parameters(spec: str, expected: str) -> None:
    """Parameters that the policy uses arrive; the others do no harm."""
    assert repr(build(spec)) == expected
    assert repr(build(spec, unchecked=True)) == f"AnswerAtEnd(part={expected})"


def test_every_known_name_is_tested() -> None:
    """The list is what users see in help and errors."""
    families = {
        "fixed-6": "fixed-K",
        "gated-6": "gated-K",
        "random-0.25": "random-RATE",
        "tasr-0.25": "tasr-MARGIN",
    }
    assert sorted(families.get(spec, spec) for spec in EXPECTED) == list(KNOWN_POLICIES)


def test_band_is_the_default() -> None:
    """Without a name: answer, go on, give up."""
    assert build_policy(answer_at=1.0, abstain_below=0.5) == build_policy("band", answer_at=1.0, abstain_below=0.5)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("best", "Unknown policy 'best'. Known: band, bars, coverage, decaying, fixed-K, gated-K,.*e.g. fixed-6"),
        ("fixed-six", "Unknown policy 'fixed-six'"),
        ("fixed-0", "k must be a whole number of at least 1"),
        ("random", "Unknown policy 'random'.*random-0.3"),
        ("random--0.5", "Unknown policy"),
        ("random-1.5", r"stop_rate must be in \[0, 1\], it is 1.5"),
        ("tasr-nan", "Unknown policy"),
        ("utility", "Policy 'utility' needs a calibration"),
        ("coverage", "Policy 'coverage' needs bars for the cache.*coverage-fit"),
        ("ragflow", "Policy 'ragflow' needs a calibration.*sufficit calibrate"),
    ],
)
def test_a_name_that_builds_nothing_is_refused(spec: str, message: str) -> None:
    """With the names that are known, or with what is missing."""
    with pytest.raises(PolicyParameterError, match=message):
        build_policy(spec, answer_at=1.0, abstain_below=0.0)


def test_bars_need_bars() -> None:
    """Two thresholds do not say what a score means after each turn."""
    with pytest.raises(PolicyParameterError, match=r"'bars' needs a bar for each turn.*'band'"):
        build_policy("bars", answer_at=1.0, abstain_below=0.0)


def test_utility_needs_a_hazard() -> None:
    """A calibration alone does not say what a call brings."""
    with pytest.raises(PolicyParameterError, match="hazard must hold at least 1 probability"):
        build_policy("utility", answer_at=1.0, abstain_below=0.0, calibration=CALIBRATION)


@pytest.mark.parametrize("spec", EXPECTED)
def test_only_some_policies_need_thresholds(spec: str) -> None:
    """A command line asks for thresholds only where they change the policy."""
    others = build_policy(spec, answer_at=9.0, abstain_below=8.0, min_turns=2, patience=3,
                          calibration=CALIBRATION, hazard=(0.3, 0.1), bars=BARS, coverage=COVERAGE,
                          probe=PROBE)  # fmt: skip
    assert needs_thresholds(spec) is (others != build(spec))
