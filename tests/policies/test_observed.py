"""Policies that rest on observers: probes, language models, and the annotation."""

from __future__ import annotations

import math

import pytest

from policies import SearchState, StopPolicy
from policies.opinion import LlmSaysStop, SufficiencyPrompt
from policies.oracle import OracleSupport, OracleUtility
from policies.stability import AnswerStability, Tasr
from policies.utility import Utility
from tests.policies.looks import MID, after, says


def _probed(stable: float | None, margin: float | None = None) -> SearchState:
    values = {"probe.stable": stable, "probe.margin": margin}
    return after([MID] * 3, observed={name: value for name, value in values.items() if value is not None})


@pytest.mark.parametrize(
    ("policy", "state", "expected"),
    [
        (AnswerStability(turns=2), _probed(1), "search answer_unstable"),
        (AnswerStability(turns=2), _probed(2), "answer answer_stable"),
        (AnswerStability(turns=3), _probed(2), "search answer_unstable"),
        (AnswerStability(), _probed(None), "search not_observed"),
        (AnswerStability(), _probed(math.nan), "search not_observed"),
        (Tasr(margin=0.25), _probed(2, 0.3), "answer answer_stable"),
        # exceeds, not reaches
        (Tasr(margin=0.25), _probed(2, 0.25), "search answer_unstable"),
        (Tasr(margin=0.25), _probed(1, 0.9), "search answer_unstable"),
        (Tasr(margin=0.25), _probed(2, None), "search not_observed"),
        (Tasr(margin=0.25), _probed(2, math.inf), "search not_observed"),
        (LlmSaysStop(), after([MID], observed={"llm_stop.stop": 1.0}), "answer llm_stop"),
        (LlmSaysStop(), after([MID], observed={"llm_stop.stop": 0.0}), "search llm_search"),
        (LlmSaysStop(), after([MID]), "search not_observed"),
        (SufficiencyPrompt(), after([MID], observed={"llm_sufficient.sufficient": 0.5}), "answer llm_sufficient"),
        (
            SufficiencyPrompt(),
            after([MID], observed={"llm_sufficient.sufficient": 0.4}),
            "search llm_insufficient",
        ),
        (
            SufficiencyPrompt(),
            after([MID], observed={"llm_sufficient.sufficient": math.nan}),
            "search not_observed",
        ),
    ],
)
def test_probes_and_models(policy: StopPolicy, state: SearchState, expected: str) -> None:
    """An observation decides; one that is missing or not finite never does (S04)."""
    assert says(policy.decide(state)) == expected


@pytest.mark.parametrize("policy", [AnswerStability(), Tasr(margin=0), LlmSaysStop(), SufficiencyPrompt()])
def test_an_opinion_without_evidence_is_no_answer(policy: StopPolicy) -> None:
    """E06: a model may well say "sufficient" about nothing."""
    sure = {"probe.stable": 9.0, "probe.margin": 9.0, "llm_stop.stop": 1.0, "llm_sufficient.sufficient": 1.0}
    assert says(policy.decide(after([None], new=[0], observed=sure))) == "search no_evidence"


def _known(complete: float, first: float | None, calls: int) -> SearchState:
    values = {"gold.complete": complete} | ({} if first is None else {"gold.first_complete": first})
    return after([MID] * calls, calls=calls, observed=values)


@pytest.mark.parametrize(
    ("policy", "state", "expected"),
    [
        (OracleSupport(), _known(0, 3, 1), "search oracle_pending"),
        (OracleSupport(), _known(1, 3, 3), "answer oracle"),
        (OracleSupport(), _known(0, None, 1), "search oracle_pending"),
        (OracleUtility(), _known(0, 3, 1), "search oracle_pending"),
        (OracleUtility(), _known(1, 1, 1), "answer oracle"),
        (OracleUtility(), _known(0, None, 1), "abstain oracle_hopeless"),
        # four more calls at 0.25 are just worth an answer, five are not
        (OracleUtility(Utility(call_price=0.25)), _known(0, 5, 1), "search oracle_pending"),
        (OracleUtility(Utility(call_price=0.25)), _known(0, 6, 1), "abstain oracle_hopeless"),
    ],
)
def test_oracles(policy: StopPolicy, state: SearchState, expected: str) -> None:
    """They see the annotation, and the future of the record."""
    assert says(policy.decide(state)) == expected


@pytest.mark.parametrize("policy", [OracleSupport(), OracleUtility()])
def test_an_oracle_without_its_observer_goes_on(policy: StopPolicy) -> None:
    """In the product nobody observes gold, so an oracle never answers there."""
    assert says(policy.decide(after([MID]))) == "search not_observed"


@pytest.mark.parametrize(
    ("policy", "observer"),
    [
        (AnswerStability(), "probe"),
        (Tasr(margin=0), "probe"),
        (LlmSaysStop(), "llm_stop"),
        (SufficiencyPrompt(), "llm_sufficient"),
        (OracleSupport(), "gold"),
        (OracleUtility(), "gold"),
    ],
)
def test_each_names_its_observer(policy: StopPolicy, observer: str) -> None:
    """The loop runs the observers that a policy requires."""
    assert policy.requires == {observer}
    assert isinstance(policy, StopPolicy)
