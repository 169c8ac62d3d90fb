"""Links between passages, held against their definition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rinse.readers.links import MENTIONED, SHARED_NAMES, SHARED_WEIGHT, Links, link
from rinse.readers.subject import Subject
from tests.rinse.synthetic import IDF, NAMES, VOCABULARY, subject, subjects

SETS = st.lists(subjects(), max_size=6)
WORDS = st.frozensets(st.sampled_from(NAMES), max_size=3)
IDS = st.frozensets(st.integers(0, VOCABULARY - 1), max_size=4)


def links_of(*found: Subject, question: Sequence[int] = (), words: Sequence[str] = ()) -> Links:
    return link(found, question=frozenset(question), words=frozenset(words), idf=IDF)


def test_a_text_that_holds_a_heading_mentions_its_passage() -> None:
    """Links are symmetric, mentions are not; a passage does not mention itself."""
    found = links_of(subject([1, 2], [3, 4, 5]), subject([3, 4], [1, 3, 4]))
    assert found.mention[0, 1] == 1.0
    assert found.mention[1, 0] == pytest.approx(IDF[1] / (IDF[1] + IDF[2]))
    assert found.strength[0, 1] == found.strength[1, 0] == 1.0
    assert not found.shared.any()
    assert found.mention.diagonal().tolist() == [0.0, 0.0]


def test_a_heading_counts_by_idf_and_repeats_count_each_time() -> None:
    """A missing function word hardly matters, a missing name does."""
    rare_held = links_of(subject([], [11]), subject([0, 11]))
    common_held = links_of(subject([], [0]), subject([0, 11]))
    assert rare_held.strength[0, 1] == pytest.approx(IDF[11] / (IDF[0] + IDF[11]))
    assert common_held.strength[0, 1] == 0.0
    assert links_of(subject([], [3]), subject([3, 3, 4])).mention[0, 1] == pytest.approx(
        2 * IDF[3] / (2 * IDF[3] + IDF[4])
    )


def test_shared_names_link_up_to_three_of_them() -> None:
    """A long list in common says no more than a few; the lighter spelling of a name counts."""
    for shared in range(6):
        names = dict.fromkeys(["a", "b", "c", "d", "e"][:shared], 4.0)
        found = links_of(subject(names=names | {"x": 9.0}), subject(names=names | {"y": 9.0}))
        assert found.strength[0, 1] == pytest.approx(4.0 * min(shared, SHARED_NAMES) / SHARED_WEIGHT)
        assert found.shared[0, 1] == found.strength[0, 1]
    lighter = links_of(subject(names={"a": 12.0}), subject(names={"a": 6.0}))
    assert lighter.strength[0, 1] == pytest.approx(6.0 / SHARED_WEIGHT)


def test_a_name_that_the_question_holds_links_nothing() -> None:
    """Every passage found with a query holds the query's names."""
    pair = subject(names={"orrel": 12.0}), subject(names={"orrel": 12.0})
    assert links_of(*pair).strength[0, 1] > 0.8
    assert not links_of(*pair, words=["orrel"]).strength.any()


def test_what_the_question_asks_about_is_a_share_of_the_heading() -> None:
    """1 where it holds the whole heading, 0 without a heading."""
    found = links_of(subject([1, 2]), subject([5, 6]), subject(), question=[1, 2, 5])
    assert found.asked.tolist() == pytest.approx([1.0, IDF[5] / (IDF[5] + IDF[6]), 0.0])
    assert found.headed.tolist() == [True, True, False]


@pytest.mark.parametrize("found", [[], [subject()], [subject(), subject()], [subject([0]), subject([99])]])
def test_sets_without_any_link(found: list[Subject]) -> None:
    """No passage, one passage, no heading, an id that the IDF table does not know: zeros of the right shape."""
    result = links_of(*found)
    assert result.strength.shape == result.mention.shape == (len(found), len(found))
    assert result.asked.shape == result.headed.shape == (len(found),)
    assert not result.strength.any()


def test_a_heading_that_weighs_nothing_is_none() -> None:
    """Nothing is divided by zero."""
    found = link([subject([0])], question=frozenset([0]), words=frozenset(), idf=np.zeros(3, dtype=np.float32))
    assert not found.headed.any()
    assert not found.asked.any()


def _expected(one: Subject, other: Subject, words: frozenset[str]) -> float:
    """The strength of one link, from its definition."""

    def held(text: Subject, heading: Subject) -> float:
        total = sum(float(IDF[key]) for key in heading.heading)
        share = sum(float(IDF[key]) for key in heading.heading if key in text.body) / total if total else 0.0
        return share if share > MENTIONED else 0.0

    common = [
        min(weight, other.names[name]) for name, weight in one.names.items() if name in other.names.keys() - words
    ]
    shared = min(sum(sorted(common)[-SHARED_NAMES:]) / SHARED_WEIGHT, 1.0)
    return max(held(one, other), held(other, one), shared)


@settings(max_examples=25)
@given(SETS, IDS, WORDS)
def test_strengths_equal_their_definition(
    found: list[Subject], question: frozenset[int], words: frozenset[str]
) -> None:
    """Each pair alone, whatever other passages there are; symmetric, in [0, 1]."""
    result = link(found, question=question, words=words, idf=IDF)
    for one, row in enumerate(result.strength):
        for other, strength in enumerate(row):
            expected = _expected(found[one], found[other], words) if one != other else 0.0
            assert strength == pytest.approx(expected, abs=1e-5)
    assert (result.strength == result.strength.T).all()
    for values in (result.strength, result.mention, result.asked):
        assert ((values >= 0) & (values <= 1)).all()


@settings(max_examples=25)
@given(SETS, IDS, WORDS, st.randoms(use_true_random=False))
def test_links_do_not_depend_on_the_order(
    found: list[Subject], question: frozenset[int], words: frozenset[str], random: object
) -> None:
    """S10: the passages' order only moves rows and columns."""
    order = list(range(len(found)))
    random.shuffle(order)  # type: ignore[attr-defined]
    plain = link(found, question=question, words=words, idf=IDF)
    moved = link([found[place] for place in order], question=question, words=words, idf=IDF)
    np.testing.assert_allclose(moved.strength, plain.strength[np.ix_(order, order)], atol=1e-6)
    np.testing.assert_allclose(moved.asked, plain.asked[order], atol=1e-6)
