"""The order of evidence: a chain that covers the question comes first, wherever its parts were ranked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import ranking as module
from agent.chains import FEATURES, Chains, chains
from agent.errors import ConfigError
from agent.ranking import ALL, LARGEST, ChainRanker, Compared, shipped_weights
from agent.seams import Ranker
from agent.views import View
from retrieval import EvidenceSet, Passage
from retrieval.fusion import reciprocal_rank_fusion

QUESTION = "Which river flows past the town where Ilse Aue was born?"
AUE = Passage(title="Ilse Aue", text="Ilse Aue was an engineer. She was born in Hartmoor.")
HARTMOOR = Passage(title="Hartmoor", text="Hartmoor is a market town. The river Lenne flows past it.")
WEIR = Passage(title="Weir", text="A weir is a barrier across a river past which water flows.")
RELL = Passage(title="Tomas Rell", text="Tomas Rell was born in a town by the sea.")
RANKER = ChainRanker()


def test_the_passages_of_a_chain_come_before_better_ranked_lone_ones() -> None:
    evidence = EvidenceSet.of([WEIR, RELL, AUE, HARTMOOR])
    ranking = RANKER.rank(QUESTION, evidence, [(WEIR.id, RELL.id, AUE.id), (WEIR.id, HARTMOOR.id)])
    assert set(ranking.ids[:2]) == {AUE.id, HARTMOOR.id}


def test_links_are_found_without_titles() -> None:
    bare = [Passage(text=passage.text) for passage in (WEIR, RELL, AUE, HARTMOOR)]
    ranking = RANKER.rank(QUESTION, EvidenceSet.of(bare), [[passage.id for passage in bare]])
    assert set(ranking.ids[:2]) == {bare[2].id, bare[3].id}


def test_a_question_without_words_keeps_the_order_of_ranks_among_lone_passages() -> None:
    """Nothing but ranks tells passages without links apart."""
    evidence = EvidenceSet.of([WEIR, RELL, AUE])
    assert RANKER.rank("?", evidence, [(RELL.id, WEIR.id, AUE.id)]).ids == (RELL.id, WEIR.id, AUE.id)


def test_no_evidence_has_an_empty_ranking() -> None:
    assert RANKER.rank(QUESTION, EvidenceSet(), []).ids == ()
    assert RANKER.rank(QUESTION, EvidenceSet(), [("unknown",)]).ids == ()


def test_one_passage_is_ranked_and_unknown_ids_and_empty_lists_are_passed_over() -> None:
    ranking = RANKER.rank(QUESTION, EvidenceSet.of([AUE]), [(), ("unknown", AUE.id, AUE.id), ("unknown",)])
    assert ranking.ids == (AUE.id,)
    assert all(map(math.isfinite, ranking.scores))


def test_of_many_passages_the_best_ranked_are_compared_and_the_rest_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Work grows with the square of the passages, so their number is bounded; none is lost."""
    compared: list[int] = []

    def counting(question: str, views: list[View]) -> Chains:
        compared.append(len(views))
        return chains(question, views)

    monkeypatch.setattr("agent.ranking.chains", counting)
    many = [Passage(title=f"T{at}", text=f"Remark {at} on rivers.") for at in range(500)]
    lists = [[one.id for one in many], [one.id for one in reversed(many[:40])]]
    ranking = RANKER.rank(QUESTION, EvidenceSet.of(many), lists)
    fused = [key for key, _ in reciprocal_rank_fusion(lists)]
    assert compared == [LARGEST]
    assert set(ranking.ids[:LARGEST]) == set(fused[:LARGEST])
    assert list(ranking.ids[LARGEST:]) == fused[LARGEST:]
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)


@given(
    question=st.one_of(st.text(max_size=60), st.just(QUESTION)),
    texts=st.lists(
        st.one_of(st.text(min_size=1, max_size=80), st.just(AUE.text), st.just("東京の川")), max_size=6
    ),
    data=st.data(),
)
def test_every_ranked_passage_stands_once_and_scores_do_not_increase(
    question: str, texts: list[str], data: st.DataObject
) -> None:
    """The same again from a ranker that has seen nothing."""
    evidence = EvidenceSet.of(Passage(text=text) for text in texts)
    order = data.draw(st.permutations(evidence.ids))
    ranking = RANKER.rank(question, evidence, [order, order[:2]])
    assert sorted(ranking.ids) == sorted(evidence.ids)
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)
    assert np.isfinite(ranking.scores).all()
    assert ranking == ChainRanker().rank(question, evidence, [order, order[:2]])


def test_it_fits_its_seam() -> None:
    assert isinstance(RANKER, Ranker)


def test_the_shipped_weights_name_every_feature() -> None:
    """A feature that is renamed without a new fit would not be noticed otherwise."""
    known = module._shipped()
    assert ALL in known
    for weights in known.values():
        assert tuple(weights) == FEATURES
        assert all(map(math.isfinite, weights.values()))


def test_an_unknown_family_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ConfigError, match="no ranking weights without 'squad', only without one of"):
        shipped_weights(without="squad")


@pytest.mark.parametrize("change", [{"crowd": None}, {"more": 1.0}, {"crowd": math.nan}, {"first": math.inf}])
def test_weights_that_do_not_fit_are_refused(change: dict[str, float | None]) -> None:
    """One too few, one too many, none that is a number."""
    changed = dict(shipped_weights()) | change
    weights = {name: value for name, value in changed.items() if value is not None}
    with pytest.raises(ConfigError, match="expected"):
        ChainRanker(weights)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file of an installation, to be damaged."""
    monkeypatch.setattr("agent.ranking.resources.files", lambda _: tmp_path)
    module._shipped.cache_clear()
    (tmp_path / "weights").mkdir()
    yield tmp_path / "weights" / "ranking.json"
    module._shipped.cache_clear()


@pytest.mark.parametrize("content", [None, "", "{", '{"none": {"first": NaN}}', '{"none": {"first": "x"}}', "[]"])
def test_a_damaged_installation_is_told_with_its_remedy(installed: Path, content: str | None) -> None:
    if content is not None:
        installed.write_text(content)
    with pytest.raises(ConfigError, match="Install sufficit again"):
        shipped_weights()


def test_what_no_passage_before_covers_counts_and_scores_never_increase() -> None:
    """Two passages that cover the same half of the question: the second one makes room for the other half."""
    compared = Compared(
        near=("a", "twin", "other"),
        rest=("late",),
        features=np.array([[1.0], [0.9], [0.5]]),
        covers=np.array([[0.5, 0.0], [0.5, 0.0], [0.0, 0.5]]),
    )
    ranking = compared.ranking(np.array([1.0]), novelty=8.0)
    assert ranking.ids == ("a", "other", "twin", "late")
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)
    assert compared.ranking(np.array([1.0]), novelty=0.0).ids == ("a", "twin", "other", "late")
