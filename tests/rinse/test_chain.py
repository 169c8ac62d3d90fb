"""The features of the chain reader: what each one sees, and brute force over paths and pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rinse.readers.chain import BRIDGES, FEATURES, HOPS, chain_features
from rinse.readers.links import SHARED_NAMES, SHARED_WEIGHT, Links, link
from rinse.readers.matching import Match
from rinse.readers.pairing import LINK_PREMIUM
from rinse.readers.question import QuestionView
from tests.rinse.synthetic import IDF, match, question_view, sets, subject

VIEW = question_view([2, 3])
FIRST = match([1.0, 0.0], about=subject([2], [7, 8], {"orrel": 14.0}), whole=0.8)
"""Its heading stands in the question, its text speaks of the heading (7, 8)."""
SECOND = match([0.0, 1.0], about=subject([7, 8], [5], {"orrel": 14.0}), whole=0.6)
"""What the question does not name but the first passage does."""
STRANGER = match([0.0, 1.0], about=subject([9, 10], [5], {"tamsin": 14.0}), whole=0.6)
"""Covers the same, hangs on nothing."""


def features(view: QuestionView, *found: Match) -> dict[str, float]:
    return chain_features(view, found, IDF)


def test_passages_that_hang_together_beat_passages_that_resemble_the_question() -> None:
    """The reason for this reader: content coverage of the two sets is the same."""
    chained, loose = features(VIEW, FIRST, SECOND), features(VIEW, FIRST, STRANGER)
    assert all(chained[name] > loose[name] for name in FEATURES)
    assert chained["anchored"] == pytest.approx(1.0)
    assert loose["anchored"] == pytest.approx(IDF[2] / (IDF[2] + IDF[3]))
    assert chained["pair"] == pytest.approx(1.0 + LINK_PREMIUM)
    assert loose["pair"] == pytest.approx(IDF[3] / (IDF[2] + IDF[3]))
    assert chained["bridge"] == pytest.approx(0.8 / BRIDGES)


def test_a_chain_is_followed_over_three_links_and_no_further() -> None:
    """Each passage names the next one; only the first is named by the question, only the last covers it."""
    for links in range(1, 6):
        passages = [match([0.0, 0.0], about=subject([2 if at == 0 else 5 + at], [6 + at])) for at in range(links)]
        last = match([1.0, 1.0], about=subject([5 + links], []))
        view = question_view([2, 3])
        assert features(view, *passages, last)["anchored"] == pytest.approx(1.0 if links <= HOPS else 0.0)


def test_a_passage_that_the_question_names_is_no_bridge() -> None:
    """A bridge is what the question does not name."""
    named = question_view([2, 7, 8])
    cover = [1.0, 0.0, 0.0]
    found = features(
        named, match(cover, about=subject([2], [7, 8]), whole=0.8), match(cover, about=subject([7, 8]))
    )
    assert found["bridge"] == 0.0


def test_passages_without_headings_hang_on_what_they_cover() -> None:
    """Plain texts of a user's own have no titles; the reader says something all the same."""
    one = features(VIEW, match([1.0, 0.5]))
    assert one["anchored"] == one["reached"] > 0
    assert one["bridge"] == 0.0
    shared = [
        match([1.0, 0.0], about=subject(names={"orrel": 12.0})),
        match([0.0, 1.0], about=subject(names={"orrel": 12.0})),
    ]
    assert features(VIEW, *shared)["pair"] == pytest.approx(1.0 + LINK_PREMIUM * 12 / 14)


def test_without_passages_or_without_a_question_all_is_zero() -> None:
    """Defined, not NaN."""
    assert features(VIEW) == dict.fromkeys(FEATURES, 0.0)
    assert features(question_view([]), match([])) == dict.fromkeys(FEATURES, 0.0)


def test_one_question_token_and_one_passage() -> None:
    """The smallest set: nothing to link."""
    found = features(question_view([4]), match([0.5]))
    assert found == {"anchored": 0.25, "reached": 0.25, "pair": 0.5, "bridge": 0.0}


