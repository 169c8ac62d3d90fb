"""Made question swaps: what is taken, what is made of it, and that it stays out of the figures that count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.contrasts.build import BuildOptions, build_contrasts
from benchmarks.contrasts.file import write_contrasts
from benchmarks.contrasts.model import HEADLINE, Contrast, Side
from benchmarks.contrasts.sides import Dropped
from benchmarks.contrasts.swaps import SWAPS, eligible, made_swaps
from benchmarks.datasets.records import Record
from retrieval import Passage
from retrieval.index.encoder import TransformerEncoder
from rinse.fit.answers import holds
from rinse.fit.pairs import stream_pairs
from tests.benchmarks.records_world import changed, drawn, record, shuffled, word, words

THINGS = ("mill", "bridge", "ferry", "tower", "school", "well", "gate", "barn", "forge", "inn")


def towns(count: int, *, each: int = 2, dataset: str = "toy") -> list[Record]:
    """Towns with a builder, a founder and years; `each` questions a passage, whose answers no other one holds."""
    draw = drawn("towns", count)
    found: list[Record] = []
    for at in range(count):
        town, builder, founder = (word(draw).capitalize() for _ in range(3))
        thing, year = THINGS[at % len(THINGS)], 1500 + 3 * at
        text = (
            f"The {thing} of {town} was built by {builder} in {year}. Its {words(draw, 3)} is old, and {founder} "
            f"of {word(draw).capitalize()} founded the place in {year - 1}."
        )
        held = Passage(text=text, title="")
        questions = [
            (f"Who built the {thing} of {town} in {year}?", builder),
            (f"Who founded the place with the {thing}, {town}?", founder),
        ]
        found += [
            record(f"t{at}-{n}", [held], dataset=dataset, question=question, answers=(answer,), group=f"g{at}")
            for n, (question, answer) in enumerate(questions[:each])
        ]
    return found


def kept(made: Sequence[Contrast | Dropped]) -> list[Contrast]:
    return [one for one in made if isinstance(one, Contrast)]


def reasons(made: Sequence[Contrast | Dropped]) -> list[str]:
    return [one.reason for one in made if isinstance(one, Dropped)]


def by_how(contrast: Contrast, how: str) -> list[Side]:
    return [side for side in contrast.sides if side.made.how == how]


@pytest.mark.parametrize(
    ("changes", "fits"),
    [
        ({}, True),
        ({"answerable": False}, False),
        ({"answers": ("nothing", "BUILT")}, True),
        ({"answers": ("nothing",)}, False),
        ({"answers": ("buil",)}, False),
        ({"answers": ("of", "yes")}, True),
        ({"answers": ("Yes",)}, False),
        ({"answers": ()}, False),
    ],
)
def test_only_an_answer_that_the_single_passage_tells_is_taken(changes: dict[str, object], *, fits: bool) -> None:
    """Else the sufficient side might not suffice."""
    assert eligible(changed(towns(1)[0], **changes)) is fits


def test_two_passages_are_no_material() -> None:
    """Which of them a made question would have to avoid is another construction's matter."""
    one, other = towns(2, each=1)
    assert not eligible(changed(one, passages=(*one.passages, *other.passages)))


def test_every_made_question_lacks_its_answer_in_the_passage(tiny_encoder: TransformerEncoder) -> None:
    """The passage stays; near questions are another passage's, edited ones are new; both kinds are made."""
    records = {one.id: one for one in towns(12)}
    contrasts = kept(made_swaps(records.values(), tiny_encoder, seed=17))
    assert len(contrasts) == len(records)
    for one in contrasts:
        (whole,) = (side for side in one.sides if side.sufficient)
        asked = records[whole.made.record]
        (passage,) = one.passages.values()
        assert (whole.question, whole.answers, whole.support) == (asked.question, asked.answers, (passage.id,))
        assert one.construction == "made-swap"
        assert {side.passages for side in one.sides} == {(passage.id,)}
        assert len({side.question for side in one.sides}) == len(one.sides)
        near, edited = by_how(one, "near-question"), by_how(one, "edited-question")
        assert len(near) == SWAPS
        assert 0 < len(edited) <= SWAPS
        for side in near:
            other = records[side.made.record]
            assert (side.question, side.support) == (other.question, ())
            assert other.passages[0].passage.id != passage.id
            assert not holds(passage.full_text, other.answers)
        for side in edited:
            assert side.question not in {known.question for known in records.values()}
            assert (side.made.record, side.answers, side.support) == (asked.id, (), ())


