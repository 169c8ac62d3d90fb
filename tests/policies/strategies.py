"""Random policies and random states, sensible and otherwise."""

from __future__ import annotations

from hypothesis import strategies as st

from policies import SearchState, StopPolicy, TierInfo
from policies.bars import Bars
from policies.calibrated import Calibration
from policies.chance import RandomStop
from policies.combine import AnswerAtEnd, FirstOf, MinTurns
from policies.coverage_bars import CoverageBars
from policies.decaying import DecayingBar
from policies.dry import UntilDry
from policies.expected import ExpectedUtility
from policies.fixed import FixedK
from policies.gated import Gated
from policies.guaranteed import ConformalThreshold, LttThreshold
from policies.never import Never
from policies.novelty import NoveltyRate
from policies.opinion import LlmSaysStop, SufficiencyPrompt
from policies.oracle import OracleSupport, OracleUtility
from policies.ragflow import RagflowLadder
from policies.stability import AnswerStability, Tasr
from policies.stagnation import NoGain, Stagnation
from policies.threshold import Band, ScoreThreshold
from policies.utility import Utility
from retrieval import Allowance, Spend

LOWEST_THRESHOLD = 0.5
"""No generated policy answers, by a check, below this score."""

_counts = st.integers(min_value=1, max_value=4)
_thresholds = st.floats(min_value=LOWEST_THRESHOLD, max_value=2.0)
_below = st.floats(min_value=-2.0, max_value=LOWEST_THRESHOLD)
_shares = st.floats(min_value=0.0, max_value=1.0)
_prices = st.floats(min_value=0.0, max_value=2.0)


def calibrations() -> st.SearchStrategy[Calibration]:
    """Both kinds."""
    offsets = st.lists(st.floats(min_value=-2.0, max_value=2.0), max_size=3).map(tuple)
    slopes = st.floats(min_value=0.0, max_value=5.0)
    knots = st.lists(
        st.tuples(st.integers(-30, 30), _shares), min_size=1, max_size=5, unique_by=lambda knot: knot[0]
    )
    return st.one_of(
        st.builds(
            Calibration, kind=st.just("platt"), slope=slopes, intercept=slopes.map(lambda up: -up), offsets=offsets
        ),
        knots.map(_isotonic),
    )


def _isotonic(knots: list[tuple[int, float]]) -> Calibration:
    scores, probabilities = zip(*knots, strict=True)
    return Calibration(
        kind="isotonic",
        scores=tuple(score / 10 for score in sorted(scores)),
        probabilities=tuple(sorted(probabilities)),
    )


def utilities() -> st.SearchStrategy[Utility]:
    """Any prices, free calls included."""
    return st.builds(Utility, right=_prices, wrong=_prices, call_price=_prices)


def weighing_policies() -> st.SearchStrategy[ExpectedUtility]:
    """With any look-ahead."""
    return st.builds(
        ExpectedUtility,
        calibration=calibrations(),
        hazard=st.lists(_shares, min_size=1, max_size=4).map(tuple),
        utility=utilities(),
        look_ahead=_counts,
        informed=_shares,
    )


def falling_bars() -> st.SearchStrategy[DecayingBar]:
    """Of which none falls below the lowest threshold."""
    return st.builds(
        lambda one, other, turns: DecayingBar(start=max(one, other), end=min(one, other), turns=turns),
        _thresholds,
        _thresholds,
        st.integers(min_value=2, max_value=6),
    )


def bars_by_turn() -> st.SearchStrategy[Bars]:
    """None answers below the lowest threshold; some turns have no bar."""

    def built(pairs: list[tuple[float | None, float | None]], last: tuple[float, float]) -> Bars:
        upper, lower = zip(*pairs, last, strict=True)
        return Bars(answer_at=tuple(upper), abstain_below=tuple(lower))

    pair = st.tuples(st.none() | _thresholds, st.none() | _below)
    return st.builds(built, st.lists(pair, max_size=3), st.tuples(_thresholds, _below))


def coverage_bars() -> st.SearchStrategy[CoverageBars]:
    """Any three, with or without a mark for what is worth adding to."""
    return st.builds(
        CoverageBars,
        ahead=bars_by_turn(),
        fetching=bars_by_turn(),
        otherwise=bars_by_turn(),
        partial_from=st.none() | _below,
    )


def blind_rules() -> st.SearchStrategy[StopPolicy]:
    """Rules that end a search or leave a tier without a look at any score."""
    return st.one_of(
        st.builds(Stagnation, _counts),
        st.builds(NoveltyRate, at_least=st.floats(min_value=0.1, max_value=1.0), patience=_counts),
        st.builds(FixedK, st.integers(min_value=1, max_value=8)),
    )


