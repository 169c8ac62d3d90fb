"""Random policies and random states, sensible and otherwise."""

from __future__ import annotations

from hypothesis import strategies as st

from policies import SearchState, StopPolicy, TierInfo
from policies.combine import AnswerAtEnd, FirstOf, MinTurns
from policies.fixed import FixedK
from policies.stagnation import NoGain, Stagnation
from policies.threshold import Band, ScoreThreshold
from retrieval import Allowance, Spend

LOWEST_THRESHOLD = 0.5
"""No generated policy answers, by a check, below this score."""

_counts = st.integers(min_value=1, max_value=4)
_thresholds = st.floats(min_value=LOWEST_THRESHOLD, max_value=2.0)
_below = st.floats(min_value=-2.0, max_value=LOWEST_THRESHOLD)


def checked_leaves() -> st.SearchStrategy[StopPolicy]:
    """Policies that answer for a score or not at all."""
    return st.one_of(
        st.builds(ScoreThreshold, answer_at=_thresholds, min_turns=_counts),
        st.builds(Band, answer_at=_thresholds, abstain_below=_below, min_turns=_counts, patience=_counts),
        st.builds(Stagnation, _counts),
        st.builds(NoGain, min_gain=st.floats(min_value=0.0, max_value=1.0), patience=_counts),
    )


def _combined(parts: st.SearchStrategy[StopPolicy]) -> st.SearchStrategy[StopPolicy]:
    several = st.lists(parts, min_size=1, max_size=3).map(lambda chosen: FirstOf(*chosen))
    return st.one_of(several, st.builds(MinTurns, parts, _counts))


def checked_policies() -> st.SearchStrategy[StopPolicy]:
    """Compositions without any part that may answer unchecked."""
    return st.recursive(checked_leaves(), _combined, max_leaves=5)


def policies() -> st.SearchStrategy[StopPolicy]:
    """All compositions."""
    leaves = st.one_of(checked_leaves(), st.builds(FixedK, st.integers(min_value=1, max_value=8)))
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
