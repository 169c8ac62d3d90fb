"""The roster: enough policies, parameters from training searches only, honest notes about the rest."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.errors import SettingsError
from benchmarks.stopping.board import make_board, play
from benchmarks.stopping.figures import worths
from benchmarks.stopping.roster import Entry, Roster, names
from benchmarks.stopping.runs import Search, reduced
from benchmarks.stopping.tuning import FAMILIES, Tuner
from policies.errors import CalibrationDataError
from policies.shipped import shipped_scorers
from policies.threshold import ScoreThreshold
from policies.utility import Utility
from tests.benchmarks.episodes_world import episode, world

SCORER = shipped_scorers()[0]


def searches(count: int, *, scorer: str = SCORER, signal: float = 2.0) -> list[Search]:
    made = world(count, split="train", signal=signal)
    return [reduced(one.model_copy(update={"scorer": scorer})) for one in made]


def roster(training: Sequence[Search] = (), *, scorer: str = SCORER) -> Roster:
    return Roster(scorer=scorer, training=training, utility=Utility(), seed=0)


def test_at_least_18_policies_are_compared_after_tuning() -> None:
    """All names of the issue, without those that ask a language model."""
    known = roster(searches(8))
    entries: dict[str, Entry] = {name: known.entry(name) for name in names(6)}
    compared = [name for name, entry in entries.items() if entry.policy is not None]
    assert len(compared) >= 18
    assert {"default", "tasr", "utility", "ragflow", "novelty", "band", "gated-6"} <= set(compared)
    left_out = {name: entry.note for name, entry in entries.items() if entry.policy is None}
    promises = {"ltt-0.10", "ltt-0.20", "conformal-0.10"}
    assert set(left_out) <= promises | {"random", "llm-stop", "llm-sufficient"}
    assert "not run here" in left_out["llm-stop"]


def test_without_training_only_shipped_parameters() -> None:
    """What has none is left out and says what to do; another scorer has no shipped thresholds."""
    plain, foreign = roster(), roster(scorer="other")
    for name in ("tasr", "utility", "ltt-0.10", "conformal-0.10", "ragflow", "decaying"):
        assert plain.entry(name).policy is None
        assert "--tune" in plain.entry(name).note
    for name in ("default", "threshold", "band", "gated-4", "gated-no-gain", "stability", "novelty"):
        assert plain.entry(name).policy is not None
    for name in ("default", "threshold", "gated-4"):
        assert "no thresholds were shipped" in foreign.entry(name).note


def test_the_best_parameters_win_on_training_searches() -> None:
    """Against a plain loop over the same candidates; equals go to the fewer calls."""
    some = searches(20)
    tuner = Tuner(some, Utility())
    board = make_board(some)

    def merit(policy: ScoreThreshold) -> tuple[float, float]:
        played = play(policy, some)
        worth = worths(board, played.look, played.answered, Utility()).mean()
        return round(float(worth), 9), -float(board.at(board.calls, played.look).mean())

    chosen = tuner.best("threshold")
    assert isinstance(chosen, ScoreThreshold)
    assert merit(chosen) == max(
        merit(one) for one in FAMILIES["threshold"](tuner.on) if isinstance(one, ScoreThreshold)
    )
    high, low = ScoreThreshold(answer_at=90.0), ScoreThreshold(answer_at=91.0)
    assert tuner.choose([high, low]) is high
    assert tuner.choose([]) is None


def test_each_dataset_weighs_the_same() -> None:
    """A dataset with many searches does not drown one with few: three that want 1 call beat thirty that want 2."""
    many = [episode(f"m{at}", [0.2, 0.9], [1, 2], dataset="many") for at in range(30)]
    few = [episode(f"f{at}", [0.5, 0.4], [1, 1], dataset="few", twin=True) for at in range(3)]
    tuner = Tuner([reduced(one) for one in (*many, *few)], Utility(wrong=3.0))
    early, late = ScoreThreshold(answer_at=0.1), ScoreThreshold(answer_at=0.6)
    assert tuner.choose([early, late]) is late
    even = Tuner([reduced(one) for one in many], Utility(wrong=0.0, right=0.0))
    assert even.choose([late, early]) is early


def test_what_makes_no_sense_is_refused() -> None:
    """An unknown name with the known ones, scores of two scorers, training searches without a score."""
    with pytest.raises(SettingsError, match=r"Unknown policy 'fixd-3'.*gated-6"):
        roster().entry("fixd-3")
    with pytest.raises(SettingsError, match="one scorer"):
        roster(searches(1, scorer="other"))
    with pytest.raises(CalibrationDataError):
        roster([reduced(episode("q", [None], [1], scorer=SCORER))])


def test_promises_are_made_on_training_searches() -> None:
    """Where scores tell nearly everything and questions are many, a risk is certified, a refusal rate bounded."""
    known = roster(searches(120, signal=8.0))
    for name in ("ltt-0.20", "conformal-0.10"):
        policy = known.entry(name).policy
        assert policy is not None
        assert policy.name == name


def test_a_certificate_that_the_data_cannot_support_is_not_made() -> None:
    """Five groups certify nothing; the note says how many would."""
    entry = roster(searches(5)).entry("ltt-0.10")
    assert entry.policy is None
    assert "not certified on 5 training groups" in entry.note
