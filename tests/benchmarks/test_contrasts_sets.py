"""Deletion, the dataset's own contrasts, and what retrievers return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.contrasts import deletion, native, substitution
from benchmarks.contrasts.model import Contrast
from benchmarks.contrasts.pool import Pool
from benchmarks.contrasts.retrieval import DEPTH, SYSTEMS, Found, one_a_group, retrieval
from benchmarks.contrasts.sides import Dropped
from benchmarks.datasets.records import RecordPassage
from benchmarks.stats import pairwise_accuracy
from retrieval import Passage
from tests.benchmarks.records_world import changed, paragraphs, record, shuffled, world

WORLD = world(30)
GOLD = [held.passage for held in WORLD.records[0].support]
OTHERS = [held.passage for held in WORLD.records[0].passages if not held.support]


@given(st.integers(2, 4), st.integers(4, 16), st.integers(0, 10**6))
def test_an_insufficient_set_lacks_exactly_the_removed_support(support: int, others: int, seed: int) -> None:
    """All other support is there, and both labels have the same two sizes."""
    one = record("q", WORLD.corpus[:support], WORLD.corpus[40 : 40 + others])
    assert deletion.eligible(one)
    contrast = deletion.deletion(one, seed=seed)
    assert isinstance(contrast, Contrast)
    gold = {held.passage.id for held in one.support}
    assert [side.sufficient for side in contrast.sides] == [True, True, False, False]
    for side in contrast.sides:
        lacking = gold - set(side.passages)
        assert lacking == ({side.made.removed} if side.made.removed else set())
        assert side.sufficient is (not lacking)
        assert set(side.support) == gold - lacking
        assert support <= len(side.passages) <= len(one.passages) - 1
        assert len(set(side.passages)) == len(side.passages)
    assert len({side.made.removed for side in contrast.sides if side.made.removed}) == 2
    sizes = [len(side.passages) for side in contrast.sides]
    assert sizes[:2] == sizes[2:]
    assert sizes[0] != sizes[1]


def test_support_that_stands_there_twice_cannot_be_missing() -> None:
    """A copy of the removed passage among the others would leave the set sufficient: the record is dropped."""
    one = record("q", WORLD.corpus[:2], WORLD.corpus[40:46])
    copies = [
        RecordPassage(passage=Passage(text=f"{gold.text} So it is."), support=False)
        for gold in [held.passage for held in one.support]
    ]
    twice = changed(one, passages=(*one.passages, *copies))
    for made in (deletion.deletion(twice, seed=1), substitution.substitution(twice, Pool(WORLD.corpus), seed=1)):
        assert isinstance(made, Dropped)
        assert made.reason == "support_twice"


@pytest.mark.parametrize(("support", "others", "fits"), [(2, 4, True), (1, 9, False), (2, 3, False)])
def test_deletion_needs_two_supporting_passages_and_four_distractors(
    support: int, others: int, *, fits: bool
) -> None:
    """With fewer the size could not vary; an unanswerable record has nothing to take out."""
    one = record("q", WORLD.corpus[:support], WORLD.corpus[40 : 40 + others])
    assert deletion.eligible(one) is fits
    assert not deletion.eligible(changed(one, answerable=False))


@pytest.mark.parametrize(("passages", "support"), [(10, 2), (10, 4), (20, 2), (20, 4)])
def test_the_number_of_passages_says_little(passages: int, support: int) -> None:
    """Exactly a half, over records of the shapes of 2Wiki and MuSiQue."""
    good, bad = [], []
    for at in range(30):
        one = record(f"q{at}", WORLD.corpus[:support], WORLD.corpus[40 : 40 + passages - support])
        made = deletion.deletion(one, seed=17)
        assert isinstance(made, Contrast)
        for whole, lacking in made.pairs():
            good.append(float(len(whole.passages)))
            bad.append(float(len(lacking.passages)))
    assert pairwise_accuracy(good, bad) == 0.5


@given(st.integers(1, 3), st.integers(1, 3), st.integers(0, 100))
def test_every_answerable_question_meets_every_unanswerable_one(good: int, bad: int, order: int) -> None:
    """Question swap: the set stays, only the question changes; the order of the records counts for nothing."""
    group = paragraphs(1, good=good, bad=bad)
    contrast = native.annotated(shuffled(group, order))
    pairs = {(yes.made.record, no.made.record) for yes, no in contrast.pairs()}
    assert pairs == {(yes.id, no.id) for yes in group for no in group if yes.answerable and not no.answerable}
    assert len(list(contrast.pairs())) == good * bad
    assert contrast.construction == "question-swap"
    assert len({side.passages for side in contrast.sides}) == 1
    assert contrast == native.annotated(group)
    questions = {one.id: one.question for one in group}
    assert all(side.question == questions[side.made.record] for side in contrast.sides)


@given(st.integers(0, 100))
def test_records_with_sets_of_their_own_keep_them(order: int) -> None:
    """MuSiQue in full: one question, two contexts, in their given order; not a question swap."""
    whole = record("q1", GOLD, OTHERS[:3], group="g", cluster="g", question="Which?")
    part = record("q2", [], [OTHERS[4], GOLD[0], *OTHERS[:2]], group="g", cluster="g", question="Which?")
    contrast = native.annotated(shuffled([whole, part], order))
    assert contrast.construction == "native"
    assert {side.id: list(side.passages) for side in contrast.sides} == {
        one.id: [held.passage.id for held in one.passages] for one in (whole, part)
    }
    assert contrast == native.annotated([whole, part])


@given(st.integers(0, 100), st.integers(0, 100))
def test_an_unrelated_question_comes_from_another_article(seed: int, order: int) -> None:
    """Over the same paragraph; as many as there are answerable ones; no order of the records counts."""
    records = paragraphs(6)
    cluster = {one.id: one.cluster for one in records}
    groups = native.by_group(shuffled(records, order))
    for key, group in native.by_group(records).items():
        made = native.unrelated(group, native.by_id(records), seed=seed)
        assert isinstance(made, Contrast)
        good = [side for side in made.sides if side.sufficient]
        bad = [side for side in made.sides if not side.sufficient]
        assert {side.made.record for side in good} == {one.id for one in group if one.answerable}
        assert len(bad) == len(good)
        assert all(cluster[side.made.record] != made.cluster for side in bad)
        assert len({side.passages for side in made.sides}) == 1
        assert made == native.unrelated(groups[key], native.by_id(shuffled(records, order + 1)), seed=seed)


def test_a_group_without_another_article_is_counted() -> None:
    """One article has no unrelated question to offer."""
    records = paragraphs(2)
    made = native.unrelated(records[:3], records, seed=1)
    assert made == Dropped(dataset="squad2", group="p0", reason="no_unrelated_question")


def found(sets: Mapping[str, Sequence[Passage]]) -> dict[str, Found]:
    return {name: Found(passages=tuple(held), top_score=0.5 + len(held) / 100) for name, held in sets.items()}


SETS = st.lists(st.sampled_from([*GOLD, *OTHERS]), min_size=1, max_size=DEPTH, unique=True)


@given(st.fixed_dictionaries(dict.fromkeys(SYSTEMS, SETS)))
def test_exactly_the_sets_that_hold_all_support_are_sufficient(sets: dict[str, list[Passage]]) -> None:
    """Equal sets are one side that names both retrievers; without both labels the group is dropped and counted."""
    one = WORLD.records[0]
    made = retrieval(one, found(sets))
    holds = {name: {p.id for p in GOLD} <= {p.id for p in held} for name, held in sets.items()}
    if len(set(holds.values())) == 1:
        assert made == Dropped(dataset=one.dataset, group=one.group, reason="all_or_none")
        return
    assert isinstance(made, Contrast)
    named = [name for side in made.sides for name in side.made.systems]
    assert sorted(named) == sorted(SYSTEMS)
    assert len({frozenset(side.passages) for side in made.sides}) == len(made.sides)
    for side in made.sides:
        assert side.id == "+".join(side.made.systems)
        assert {holds[name] for name in side.made.systems} == {side.sufficient}
        assert list(side.passages) == [p.id for p in sets[side.made.systems[0]]]
        assert all({p.id for p in sets[name]} == set(side.passages) for name in side.made.systems)
        assert side.made.top_score == 0.5 + len(side.passages) / 100


def test_a_near_duplicate_of_gold_counts_as_gold_and_a_fragment_does_not() -> None:
    """Another edition of the passage helps as much; its first words do not."""
    copy = Passage(text=f"{GOLD[0].text} More was never known.", title="Copy")
    fragment = Passage(text=" ".join(GOLD[0].text.split()[:6]), title="Fragment")
    sets = {"bm25": [copy, GOLD[1]], "dense": [fragment, GOLD[1]], "rrf": GOLD, "hop": OTHERS[:5]}
    made = retrieval(WORLD.records[0], found(sets))
    assert isinstance(made, Contrast)
    assert {side.id: side.sufficient for side in made.sides} == {
        "bm25": True,
        "dense": False,
        "rrf": True,
        "hop": False,
    }


def test_a_retriever_that_found_nothing_gives_no_side() -> None:
    """An empty set would be solved by its size."""
    made = retrieval(WORLD.records[0], found({"bm25": GOLD, "dense": OTHERS[:5]}))
    assert isinstance(made, Contrast)
    assert [side.id for side in made.sides] == ["bm25", "dense"]


@given(st.integers(0, 100), st.integers(0, 100))
def test_one_answerable_question_of_each_group_is_searched_for(seed: int, order: int) -> None:
    """Chosen by the seed whatever the order; another seed chooses others."""
    records = paragraphs(12, good=3)
    chosen = one_a_group(shuffled(records, order), seed=seed)
    assert sorted(one.group for one in chosen) == sorted({one.group for one in records})
    assert all(one.answerable for one in chosen)
    assert {one.id for one in chosen} == {one.id for one in one_a_group(records, seed=seed)}
    assert {one.id for one in chosen} != {one.id for one in one_a_group(records, seed=seed + 1000)}


def test_mixed_groups_are_those_with_both_labels() -> None:
    """A paragraph with one kind of question only gives no pair."""
    records = [*paragraphs(1), *paragraphs(1, seed=1, bad=0)]
    assert native.mixed(records[:3])
    assert not native.mixed(records[3:])
