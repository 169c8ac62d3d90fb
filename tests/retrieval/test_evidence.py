"""The evidence set only grows, holds each text once, and tells what is new."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval import EvidenceSet, Passage, Ranking

PASSAGES = st.lists(
    st.builds(
        Passage,
        text=st.sampled_from(["one", "two", "three", " two ", "ＴＷＯ", "", "  \n"]),
        source_id=st.sampled_from("abc"),
    ),
    max_size=12,
)


@given(PASSAGES, PASSAGES)
def test_adding_in_parts_equals_adding_at_once(first: list[Passage], second: list[Passage]) -> None:
    """S10: batching and repeats do not matter for what the set holds."""
    parts = EvidenceSet.of(first).add(second)
    assert parts.passages == EvidenceSet.of(first + second).passages
    assert set(parts.new_ids) == set(parts.ids) - set(EvidenceSet.of(first).ids)
    assert parts.add(second).new_ids == ()


@given(PASSAGES)
def test_each_text_is_held_once_and_blank_texts_never(passages: list[Passage]) -> None:
    """S02: duplicates count once."""
    evidence = EvidenceSet.of(passages)
    assert sorted(evidence.ids) == sorted({passage.id for passage in passages if passage.text.strip()})
    assert len(evidence) == len(list(evidence)) == len(evidence.ids)
    assert evidence.new == evidence.passages


@given(PASSAGES)
def test_every_source_of_a_text_is_kept(passages: list[Passage]) -> None:
    held = {passage.id: {place.source_id for place in passage.provenance} for passage in EvidenceSet.of(passages)}
    for passage in passages:
        if passage.text.strip():
            assert passage.source_id in held[passage.id]


def test_adding_leaves_the_set_before_as_it_was() -> None:
    before = EvidenceSet.of([Passage(text="one", source_id="a")])
    after = before.add([Passage(text="one", source_id="b"), Passage(text="two")])
    assert [len(before), len(after)] == [1, 2]
    assert len(before.passages[0].provenance) == 1
    assert after.new_ids == (Passage(text="two").id,)


def test_two_paragraphs_of_one_title_are_both_held() -> None:
    """R10: identity is the content, never the title, the section or the place."""
    evidence = EvidenceSet.of(
        Passage(text=text, title="Velmora", section="History", source_id="velmora")
        for text in ("It was founded.", "It grew.")
    )
    assert [passage.text for passage in evidence] == ["It was founded.", "It grew."]


def test_membership_is_by_identity() -> None:
    evidence = EvidenceSet.of([Passage(text="one")])
    assert Passage(text=" one ").id in evidence
    assert Passage(text="two").id not in evidence
    assert "one" not in evidence


def test_a_ranking_gives_the_best_that_are_there() -> None:
    one, two, three = (Passage(text=text) for text in ("one", "two", "three"))
    ranking = Ranking(ids=(three.id, one.id, two.id), scores=(3.0, 2.0, 1.0))
    assert ranking.top(EvidenceSet.of([one, two]), 5) == (one, two)
    assert ranking.top(EvidenceSet.of([one, two]), 1) == (one,)
    assert ranking.top(EvidenceSet.of([one, two]), -1) == ()
