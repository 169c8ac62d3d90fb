"""Reciprocal rank fusion against its formula."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.fusion import reciprocal_rank_fusion

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=8), max_size=4)


def test_scores_are_those_of_the_paper() -> None:
    """Worked by hand: b stands at ranks 2 and 1, a at 1, c at 2 (constant 60)."""
    fused = dict(reciprocal_rank_fusion([["a", "b"], ["b", "c"]]))
    assert fused == pytest.approx({"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 62})


@given(RANKINGS, st.floats(min_value=0.5, max_value=100.0))
def test_fusion_equals_the_formula(rankings: list[list[str]], constant: float) -> None:
    fused = reciprocal_rank_fusion(rankings, constant=constant)
    assert {key for key, _ in fused} == {key for ranking in rankings for key in ranking}
    for key, score in fused:
        ranks = [list(dict.fromkeys(ranking)).index(key) + 1 for ranking in rankings if key in ranking]
        assert math.isclose(score, sum(1 / (constant + rank) for rank in ranks), rel_tol=1e-9)
    scores = [score for _, score in fused]
    assert scores == sorted(scores, reverse=True)


def test_ties_keep_the_order_of_first_appearance() -> None:
    assert [key for key, _ in reciprocal_rank_fusion([["x", "y"], ["z", "w"]])] == ["x", "z", "y", "w"]


def test_nothing_in_nothing_out() -> None:
    assert reciprocal_rank_fusion([]) == []
    assert reciprocal_rank_fusion([[], []]) == []
