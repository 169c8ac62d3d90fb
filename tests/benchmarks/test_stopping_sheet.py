"""Figures of policies: worked by hand, exact in regret, paired, null where undefined."""

from __future__ import annotations

import numpy as np
import pytest

from agent.episodes import Episode
from benchmarks.stats import Interval
from benchmarks.stopping.board import Board, Played, make_board, play
from benchmarks.stopping.figures import best_ends, shares, worths
from benchmarks.stopping.rows import FIGURES
from benchmarks.stopping.runs import reduced
from benchmarks.stopping.sheet import HORIZON, RANDOM, Sheet, make_macro, make_sheet
from policies import StopPolicy
from policies.dry import UntilDry
from policies.fixed import FixedK
from policies.never import Never
from policies.oracle import OracleSupport, OracleUtility
from policies.threshold import ScoreThreshold
from policies.utility import Utility
from tests.benchmarks.episodes_world import episode, world

PRICES = Utility(wrong=1.0)
POLICIES: dict[str, StopPolicy] = {
    "default": ScoreThreshold(answer_at=1.5),
    "twice": ScoreThreshold(answer_at=1.5),
    "never": Never(),
    "fixed-2": FixedK(2),
    "fixed-6": FixedK(6),
    "until-dry": UntilDry(),
    "oracle-support": OracleSupport(),
    "oracle-utility": OracleUtility(PRICES),
}


def sheet_of(episodes: list[Episode], *, draws: int = 200) -> tuple[Board, dict[str, Played], Sheet]:
    searches = [reduced(one) for one in episodes]
    board = make_board(searches)
    plays = {name: play(policy, searches) for name, policy in POLICIES.items()}
    return board, plays, make_sheet(board, plays, PRICES, matched_to="default", draws=draws, seed=1)


def test_figures_worked_by_hand() -> None:
    """Four searches under a threshold of 0.5: right after 2 calls, wrong after 1, refused after 3 though complete
    since 2, rightly refused after 2.
    """
    searches = [
        reduced(one)
        for one in (
            episode("a", [0.1, 0.9, 0.9], [1, 2, 2], texts=["Tessel", "Lenne river", "Lenne"]),
            episode("b", [0.6, 0.9, 0.9], [1, 1, 2], texts=["Tessel", "Tessel", "Lenne"]),
            episode("c", [0.1, 0.2, 0.3], [1, 2, 2], texts=["Tessel", "Lenne", "Lenne"]),
            episode("d", [0.1, 0.2], [0, 0], twin=True, gold_answer=None),
        )
    ]
    board = make_board(searches)
    played = play(ScoreThreshold(answer_at=0.5), searches)
    assert played.answered.tolist() == [True, True, False, False]
    assert board.at(board.calls, played.look).tolist() == [2, 1, 3, 2]
    assert played.reasons == ("threshold_met", "threshold_met", "nothing_to_ask", "nothing_to_ask")
    found = {
        name: (part.sum(), whole.sum())
        for name, (part, whole) in shares(board, played, PRICES, best_ends(board, PRICES)).items()
    }
    expected = {
        "correct_decisions": (2, 4),
        "utility": (0.9 - 1.05 - 0.15 - 0.1, 4),
        "calls_per_question": (8, 4),
        "support_recall": (1 + 0.5 + 1 + 0, 4),
        "support_complete": (2, 4),
        "coverage": (2, 4),
        "risk": (1, 2),
        "answered_incomplete": (1, 4),
        "answered_on_insufficient": (1, 2),
        "refused_on_sufficient": (1, 2),
        "supported_refused": (1, 3),
        "unsupported_answered": (0, 1),
        "unsupported_cut": (0, 1),
        "over_search": (1, 3),
        "under_search": (1, 3),
        "stop_minus_oracle": (0 - 2 + 1 + 1, 4),
        "passages_scored": (15 + 5 + 30 + 15, 4),
        "tokens": (80, 4),
        "seconds": (8, 4),
        "regret_utility": (0 + (0.85 + 1.05) + (0.9 + 0.15) + 0.05, 4),
        "regret_support": (0 + (0.85 + 1.05) + (0.9 + 0.15) + 0, 4),
        "em": (0, 4),
        "f1": (2 / 3, 4),
        "em_gold": (3, 3),
        "f1_gold": (3, 3),
    }
    for name, sums in expected.items():
        assert found[name] == pytest.approx(sums), name


