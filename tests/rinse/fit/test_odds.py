"""The fit of log-odds from readings made of numbers: what it finds, how records weigh, what it refuses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from benchmarks.stats import auroc
from retrieval import Passage
from rinse.fit.errors import FitError
from rinse.fit.groups import TrainingGroup, TrainingSide
from rinse.fit.odds import fit_odds
from rinse.fit.small_readings import SmallGroup, SmallReading
from rinse.odds import Terms

FEATURES = {"content": ("tokens",), "chain": ("pair",)}


def group(
    name: str, sides: Sequence[tuple[bool, float, float, int]], *, added: Sequence[SmallReading] = ()
) -> tuple[TrainingGroup, SmallGroup]:
    """Sides as (sufficient, tokens, pair, passages)."""
    made = TrainingGroup(
        family="own",
        group=name,
        sides=tuple(
            TrainingSide(question="q", passages=(Passage(text=f"{name} {place}"),), sufficient=side[0])
            for place, side in enumerate(sides)
        ),
    )
    plain = tuple(reading(place, *side[1:]) for place, side in enumerate(sides))
    return made, SmallGroup(key=name, readings=(*plain, *added))


def reading(side: int, tokens: float, pair: float, passages: int, added: int = 0) -> SmallReading:
    features = {"content": {"tokens": tokens}, "chain": {"pair": pair}}
    return SmallReading(side=side, added=added, features=features, passages=passages)


def fitted(made: Sequence[tuple[TrainingGroup, SmallGroup]]) -> tuple[Terms, ...]:
    return fit_odds([one for one, _ in made], [one for _, one in made], features=FEATURES, penalty=0.003)


def questions(count: int, *, passages: int, seed: int = 0) -> list[tuple[TrainingGroup, SmallGroup]]:
    """Questions of which each is covered to a degree of its own; `pair` alone tells sides apart over all."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(count):
        ease = random.uniform(0, 0.5)
        sides = [
            (
                good,
                ease + 0.05 * good + random.normal(0, 0.01),
                random.normal(0.6 if good else 0.4, 0.05),
                passages,
            )
            for good in (True, False)
        ]
        found.append(group(f"{passages}-{number}", sides))
    return found


def test_it_weighs_what_compares_questions() -> None:
    """`tokens` is always higher on the right side of a question and says little over all: `pair` decides."""
    made = questions(80, passages=4)
    [terms] = fitted(made)
    rows = [
        (sum(terms.shares(one.features, one.passages).values()) + terms.base(one.passages), side.sufficient, one)
        for groups, read in made
        for side, one in zip(groups.sides, read.readings, strict=True)
    ]
    labels = [good for _, good, _ in rows]
    mine = auroc([score for score, _, _ in rows], labels)
    tokens = auroc([one.features["content"]["tokens"] for _, _, one in rows], labels)
    assert mine is not None
    assert tokens is not None
    assert mine > 0.97
    assert tokens < 0.7
    assert np.mean([score > 0 for score, _, _ in rows]) == pytest.approx(0.5, abs=0.1)


def test_sets_of_one_passage_and_of_several_have_terms_of_their_own() -> None:
    """What the others say changes nothing, and one passage has no chain; where one kind lacks a label there is
    one head for all.
    """
    one, several = questions(20, passages=1), questions(20, passages=4, seed=1)
    both = fitted([*one, *several])
    assert [(terms.passages, set(terms.readers)) for terms in both] == [
        (1, {"content"}),
        (2, {"content", "chain"}),
    ]
    assert both[0] == fitted([*one, *questions(25, passages=5, seed=2)])[0]
    assert both[1].readers == fitted(several)[0].readers
    only_good = [group(f"g{at}", [(True, 0.5, 0.5, 1)]) for at in range(30)]
    [terms] = fitted([*several, *only_good])
    assert terms.passages == 1


def test_the_order_of_groups_does_not_matter() -> None:
    """Two runs on the same pairs make the same file."""
    made = questions(15, passages=3)
    assert fitted(made) == fitted(made[::-1])


def test_padded_copies_count_with_their_record() -> None:
    """Those of one passage are in neither head; those of several teach the size."""
    one, several = questions(20, passages=1), questions(20, passages=4, seed=1)
    copy = reading(0, 0.9, 0.9, 21, added=20)
    padded_one = [(one[0][0], one[0][1].model_copy(update={"readings": (*one[0][1].readings, copy)})), *one[1:]]
    assert fitted([*padded_one, *several]) == fitted([*one, *several])
    first = several[0][1].model_copy(update={"readings": (*several[0][1].readings, copy)})
    padded = fitted([*one, (several[0][0], first), *several[1:]])
    assert padded[1].size.high == pytest.approx(np.log1p(21), abs=1e-4)


def test_padded_copies_of_one_passage_take_no_part_where_there_is_nothing_else() -> None:
    """A text among strange ones is no search's result, in one head for all neither."""
    one = questions(8, passages=1)
    copy = reading(0, 0.9, 0.9, 21, added=20)
    padded = [(groups, read.model_copy(update={"readings": (*read.readings, copy)})) for groups, read in one]
    assert fitted(padded) == fitted(one)


def test_a_kind_of_few_sides_has_no_terms_of_its_own() -> None:
    """Two sides of one passage among many of several decide nothing: one head for all."""
    made = [*questions(30, passages=4), *questions(1, passages=1)]
    assert [terms.passages for terms in fitted(made)] == [1]


def test_a_side_that_was_read_padded_only_is_left_out() -> None:
    """Nobody knows how many passages it holds by itself."""
    made = questions(25, passages=4)
    groups, read = group("lost", [(True, 0.5, 0.5, 1)])
    copy = reading(0, 0.9, 0.9, 21, added=20)
    assert fitted([*made, (groups, read.model_copy(update={"readings": (copy,)}))]) == fitted(made)


def test_a_feature_that_never_differs_is_left_out() -> None:
    """One passage has no pair: nothing is divided by a deviation of 0."""
    made = [group(f"g{at}", [(True, 0.6 + at / 50, 0.0, 1), (False, 0.3 + at / 60, 0.0, 1)]) for at in range(6)]
    [terms] = fitted(made)
    assert list(terms.readers) == ["content"]
    assert (terms.size.weight, terms.size.square) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ([(True, 0.5, 0.5, 3)], "sufficient and insufficient sides"),
        ([(True, 0.5, 0.5, 3), (False, 0.5, 0.5, 4)], "No feature differs"),
    ],
)
def test_what_cannot_be_fitted_is_refused(sides: list[tuple[bool, float, float, int]], message: str) -> None:
    """A typed error that says what to add."""
    with pytest.raises(FitError, match=message):
        fitted([group("g", sides)])
