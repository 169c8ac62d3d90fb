"""Substitution by the paper's rule (appendix B), and by the near miss of a retriever."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.contrasts.model import Contrast, Side
from benchmarks.contrasts.near import overlap
from benchmarks.contrasts.pool import Pool, title_words
from benchmarks.contrasts.sides import Dropped
from benchmarks.contrasts.substitution import eligible, hard, substitution
from benchmarks.datasets.records import Record
from retrieval import Passage
from tests.benchmarks.records_world import changed, drawn, passage, record, shuffled, words, world

WORLD = world(60)
POOL = Pool(WORLD.corpus)
SEEDS = st.integers(0, 10**6)
RECORDS = st.sampled_from(WORLD.records)


def kept(made: Contrast | Dropped) -> Contrast:
    assert isinstance(made, Contrast), made
    return made


def ids(passages: Iterable[Passage]) -> set[str]:
    return {one.id for one in passages}


def broken(contrast: Contrast) -> list[Side]:
    return [side for side in contrast.sides if not side.sufficient]


@pytest.mark.parametrize(("support", "others", "fits"), [(2, 2, True), (1, 5, False), (2, 1, False), (4, 0, True)])
def test_the_rule_needs_two_supporting_passages_and_four_in_all(support: int, others: int, *, fits: bool) -> None:
    """As in the paper; an unanswerable record has nothing to take away."""
    made = record("q", WORLD.corpus[:support], WORLD.corpus[5 : 5 + others])
    assert eligible(made) is fits
    assert not eligible(changed(made, answerable=False))


@given(RECORDS, SEEDS)
def test_one_support_passage_is_replaced_at_random_and_by_a_word_of_its_title(one: Record, seed: int) -> None:
    """Appendix B: two insufficient sides of the same size, the same passage gone from both."""
    contrast = kept(substitution(one, POOL, seed=seed))
    whole, at_random, by_title = contrast.sides
    assert [side.made.how for side in contrast.sides] == ["annotated", "replaced-random", "replaced-title"]
    assert [side.sufficient for side in contrast.sides] == [True, False, False]
    assert len(list(contrast.pairs())) == 2
    assert set(whole.passages) == {held.passage.id for held in one.passages}
    assert {len(side.passages) for side in contrast.sides} == {len(one.passages)}
    removed = {side.made.removed for side in (at_random, by_title)}
    assert len(removed) == 1
    assert removed < {held.passage.id for held in one.support}
    for side in (at_random, by_title):
        assert set(whole.passages) - set(side.passages) == {side.made.removed}
        assert set(side.passages) - set(whole.passages) == {side.made.inserted}
        assert set(side.support) == {held.passage.id for held in one.support} - removed
    title = contrast.passages[removed.pop() or ""].title
    inserted = contrast.passages[by_title.made.inserted or ""].title
    assert set(title_words(title)) & set(title_words(inserted))
    assert at_random.made.inserted != by_title.made.inserted


@given(RECORDS, SEEDS)
def test_a_distractor_is_no_gold_title_and_nearly_none_of_the_records_passages(one: Record, seed: int) -> None:
    """Also where the corpus holds retitled copies, extended copies and other texts under gold titles."""
    gold = [held.passage for held in one.support]
    copies = [Passage(text=held.passage.text + " It is old.", title="Mill Oakes Parish") for held in one.passages]
    namesakes = [passage(drawn("namesake", held.id), held.title, "It is old.") for held in gold]
    pool = Pool([*copies, *namesakes, *copies, *WORLD.corpus[::3]])
    made = substitution(one, pool, seed=seed)
    if isinstance(made, Dropped):
        assert made.reason == "no_title_distractor"
        return
    for side in broken(made):
        inserted = made.passages[side.made.inserted or ""]
        assert inserted.title not in {held.title for held in gold}
        assert all(overlap(inserted.text, held.passage.text) < 0.5 for held in one.passages)


def test_a_passage_of_the_record_without_any_word_is_not_inserted_again() -> None:
    """Nothing overlaps with a text of signs only; a set would then hold it twice, and be smaller."""
    signs = [Passage(text=mark * 3, title="Oakes Parish") for mark in ("!", "?")]
    one = record("q", WORLD.corpus[:2], signs)
    for seed in range(20):
        made = substitution(one, Pool([*signs, *WORLD.corpus[2:6]]), seed=seed)
        if isinstance(made, Contrast):
            assert {len(side.passages) for side in made.sides} == {4}


def test_a_record_is_kept_only_if_both_distractors_are_found() -> None:
    """The paper's rule; the reason is counted, and no half contrast is left."""
    one = WORLD.records[0]
    own = Pool([held.passage for held in one.passages])
    made = substitution(one, own, seed=1)
    assert isinstance(made, Dropped)
    assert (made.dataset, made.group, made.reason) == ("musique", one.group, "no_random_distractor")
    strangers = Pool([Passage(text=words(drawn("s", at)), title="Sea") for at in range(5)])
    made = substitution(one, strangers, seed=1)
    assert isinstance(made, Dropped)
    assert made.reason == "no_title_distractor"