def test_a_question_that_any_passage_could_be_asked_is_not_near(tiny_encoder: TransformerEncoder) -> None:
    """It names nothing that this passage lacks, so it may have an answer here."""
    vague = [
        changed(one, question=f"Who founded the place in {'the ' * at}end?") for at, one in enumerate(towns(9))
    ]
    contrasts = kept(made_swaps(vague, tiny_encoder, seed=17))
    assert not any(by_how(one, "near-question") for one in contrasts)


def test_a_near_copy_of_the_passage_gives_no_question(tiny_encoder: TransformerEncoder) -> None:
    """Two datasets cut one article differently: what the other cut answers, this one may answer too."""
    one, other = towns(2, each=1)
    held = one.passages[0].passage
    fact = f"So {other.answers[0]} says of Zorn."

    def near(text: str) -> list[Side]:
        held = [Passage(text=text, title="")]
        twin = record("twin", held, dataset="toy", question="What does he say of Zorn?", answers=other.answers)
        made = kept(made_swaps([one, twin], tiny_encoder, seed=17))
        (first,) = (contrast for contrast in made if contrast.group == one.group)
        return by_how(first, "near-question")

    assert near(f"There is much to tell of it, and this is the end. {fact}")
    assert not near(f"{held.text} {fact}")


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_equal_for_a_seed_in_whatever_order_they_came(tiny_encoder: TransformerEncoder, order: int) -> None:
    """Same seed, same contrasts, byte for byte."""
    records = [*towns(6), *towns(4, dataset="other")]
    expected = made_swaps(records, tiny_encoder, seed=17)
    assert made_swaps(shuffled(records, order), tiny_encoder, seed=17) == expected
    assert made_swaps(records, tiny_encoder, seed=order + 18) != expected


def test_repeats_and_what_is_too_many_of_a_passage_are_counted(tiny_encoder: TransformerEncoder) -> None:
    """A question counts once, whichever dataset repeats it; a passage gives at most so many."""
    records = towns(4)
    again = [changed(one, dataset="zzz", id=f"z{one.id}", question=one.question.upper()) for one in records]
    made = made_swaps([*again, *records], tiny_encoder, seed=17, per_passage=1)
    assert sorted(reasons(made)) == ["passage_full"] * 4 + ["question_twice"] * 8
    assert len({next(iter(one.passages)) for one in kept(made)}) == 4
    assert {one.dataset for one in kept(made)} == {"toy"}


def test_what_gives_no_swap_is_counted(tiny_encoder: TransformerEncoder) -> None:
    """A lone question without a name has neither a near one nor another name."""
    lone = changed(towns(1)[0], question="Who did it?")
    assert made_swaps([lone], tiny_encoder, seed=17) == [Dropped(dataset="toy", group="g0", reason="no_swap")]


def test_they_are_built_on_demand_alone_and_are_no_headline(
    tiny_encoder: TransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No default includes them, no additions are drawn; `sufficit fit` reads the file as it is."""
    monkeypatch.setattr(TransformerEncoder, "named", lambda: tiny_encoder)
    records = towns(5)
    assert build_contrasts(records, BuildOptions()).contrasts == ()
    built = build_contrasts(records, BuildOptions(constructions=("made-swap",)))
    assert {one.construction for one in built.contrasts} == {"made-swap"}.difference(HEADLINE)
    assert len({one.key for one in built.contrasts}) == 10
    assert not any(one.added for one in built.contrasts)
    (row,) = built.rows
    assert (row["eligible"], row["kept"], row["construction"]) == (10, 10, "made-swap")
    write_contrasts(tmp_path / "c.jsonl.gz", built.contrasts)
    groups = list(stream_pairs(tmp_path / "c.jsonl.gz"))
    assert [group.group for group in groups] == [one.group for one in built.contrasts]
    assert [group.sides[0].answers for group in groups] == [one.sides[0].answers for one in built.contrasts]


def test_nothing_to_swap_loads_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of other questions gives an empty result, not half a minute of loading."""
    monkeypatch.setattr(TransformerEncoder, "named", lambda: pytest.fail("loaded"))
    unfit = [replace(one, answers=()) for one in towns(2)]
    assert build_contrasts(unfit, BuildOptions(constructions=("made-swap",))).rows == ()
