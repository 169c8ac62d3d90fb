"""The order of evidence: a chain that covers the question comes first, wherever its parts were ranked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.ranking import rank_evidence
from retrieval import EvidenceSet, Passage
from retrieval.fusion import reciprocal_rank_fusion

QUESTION = "Which river flows past the town where Ilse Aue was born?"
AUE = Passage(title="Ilse Aue", text="Ilse Aue was an engineer. She was born in Hartmoor.")
HARTMOOR = Passage(title="Hartmoor", text="Hartmoor is a market town. The river Lenne flows past it.")
WEIR = Passage(title="Weir", text="A weir is a barrier across a river past which water flows.")
RELL = Passage(title="Tomas Rell", text="Tomas Rell was born in a town by the sea.")


def test_the_passages_of_a_chain_come_before_better_ranked_lone_ones() -> None:
    evidence = EvidenceSet.of([WEIR, RELL, AUE, HARTMOOR])
    ranking = rank_evidence(QUESTION, evidence, [(WEIR.id, RELL.id, AUE.id), (WEIR.id, HARTMOOR.id)])
    assert set(ranking.ids[:2]) == {AUE.id, HARTMOOR.id}


def test_links_are_found_without_titles() -> None:
    bare = [Passage(text=passage.text) for passage in (WEIR, RELL, AUE, HARTMOOR)]
    ranking = rank_evidence(QUESTION, EvidenceSet.of(bare), [[passage.id for passage in bare]])
    assert set(ranking.ids[:2]) == {bare[2].id, bare[3].id}


def test_a_question_without_content_words_keeps_the_fused_order() -> None:
    evidence = EvidenceSet.of([WEIR, RELL, AUE])
    lists = [(RELL.id, WEIR.id), (AUE.id, RELL.id)]
    assert rank_evidence("?", evidence, lists).ids == tuple(key for key, _ in reciprocal_rank_fusion(lists))


def test_no_evidence_has_an_empty_ranking() -> None:
    assert rank_evidence(QUESTION, EvidenceSet(), []).ids == ()
    assert rank_evidence(QUESTION, EvidenceSet(), [("unknown",)]).ids == ()


@given(
    question=st.text(max_size=60),
    texts=st.lists(st.text(min_size=1, max_size=80), max_size=6),
    data=st.data(),
)
def test_every_ranked_passage_stands_once_and_scores_do_not_increase(
    question: str, texts: list[str], data: st.DataObject
) -> None:
    evidence = EvidenceSet.of(Passage(text=text) for text in texts)
    order = data.draw(st.permutations(evidence.ids))
    ranking = rank_evidence(question, evidence, [order, order[:2]])
    assert sorted(ranking.ids) == sorted(evidence.ids)
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)
    assert ranking == rank_evidence(question, evidence, [order, order[:2]])