@given(st.integers(0, 100), SEEDS)
def test_a_contrast_depends_on_its_record_and_the_seed_alone(order: int, seed: int) -> None:
    """Neither on the other records nor on their order nor on that of the corpus."""
    records = shuffled(WORLD.records[:6], order)
    pool = Pool(shuffled(WORLD.corpus, order))
    made = {one.id: substitution(one, pool, seed=seed) for one in records}
    alone = {one.id: substitution(one, POOL, seed=seed) for one in records[:2]}
    assert {name: made[name] for name in alone} == alone


def test_places_are_shuffled_and_tell_nothing() -> None:
    """Over many records the replaced passage stands everywhere about as often as by chance."""
    places = [0] * 8
    for seed in range(20):
        for one in WORLD.records:
            contrast = kept(substitution(one, POOL, seed=seed))
            for side in broken(contrast):
                places[side.passages.index(side.made.inserted or "")] += 1
    total = sum(places)
    assert all(abs(count / total - 1 / 8) < 0.03 for count in places), places
    one = WORLD.records[0]
    orders = {kept(substitution(one, POOL, seed=seed)).sides[0].passages for seed in range(10)}
    assert len(orders) > 5


@given(RECORDS, SEEDS)
def test_a_near_miss_is_the_best_ranked_passage_that_does_not_help(one: Record, seed: int) -> None:
    """Rank by rank: those before it are nearly the record's own, or hold an answer or what the hop was for."""
    ranking = shuffled(WORLD.corpus, seed)
    contrast = kept(hard(one, lambda question: ranking, seed=seed, alone=True))
    hops = {held.passage.id: held.hop_answers for held in one.passages}
    assert [side.made.how for side in contrast.sides] == ["annotated", "replaced-near-miss", "replaced-near-miss"]
    assert {side.made.removed for side in broken(contrast)} == {held.passage.id for held in one.support}
    assert {len(side.passages) for side in contrast.sides} == {len(one.passages)}

    def unfit(found: Passage, removed: str) -> bool:
        told = f" {found.title} {found.text} ".lower().replace(".", " ")
        told_answers = any(f" {name.lower()} " in told for name in (*one.answers, *hops[removed]))
        return told_answers or any(overlap(found.text, held.passage.text) >= 0.5 for held in one.passages)

    for side in broken(contrast):
        assert side.made.rank is not None
        assert side.made.removed is not None
        chosen = ranking[side.made.rank - 1]
        assert chosen.id == side.made.inserted
        assert not unfit(chosen, side.made.removed)
        assert all(unfit(before, side.made.removed) for before in ranking[: side.made.rank - 1])


def test_yes_and_no_are_not_looked_for() -> None:
    """A comparison's answer stands in any passage; only what the hop was for counts."""
    one = changed(WORLD.records[0], answers=("yes",))
    said = Passage(text="Yes, this was said of another place by them all.", title="Sea")
    contrast = kept(hard(one, lambda question: [said], seed=1, alone=True))
    assert {side.made.inserted for side in broken(contrast)} == {said.id}


def test_a_record_without_a_near_miss_is_counted() -> None:
    """Where all that was found helps, or is the record's own."""
    one = WORLD.records[0]
    helps = Passage(text=f"It lies on the river {one.answers[0]}, they say.")
    made = hard(one, lambda question: [helps, *[held.passage for held in one.passages]], seed=1, alone=True)
    assert made == Dropped(dataset=one.dataset, group=one.group, reason="no_near_miss")
    assert isinstance(hard(one, lambda question: [], seed=1, alone=True), Dropped)


def test_one_hop_without_a_near_miss_leaves_the_other() -> None:
    """A passage that holds what the first hop was for may still replace the second."""
    one = WORLD.records[0]
    town = one.support[0].hop_answers[0]
    only = Passage(text=f"Many people of {town} left it for good.")
    contrast = kept(hard(one, lambda question: [only], seed=1, alone=True))
    assert [side.made.removed for side in broken(contrast)] == [one.support[1].passage.id]


@pytest.mark.parametrize("construction", ["substitution", "hard-substitution"])
def test_records_of_one_group_are_contrasts_of_their_own(construction: str) -> None:
    """Two with one key would be one in the file: the second would be lost when it is read."""
    first, second = (changed(one, group="g", cluster="g") for one in WORLD.records[:2])
    made = [
        substitution(one, POOL, seed=1, alone=False)
        if construction == "substitution"
        else hard(one, lambda question: WORLD.corpus, seed=1, alone=False)
        for one in (first, second)
    ]
    keys = {kept(one).key for one in made}
    assert len(keys) == 2
    assert {kept(one).cluster for one in made} == {"g"}