def checked_leaves() -> st.SearchStrategy[StopPolicy]:
    """Policies that answer for a score or not at all."""
    return st.one_of(
        st.builds(ScoreThreshold, answer_at=_thresholds, min_turns=_counts),
        st.builds(Band, answer_at=_thresholds, abstain_below=_below, min_turns=_counts, patience=_counts),
        st.builds(Stagnation, _counts),
        st.builds(NoGain, min_gain=st.floats(min_value=0.0, max_value=1.0), patience=_counts),
        falling_bars(),
        bars_by_turn(),
        coverage_bars(),
        blind_rules().map(lambda rule: Gated(rule, LOWEST_THRESHOLD)),
        st.just(Never()),
    )


def unchecked_leaves() -> st.SearchStrategy[StopPolicy]:
    """Policies that may answer for another reason than a score."""
    return st.one_of(
        st.builds(FixedK, st.integers(min_value=1, max_value=8)),
        st.builds(UntilDry, _counts),
        st.builds(RandomStop, stop_rate=_shares, seed=_counts),
        blind_rules().map(lambda rule: Gated(rule, None)),
        st.sampled_from(
            [AnswerStability(), Tasr(margin=0.5), LlmSaysStop(), SufficiencyPrompt(), OracleSupport()]
        ),
        st.builds(OracleUtility, utilities()),
        weighing_policies(),
        st.builds(RagflowLadder, calibration=calibrations()),
    )


def _combined(parts: st.SearchStrategy[StopPolicy]) -> st.SearchStrategy[StopPolicy]:
    several = st.lists(parts, min_size=1, max_size=3).map(lambda chosen: FirstOf(*chosen))
    promising = st.one_of(
        st.builds(LttThreshold, part=parts, alpha=st.just(0.1), delta=st.just(0.05)),
        st.builds(ConformalThreshold, part=parts, alpha=st.just(0.1)),
    )
    return st.one_of(several, st.builds(MinTurns, parts, _counts), promising)


def checked_policies() -> st.SearchStrategy[StopPolicy]:
    """Compositions without any part that may answer unchecked."""
    return st.recursive(checked_leaves(), _combined, max_leaves=5)


def policies() -> st.SearchStrategy[StopPolicy]:
    """All compositions."""
    leaves = st.one_of(checked_leaves(), unchecked_leaves())
    return st.recursive(leaves, lambda parts: _combined(parts) | st.builds(AnswerAtEnd, parts), max_leaves=6)


def scores() -> st.SearchStrategy[float | None]:
    """Scores as a careless scorer could report them: NaN and infinity included."""
    return st.none() | st.floats(min_value=-3.0, max_value=3.0) | st.floats()


def allowances() -> st.SearchStrategy[Allowance]:
    """What is left: unlimited, something, nothing, overdrawn."""
    count = st.none() | st.integers(min_value=-2, max_value=5)
    amount = st.none() | st.floats(min_value=-2.0, max_value=5.0)
    return st.builds(Allowance, turns=count, calls=count, seconds=amount, tokens=count, price=amount)


def tiers_left() -> st.SearchStrategy[tuple[TierInfo, ...]]:
    """None, one or two tiers."""
    return st.sampled_from(
        [(), (TierInfo(name="cache"),), (TierInfo(name="cache"), TierInfo(name="web", price=1.0))]
    )


def observations() -> st.SearchStrategy[dict[str, float]]:
    """Values of all observers that a policy knows, as careless ones could report them; each may be missing."""
    names = ("probe.stable", "probe.margin", "llm_stop.stop", "llm_sufficient.sufficient")
    gold = ("gold.complete", "gold.first_complete")
    values = st.floats() | st.sampled_from([0.0, 1.0, 2.0])
    return st.dictionaries(st.sampled_from([*names, *gold]), values)


_small = st.integers(min_value=0, max_value=5)
_states = st.builds(
    SearchState,
    turn=_small,
    tier=st.just("local"),
    scores=st.lists(scores(), max_size=6).map(tuple),
    score_invalid=st.booleans(),
    new_passages=st.lists(_small, max_size=6).map(tuple),
    passages=_small,
    tier_turns=_small,
    tier_price=st.sampled_from([0.0, 0.5]),
    observations=observations(),
    spend=st.builds(Spend, calls=st.integers(min_value=0, max_value=10)),
    left=allowances(),
    tiers_left=tiers_left(),
    nothing_to_ask=st.booleans(),
    failed_turns=st.integers(min_value=0, max_value=3),
)
"""Made once: strategies that are made anew for every state cost more than the states."""


def states() -> st.SearchStrategy[SearchState]:
    """Any state, also ones that contradict themselves: a policy must be total."""
    return _states