@settings(max_examples=25)
@given(sets(), st.randoms(use_true_random=False))
def test_order_does_not_matter(drawn: tuple[QuestionView, list[Match]], random: object) -> None:
    """S10: the features are those of a set."""
    view, matches = drawn
    moved = list(matches)
    random.shuffle(moved)  # type: ignore[attr-defined]
    assert features(view, *moved) == pytest.approx(features(view, *matches), abs=1e-6)


@settings(max_examples=25)
@given(sets(most=6))
def test_no_feature_falls_as_evidence_grows_and_all_stay_in_range(
    drawn: tuple[QuestionView, list[Match]],
) -> None:
    """In [0, 1]; `pair` carries a premium and ends at 1.3."""
    view, matches = drawn
    last = dict.fromkeys(FEATURES, 0.0)
    for count in range(1, len(matches) + 1):
        now = features(view, *matches[:count])
        for name, value in now.items():
            assert last[name] - 1e-6 <= value <= (1.0 + LINK_PREMIUM if name == "pair" else 1.0) + 1e-6
        last = now


@settings(max_examples=25)
@given(sets(most=4))
def test_features_equal_brute_force(drawn: tuple[QuestionView, list[Match]]) -> None:
    """Every path of up to `HOPS` links, every pair, every mention."""
    view, matches = drawn
    links = link([match.subject for match in matches], question=frozenset(view.ids), words=view.words, idf=IDF)
    covers = [_mean(view, match.tokens) for match in matches]
    named = [
        asked if headed else cover for asked, headed, cover in zip(links.asked, links.headed, covers, strict=True)
    ]
    assert features(view, *matches) == pytest.approx(
        {
            "anchored": _hanging(view, matches, named, links),
            "reached": _hanging(view, matches, covers, links),
            "pair": _pair(view, matches),
            "bridge": _bridge(matches, links),
        },
        abs=1e-5,
    )


def _mean(view: QuestionView, values: np.ndarray) -> float:
    return float(np.average(values, weights=view.weights))


def _hanging(view: QuestionView, matches: list[Match], start: Sequence[float], links: Links) -> float:
    """A passage is held by the strongest path that ends at it."""
    held = [0.0] * len(matches)
    for length in range(1, HOPS + 2):
        for path in permutations(range(len(matches)), length):
            steps = [float(links.strength[a, b]) for a, b in pairwise(path)]
            held[path[-1]] = max(held[path[-1]], float(start[path[0]]) * float(np.prod(steps)))
    return _mean(view, np.max([hold * match.tokens for hold, match in zip(held, matches, strict=True)], axis=0))


def _pair(view: QuestionView, matches: list[Match]) -> float:
    """Every sentence alone, and every two of different passages that share a name."""
    found = [_mean(view, row) for match in matches for row in match.sentences]
    for first, second in combinations(matches, 2):
        for (one, held), (other, also) in product(_sentences(first), _sentences(second)):
            weights = sorted(
                min(first.subject.names[name], second.subject.names[name]) for name in (held & also) - view.words
            )
            if weights:
                link = min(sum(weights[-SHARED_NAMES:]) / SHARED_WEIGHT, 1.0)
                found.append(_mean(view, np.maximum(one, other)) + LINK_PREMIUM * link)
    return max(found)


def _sentences(match: Match) -> list[tuple[np.ndarray, frozenset[str]]]:
    return list(zip(match.sentences, match.sentence_names, strict=True))


def _bridge(matches: list[Match], links: Links) -> float:
    count = range(len(matches))
    mentioned = [max(float(links.mention[i, j]) * matches[i].whole for i in count) for j in count]
    open_ones = sorted((value * (1 - float(asked)) for value, asked in zip(mentioned, links.asked, strict=True)))
    return sum(open_ones[-BRIDGES:]) / BRIDGES
