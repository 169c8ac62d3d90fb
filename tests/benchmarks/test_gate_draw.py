"""Which records are judged: evenly, of both labels, by names and seed alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.contrasts.model import Construction
from benchmarks.gate.draw import batches, draw_records, even
from tests.benchmarks.gate_world import judged, shuffled
from tests.benchmarks.sides import world


@given(
    total=st.integers(0, 60),
    sizes=st.dictionaries(st.text(min_size=1, max_size=3), st.integers(0, 20), max_size=6),
)
def test_shares_are_even_as_far_as_sizes_allow(total: int, sizes: dict[str, int]) -> None:
    """Nothing is lost, nobody gets more than there is, and who gets less than another has no more."""
    shares = even(total, sizes)
    assert sum(shares.values()) == min(total, sum(sizes.values()))
    assert all(shares[key] <= sizes[key] for key in sizes)
    most = max(shares.values(), default=0)
    assert all(shares[key] >= most - 1 for key in sizes if shares[key] < sizes[key])


def test_labels_are_balanced_and_a_group_gives_one_side_of_each() -> None:
    """Otherwise rates of the two labels would be of different questions, and large groups would count more."""
    drawn = draw_records(judged(9), 6, seed=3)
    assert Counter(one.side.sufficient for one in drawn) == {True: 6, False: 6}
    assert set(Counter(one.contrast.key for one in drawn).values()) == {2}


def test_the_order_of_contrasts_and_sides_changes_nothing() -> None:
    """What is judged depends on names and the seed, not on how a file happens to be sorted."""
    contrasts = judged(12)
    names = [one.job.record for one in draw_records(contrasts, 5, seed=3)]
    again = draw_records(shuffled(contrasts, seed=1), 5, seed=3)
    assert [one.job.record for one in again] == names
    assert [one.job.record for one in draw_records(contrasts, 5, seed=4)] != names


def test_tests_share_evenly_and_retrieval_is_one_of_them() -> None:
    """A pooled construction counts once, with its datasets evenly inside; three tests get three each."""
    made = world(6)
    tests: list[tuple[str, Construction]] = [
        ("a", "deletion"),
        ("b", "hard-substitution"),
        ("a", "retrieval"),
        ("b", "retrieval"),
    ]
    contrasts = [
        replace(one, dataset=dataset, construction=construction, group=f"{dataset} {one.group}")
        for one in made
        for dataset, construction in tests
    ]
    drawn = draw_records(contrasts, 9, seed=0)
    assert Counter(one.test for one in drawn) == {
        ("a", "deletion"): 6,
        ("b", "hard-substitution"): 6,
        ("pooled", "retrieval"): 6,
    }
    inside = Counter(one.contrast.dataset for one in drawn if one.test == ("pooled", "retrieval"))
    assert inside == {"a": 4, "b": 2}


def test_swaps_that_we_made_are_a_test_of_their_family() -> None:
    """A threshold for SQuAD rests on as many swaps of SQuAD as one for HotpotQA on its own pairs."""
    made = [
        replace(one, dataset=dataset, construction="made-swap", group=f"{dataset} {one.group}")
        for one in world(6)
        for dataset in ("qed_nq", "clapnq", "squad1")
    ]
    drawn = draw_records(made, 8, seed=0)
    assert Counter(one.test for one in drawn) == {("nq", "made-swap"): 8, ("squad", "made-swap"): 8}


def test_jobs_of_a_group_stay_together() -> None:
    """The scorer remembers their passages in one process."""
    drawn = draw_records(judged(4), 4, seed=0)
    assert [len(batch) for batch in batches(drawn)] == [2, 2, 2, 2]
