"""The canonical order equals BM25 of another implementation once both use the same statistics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from rinse.order import K1, B, canonical_order

TOKENS = st.integers(0, 30)
PASSAGES = st.lists(st.lists(TOKENS, min_size=1, max_size=40), min_size=1, max_size=12)
IDF = np.linspace(0.1, 5.0, 31).astype(np.float32)


@given(question=st.lists(TOKENS, max_size=12), passages=PASSAGES)
def test_scores_equal_rank_bm25_with_the_profile_s_statistics(
    question: list[int], passages: list[list[int]]
) -> None:
    oracle = BM25Okapi(passages, k1=K1, b=B)
    oracle.idf = {token: float(IDF[token]) for token in range(31)}
    oracle.avgdl = 20.0
    expected = oracle.get_scores(question)
    named = {f"{number:02}": passage for number, passage in enumerate(passages)}
    found = dict(canonical_order(question, named, idf=IDF, average_length=20.0))
    assert [found[key] for key in named] == pytest.approx(list(expected), rel=1e-5, abs=1e-6)


@given(question=st.lists(TOKENS, max_size=12), passages=PASSAGES, random=st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_arrival_and_ties_go_by_id(
    question: list[int], passages: list[list[int]], random: object
) -> None:
    named = {f"{number:02}": passage for number, passage in enumerate(passages)}
    keys = list(named)
    random.shuffle(keys)  # type: ignore[attr-defined]
    order = canonical_order(question, named, idf=IDF, average_length=20.0)
    assert order == canonical_order(question, {k: named[k] for k in keys}, idf=IDF, average_length=20.0)
    assert order == sorted(order, key=lambda item: (-item[1], item[0]))


def test_a_passage_s_score_does_not_depend_on_its_siblings() -> None:
    alone = canonical_order([1, 2], {"a": [1, 3]}, idf=IDF, average_length=20.0)
    together = dict(canonical_order([1, 2], {"a": [1, 3], "b": [2] * 30}, idf=IDF, average_length=20.0))
    assert together["a"] == alone[0][1]
