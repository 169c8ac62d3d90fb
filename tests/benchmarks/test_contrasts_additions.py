"""Shared additions, what speaks against them, and that no side tells where a passage came from."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.contrasts import native
from benchmarks.contrasts.additions import with_additions
from benchmarks.contrasts.model import Contrast
from benchmarks.contrasts.pool import Pool
from benchmarks.contrasts.sides import blind
from benchmarks.contrasts.substitution import substitution
from benchmarks.datasets.records import RecordPassage
from retrieval import Passage
from tests.benchmarks.records_world import changed, paragraphs, passage, record, shuffled, world
from tests.benchmarks.records_world import drawn as lots

WORLD = world(20)
POOL = Pool(WORLD.corpus)


def made(seed: int = 1) -> list[Contrast]:
    found = [substitution(one, POOL, seed=seed) for one in WORLD.records]
    return [one for one in found if isinstance(one, Contrast)]


def articles(count: int = 8) -> list[Contrast]:
    """Two paragraphs an article: two contrasts a cluster."""
    return [native.annotated(group) for group in native.by_group(paragraphs(count)).values()]


def added(one: Contrast) -> list[str]:
    return [extra.passage for extra in one.added]


@settings(max_examples=30)
@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 1000))
def test_a_longer_list_begins_with_the_shorter_one(one: int, other: int, seed: int) -> None:
    """So that a condition of 20 holds what a condition of 5 held."""
    fewer, more = sorted((one, other))
    contrasts = made()
    for short, long in zip(
        with_additions(contrasts, fewer, seed=seed), with_additions(contrasts, more, seed=seed), strict=True
    ):
        assert len(short.added) == fewer
        assert long.added[:fewer] == short.added


@pytest.mark.parametrize("count", [5, 200])
def test_additions_are_of_other_clusters_and_not_in_the_group(count: int) -> None:
    """Else they would change labels, or be no addition; fewer than asked where there are no more."""
    contrasts = articles()
    of_cluster = {
        cluster: {key for one in contrasts if one.cluster == cluster for key in one.passages}
        for cluster in {one.cluster for one in contrasts}
    }
    for before, after in zip(contrasts, with_additions(contrasts, count, seed=1), strict=True):
        assert not set(added(after)) & of_cluster[after.cluster]
        assert len(set(added(after))) == len(after.added) == min(count, 6)
        assert after.passages.keys() == {*before.passages, *added(after)}
        assert after.sides == before.sides


def test_a_passage_of_two_clusters_belongs_to_both() -> None:
    """Boilerplate that an article shares with another one is not added within either of them."""
    shared = Passage(text="See the list of mills by country and by year of construction.", title="List")
    extra = RecordPassage(passage=shared, support=False)
    records = [
        changed(one, passages=(*one.passages, extra)) if one.group in {"p0", "p5"} else one
        for one in paragraphs(6)
    ]
    contrasts = [native.annotated(group) for group in native.by_group(records).values()]
    full = {one.group: one for one in with_additions(contrasts, 100, seed=1)}
    assert shared.id in full["p0"].passages
    assert shared.id in full["p5"].passages
    assert shared.id not in full["p1"].passages, "its article holds it, in another paragraph"
    assert shared.id in added(full["p2"]), "of an article that does not"


def test_additions_do_not_mix_datasets_or_constructions() -> None:
    """Nothing of SQuAD is added to MuSiQue: its style would tell."""
    contrasts = [*made(), *articles()]
    for one in with_additions(contrasts, 50, seed=1):
        own = {key for other in contrasts if other.key[:2] == one.key[:2] for key in other.passages}
        assert set(added(one)) <= own


def flags(extra: Passage, *, answers: Sequence[str] = ("Mirna",)) -> dict[str, tuple[str, ...]]:
    """What is said of `extra` when it is added to a question about a lake."""
    draw = lots("flags")
    lake = passage(draw, "Lake", "The lake is fed by a river from the hills in the south.")
    hill = passage(draw, "Hill", "The hill is bare.")
    asked = [
        record("a", [lake], [hill], dataset="toy", group="g1", cluster="c1", answers=tuple(answers)),
        record("b", [], [lake, hill], dataset="toy", group="g1", cluster="c1", answers=()),
    ]
    other = [
        record("c", [extra], dataset="toy", group="g2", cluster="c2"),
        record("d", [], [extra], dataset="toy", group="g2", cluster="c2"),
    ]
    first, _ = with_additions([native.annotated(asked), native.annotated(other)], 5, seed=1)
    return {key: tuple(found.flags) for found in first.added for key in [first.passages[found.passage].title]}


def test_a_screen_names_what_might_change_a_label() -> None:
    """An answer string, a repeated title, or nearly the support of a question of the group (appendix F)."""
    sea = "The sea is cold and without any ships in the long winter."
    lake = "The lake is fed by a river from the hills in the south, it was said long ago."
    assert flags(Passage(text=sea, title="Sea")) == {"Sea": ()}
    assert flags(Passage(text=f"{sea} The MIRNA is not.", title="Sea")) == {"Sea": ("answer",)}
    assert flags(Passage(text=sea, title="Hill")) == {"Hill": ("title",)}
    assert flags(Passage(text=sea)) == {"": ()}, "a missing title is not a repeated one"
    assert flags(Passage(text=f"Yes. {sea}", title="Sea"), answers=["yes"]) == {"Sea": ()}
    whole = passage(lots("flags"), "Lake", "The lake is fed by a river from the hills in the south.").text
    assert flags(Passage(text=f"{whole} It froze.", title="Sea")) == {"Sea": ("support",)}
    assert flags(Passage(text=lake, title="Sea")) == {"Sea": ()}, "less than half of it"


@settings(max_examples=30)
@given(st.integers(0, 100), st.integers(0, 100))
def test_what_is_added_does_not_depend_on_the_order_of_the_contrasts(order: int, seed: int) -> None:
    """Nor on the other constructions in the list; on the seed it does."""
    contrasts = made()
    plain = {one.key: one for one in with_additions(contrasts, 5, seed=seed)}
    mixed = with_additions(shuffled([*contrasts, *articles()], order), 5, seed=seed)
    assert {one.key: one for one in mixed if one.key in plain} == plain
    assert {one.key: one for one in with_additions(contrasts, 5, seed=seed + 1)} != plain


def test_nothing_in_a_side_tells_from_which_file_a_passage_came() -> None:
    """Name of its source, address, other places and white space are those of a file; title and text stay."""
    one = WORLD.records[0]
    marked = [
        Passage(
            text=held.text.replace(" ", "\u00a0 ", 1),
            title=held.title,
            source_id=f"corpus-{at}",
            url=f"https://corpus.example/{at}",
        )
        for at, held in enumerate(WORLD.corpus)
    ]
    plain = substitution(one, POOL, seed=1)
    found = substitution(one, Pool(marked), seed=1)
    assert isinstance(found, Contrast)
    assert isinstance(plain, Contrast)
    assert found.sides == plain.sides
    for key, held in found.passages.items():
        assert held.url is None
        assert held.also == ()
        assert "corpus" not in held.source_id
        assert len(held.source_id) == 64
        assert held.text == plain.passages[key].text
        assert held.title == plain.passages[key].title


def test_chunks_of_one_source_stay_chunks_of_one_source() -> None:
    """A reader may join them; another source stays another one; a side made twice is not blinded twice."""
    first, second = (Passage(text=text, source_id="page") for text in ("One part.", "Another part."))
    assert blind(first).source_id == blind(second).source_id != blind(Passage(text="A third.")).source_id
    assert blind(first).id == first.id
