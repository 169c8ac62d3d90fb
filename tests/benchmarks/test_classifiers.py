"""The classifiers that see one half of a record: features, folds, training."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from benchmarks.cues.classifier import assign_folds, out_of_fold
from benchmarks.cues.features import DIMENSIONS, HashedCounts
from benchmarks.cues.shared import SharedRows
from benchmarks.stats import auroc


def column(gram: str) -> int:
    return int.from_bytes(hashlib.blake2b(gram.encode(), digest_size=4).digest(), "little") % DIMENSIONS


def test_unigrams_and_bigrams_are_counted_across_texts() -> None:
    """`a b a | b` holds a and b twice, `a b` twice (once across the texts) and `b a` once."""
    (row,) = HashedCounts().matrix([[("a", "b", "a"), (), ("b",)]]).toarray()
    expected = {column("a"): 2, column("b"): 2, column("a b"): 2, column("b a"): 1}
    assert {int(at): int(row[at]) for at in np.flatnonzero(row)} == expected


def test_counts_of_nothing() -> None:
    """No record, and a record without a word, are rows of zeros."""
    assert HashedCounts().matrix([]).shape == (0, DIMENSIONS)
    assert HashedCounts().matrix([[], [()]]).sum() == 0


MATRICES = st.integers(1, 8).flatmap(
    lambda rows: st.tuples(
        st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=rows, max_size=rows),
        st.lists(st.integers(0, 2), min_size=rows, max_size=rows),
    )
)


@given(drawn=MATRICES)
def test_shared_rows_are_the_matrix(drawn: tuple[list[list[int]], list[int]]) -> None:
    """Products equal those of the plain matrix, never more entries are held, equal rows of a group stay equal."""
    dense, groups = np.array(drawn[0], dtype=np.float64), np.unique(drawn[1], return_inverse=True)[1]
    plain = csr_array(dense)
    shared = SharedRows(plain, groups)
    random = np.random.default_rng(0)
    right, left = random.normal(size=(4, 2)), random.normal(size=(len(dense), 2))
    assert shared.times(right) == pytest.approx(dense @ right)
    assert shared.transposed_times(left) == pytest.approx(dense.T @ left)
    assert shared.entries <= plain.nnz
    for one, other in zip(*np.nonzero(groups[:, None] == groups), strict=True):
        if np.array_equal(dense[one], dense[other]):
            assert np.array_equal(shared.times(right)[one], shared.times(right)[other])


@given(groups=st.lists(st.integers(0, 20).map(str), max_size=60), seed=st.integers(0, 5))
def test_folds_hold_complete_groups(groups: list[str], seed: int) -> None:
    """No group is split, folds differ by one group at most, the order of records does not matter."""
    folds = assign_folds(groups, seed=seed)
    by_group = dict(zip(groups, folds.tolist(), strict=True))
    assert [by_group[group] for group in groups] == folds.tolist()
    sizes = np.bincount(list(by_group.values()), minlength=5)
    assert len(sizes) == 5
    assert sizes.max() - sizes.min() <= 1
    assert assign_folds(groups[::-1], seed=seed).tolist() == folds.tolist()[::-1]


def test_folds_depend_on_the_seed() -> None:
    """Another seed puts other groups together."""
    groups = [str(at) for at in range(40)]
    assert assign_folds(groups, seed=17).tolist() != assign_folds(groups, seed=18).tolist()


def sample(groups: int, *, planted: bool, seed: int = 0) -> tuple[csr_array, NDArray[np.bool_], list[str]]:
    """Records of random words, two of a group; a planted word in three of four sufficient ones."""
    random = np.random.default_rng(seed)
    labels = np.tile([True, False], groups)
    texts = [[f"w{at}" for at in random.integers(0, 50, size=10)] for _ in labels]
    for text, label in zip(texts, labels, strict=True):
        if planted and label and random.random() < 0.75:
            text.append("beacon")
    counts = HashedCounts().matrix([tuple(text)] for text in texts)
    return counts, labels, [str(at // 2) for at in range(len(labels))]


def reference(counts: csr_array, labels: NDArray[np.bool_], groups: list[str]) -> NDArray[np.float64]:
    """Appendix C fold by fold with dense matrices."""
    folds, found = assign_folds(groups, seed=17), np.zeros(len(labels))
    dense = counts.toarray().astype(np.float64)
    for fold in range(5):
        train = folds != fold
        n = train.sum()
        idf = np.log((n + 1) / ((dense[train] > 0).sum(axis=0) + 1)) + 1
        features = np.log(1 + dense) * idf
        features /= np.linalg.norm(features, axis=1, keepdims=True)
        weights, intercept = np.zeros(dense.shape[1]), 0.0
        for _ in range(300):
            off = 1 / (1 + np.exp(-(features[train] @ weights + intercept))) - labels[train]
            weights -= 0.5 * (features[train].T @ off / n + 1.0 * weights / n)
            intercept -= 0.5 * off.mean()
        found[~train] = 1 / (1 + np.exp(-(features[~train] @ weights + intercept)))
    return found


def test_training_is_appendix_c() -> None:
    """All folds at once over shared rows give what five plain trainings give."""
    counts, labels, groups = sample(8, planted=True)
    used = np.flatnonzero(counts.sum(axis=0))
    counts = counts[:, used]
    assert out_of_fold(counts, labels, groups, seed=17) == pytest.approx(reference(counts, labels, groups))


def test_a_planted_word_is_learned_and_noise_is_not() -> None:
    """Three of four sufficient records bear the word: an area near 0.875. Noise: 0.5 within four deviations."""
    area = {}
    for planted in (True, False):
        counts, labels, groups = sample(150, planted=planted)
        probabilities = out_of_fold(counts, labels, groups, seed=17)
        assert probabilities is not None
        area[planted] = auroc(probabilities, labels) or 0.0
    assert area[True] > 0.8
    assert abs(area[False] - 0.5) < 4 * np.sqrt(301 / (12 * 150 * 150))


def test_a_groups_own_labels_do_not_leak() -> None:
    """Turning the labels of a group round changes other groups' scores, never its own."""
    counts, labels, groups = sample(20, planted=True)
    before = out_of_fold(counts, labels, groups, seed=17)
    own = np.array([group == "7" for group in groups])
    after = out_of_fold(counts, np.where(own, ~labels, labels), groups, seed=17)
    assert before is not None
    assert after is not None
    assert np.array_equal(before[own], after[own])
    assert not np.array_equal(before[~own], after[~own])
    assert ((before > 0) & (before < 1)).all()


def test_nothing_to_learn_from_is_undefined() -> None:
    """Case E02: no record, one group, or a label that occurs in one fold only."""
    counts, labels, groups = sample(3, planted=False)
    assert out_of_fold(counts[:0], labels[:0], [], seed=17) is None
    assert out_of_fold(counts[:2], labels[:2], groups[:2], seed=17) is None
    assert out_of_fold(counts, np.array([True] + [False] * 5), groups, seed=17) is None
    assert out_of_fold(counts, labels, groups, seed=17) is not None