def test_regret_is_exact_for_each_search() -> None:
    """The best end by trying all of them equals `OracleUtility` as it is played, and what `best_ends` says."""
    board, plays, sheet = sheet_of(world(30))
    best = best_ends(board, PRICES)
    everyone = np.ones(len(board.searches), dtype=np.bool_)
    tried = [
        worths(board, np.minimum(look, board.ends), answered, PRICES)
        for look in range(board.looks)
        for answered in (everyone, ~everyone)
    ]
    assert best.utility == pytest.approx(np.max(tried, axis=0))
    for name, expected in (("oracle-utility", best.utility), ("oracle-support", best.support)):
        assert worths(board, plays[name].look, plays[name].answered, PRICES) == pytest.approx(expected)
        assert sheet.interval(name, name.replace("oracle", "regret").replace("-", "_")).estimate == pytest.approx(
            0
        )
    for name in POLICIES:
        assert (sheet.interval(name, "regret_utility").lo or 0) >= -1e-12


def test_prices_decide_whether_an_answer_is_worth_its_calls() -> None:
    """At 0.3 a call, support that takes five calls is worth less than giving up at once: both agree."""
    searches = [reduced(one) for one in world(20)]
    board, dear = make_board(searches), Utility(call_price=0.3)
    oracle = play(OracleUtility(dear), searches)
    assert worths(board, oracle.look, oracle.answered, dear) == pytest.approx(best_ends(board, dear).utility)


def test_identical_policies_differ_by_exactly_zero() -> None:
    """Case E03: in every figure, over one dataset and over the mean of two, and the p-value is 1."""
    sheets = [sheet_of(world(15, dataset=name))[2] for name in ("toy", "hills")]
    for sheet in (*sheets, make_macro(sheets)):
        for figure in FIGURES:
            difference = sheet.difference("twice", "default", figure)
            assert difference.estimate in {0.0, None}, figure
            assert difference in {Interval(estimate=difference.estimate, lo=0.0, hi=0.0), _nothing()}, figure
        assert sheet.p_value("twice", "default", "utility") == 1.0
        assert sheet.difference("fixed-2", "default", "utility").estimate != 0


def _nothing() -> Interval:
    return Interval(estimate=None, lo=None, hi=None)


def test_always_abstaining_leaves_undefined_what_nothing_defines() -> None:
    """Case E02: no answer, no risk; never an error, never NaN."""
    _, _, sheet = sheet_of(world(10))
    assert sheet.interval("never", "risk") == _nothing()
    assert sheet.interval("never", "coverage") == Interval(estimate=0.0, lo=0.0, hi=0.0)
    assert sheet.interval("never", "em").estimate == 0.0
    assert sheet.interval("nobody", "em") == _nothing()
    assert sheet.difference("nobody", "default", "em") == _nothing()
    assert sheet.at_least("nobody", "default", "em") is None
    for column in sheet.columns:
        interval = sheet.interval(*column)
        assert all(end is None or np.isfinite(end) for end in (interval.estimate, interval.lo, interval.hi))


def test_questions_without_an_answer_have_no_answer_figures() -> None:
    """Case E02: nothing can be judged, whoever answers."""
    some = [one.model_copy(update={"answerable": False}) for one in world(6)]
    _, _, sheet = sheet_of(some)
    assert sheet.interval("fixed-6", "f1") == _nothing()
    assert sheet.interval("fixed-6", "auroc") == _nothing()
    assert sheet.interval("fixed-6", "correct_decisions").estimate == 0.0
    assert sheet.interval("fixed-6", "under_search") == _nothing()


def test_the_random_row_has_the_calls_of_the_default() -> None:
    """And gains nothing over itself, nor does always answering at the horizon."""
    _, _, sheet = sheet_of(world(25))
    calls = [sheet.interval(name, "calls_per_question").estimate for name in (RANDOM, "default")]
    assert calls[0] == pytest.approx(calls[1])
    assert sheet.interval(RANDOM, "utility_over_random").estimate == pytest.approx(0)
    assert sheet.interval(HORIZON, "utility_over_random").estimate == pytest.approx(0)
    assert sheet.interval("fixed-6", "calls_saved").estimate == 0.0


def test_frontier_gain_of_fixed_numbers_is_at_most_zero() -> None:
    """They make the frontier; a policy that knows the support lies far above it, with its whole interval."""
    _, _, sheet = sheet_of(world(25))
    for name in ("fixed-2", "fixed-6", "until-dry", RANDOM):
        assert (sheet.interval(name, "correct_decisions_over_frontier").hi or 0) <= 1e-12
    assert (sheet.interval("oracle-support", "correct_decisions_over_frontier").lo or 0) > 0.1


def test_who_leaves_the_record_has_no_figure() -> None:
    """Nobody knows how such a search would have ended: not one figure is made of the others."""
    searches = [reduced(one) for one in world(5)]
    board = make_board(searches)
    played = play(FixedK(3), searches)
    off = Played(look=played.look, answered=played.answered, off=np.arange(10) == 4, reasons=played.reasons)
    sheet = make_sheet(board, {"stray": off}, PRICES, matched_to=None, draws=20, seed=0)
    assert sheet.interval("stray", "correct_decisions") == _nothing()
    assert sheet.interval(HORIZON, "correct_decisions").estimate is not None
