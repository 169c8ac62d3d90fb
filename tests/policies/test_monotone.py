"""Where a policy promises it, a higher score never takes an answer back."""

from __future__ import annotations

import math
from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from policies import Abstain, AnswerNow, Decision, SearchOn, SearchState, StopPolicy, Widen, enforce
from policies.gated import Gated
from policies.threshold import Band, ScoreThreshold
from tests.policies.strategies import (
    LOWEST_THRESHOLD,
    bars_by_turn,
    blind_rules,
    coverage_bars,
    falling_bars,
    policies,
    states,
    weighing_policies,
)

_scores = st.floats(min_value=-3.0, max_value=3.0)
_WORTH = {Abstain: 0, SearchOn: 1, Widen: 1, AnswerNow: 2}


def monotone_policies() -> st.SearchStrategy[StopPolicy]:
    """Policies whose docstrings promise it."""
    bars = st.floats(min_value=-2.0, max_value=2.0)
    return st.one_of(
        st.builds(ScoreThreshold, answer_at=bars),
        st.builds(Band, answer_at=bars.map(lambda bar: bar + 5), abstain_below=bars),
        falling_bars(),
        bars_by_turn(),
        coverage_bars(),
        blind_rules().map(lambda rule: Gated(rule, LOWEST_THRESHOLD)),
        weighing_policies(),
    )


def _after(state: SearchState, score: float) -> SearchState:
    return replace(state, scores=(*state.scores, score), score_invalid=False)


@given(monotone_policies(), states(), _scores, _scores)
def test_answers_are_closed_upwards(policy: StopPolicy, state: SearchState, one: float, other: float) -> None:
    """If the lower score of the same evidence answers, so does the higher."""
    low, high = sorted((one, other))
    if isinstance(policy.decide(_after(state, low)), AnswerNow):
        assert isinstance(policy.decide(_after(state, high)), AnswerNow)


@given(weighing_policies(), states(), _scores, _scores)
def test_expected_utility_moves_from_abstaining_to_answering(
    policy: StopPolicy, state: SearchState, one: float, other: float
) -> None:
    """Abstain, go on, answer: never back as the score rises, also after `enforce`."""
    low, high = sorted((one, other))
    below, above = (_after(state, score) for score in (low, high))
    assume(state.passages)
    assert _WORTH[type(policy.decide(below))] <= _WORTH[type(policy.decide(above))]
    assert _WORTH[type(_done(policy, below))] <= _WORTH[type(_done(policy, above))]


@given(policies(), states())
def test_an_answer_that_is_carried_out_has_passages_and_a_reason(policy: StopPolicy, state: SearchState) -> None:
    """E06, S04: for the whole family, on any state; every reason has a code, a speaker and finite numbers."""
    done = _done(policy, state)
    assert not isinstance(done, AnswerNow) or state.passages > 0
    assert done.reason.code
    assert done.reason.by
    assert all(math.isfinite(value) for value in done.reason.values.values())


@given(policies(), states())
def test_observations_that_are_not_finite_count_as_missing(policy: StopPolicy, state: SearchState) -> None:
    """S04: NaN from an observer decides no more than NaN from the scorer."""
    finite = {name: value for name, value in state.observations.items() if math.isfinite(value)}
    assert policy.decide(state) == policy.decide(replace(state, observations=finite))


def _done(policy: StopPolicy, state: SearchState) -> Decision:
    return enforce(policy.decide(state), state)
