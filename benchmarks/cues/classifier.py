"""Logistic regression over hashed words, judged out of fold (RINSE, appendix C).

The paper gives the features, 300 full-batch gradient steps, the learning rate 0.5 and the L2 coefficient 1. It
does not say what the coefficient multiplies, nor what happens to the intercept. Here the loss is the mean log loss
plus `L2 / (2 n)` times the squared weights (n training records: the usual objective with C = 1, divided by n), the
intercept is not penalised, and all parameters start at 0. After 300 steps the weights are still small: the
probabilities stay near the share of sufficient records, and ranking is what they are good for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .shared import SharedRows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FOLDS = 5
STEPS = 300
RATE = 0.5
L2 = 1.0


def assign_folds(groups: Sequence[str], *, seed: int, folds: int = FOLDS) -> NDArray[np.intp]:
    """The fold of each record, 0 to `folds` - 1; complete groups, as evenly many as possible in each fold.

    The fold of a group depends on the seed and the names of all groups, not on the order of records.
    """
    names, group = np.unique(np.asarray(groups, dtype=np.str_), return_inverse=True)
    fold = np.empty(len(names), dtype=np.intp)
    fold[np.random.default_rng(seed).permutation(len(names))] = np.arange(len(names)) % folds
    return fold[group]


def out_of_fold(
    counts: csr_array, labels: NDArray[np.bool_], groups: Sequence[str], *, seed: int
) -> NDArray[np.float64] | None:
    """The probability that each record is sufficient, from the model of the folds that do not hold its group.

    Features are `log(1 + tf)` times the training records' IDF, `log((n + 1) / (df + 1)) + 1`, of unit length.

    Args:
        counts: Shape `(records, features)`.
        labels: Shape `(records,)`, true = sufficient.
        groups: The group of each record.
        seed: See `assign_folds`.

    Returns:
        Shape `(records,)`; None if some model would have no record of one of the labels to learn from.
    """
    folds = assign_folds(groups, seed=seed)
    models = np.unique(folds)
    training = folds[:, None] != models  # (records, models)
    if not len(models) or not all(labels[rows].any() and not labels[rows].all() for rows in training.T):
        return None
    logits = _logits(counts, labels, np.unique(groups, return_inverse=True)[1], training)
    own = logits[np.arange(len(folds)), np.searchsorted(models, folds)]
    return np.asarray(1 / (1 + np.exp(-own)), dtype=np.float64)


def _logits(
    counts: csr_array, labels: NDArray[np.bool_], groups: NDArray[np.intp], training: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Logits of all records under each model, shape `(records, models)`.

    The models differ in IDF and training records only. With `tf = log(1 + counts)` the features of a model are
    `tf * idf / length`, so that one pass over `tf` serves all models.
    """
    # A column that no record fills keeps the weight 0.
    plain = counts[:, np.unique(counts.indices)].astype(np.float64)
    plain.data = np.log1p(plain.data)
    size = training.sum(axis=0)
    idf = np.log((size + 1) / (plain.sign().T @ training.astype(np.float64) + 1)) + 1  # (features, models)
    squares = plain.power(2) @ idf**2
    scale = 1 / np.sqrt(np.where(squares > 0, squares, 1.0))  # (records, models)
    tf = SharedRows(plain, groups)
    weights = np.zeros_like(idf)
    intercept = np.zeros(len(size))
    for _ in range(STEPS):
        logits = scale * tf.times(idf * weights) + intercept
        residuals = np.where(training, 1 / (1 + np.exp(-logits)) - labels[:, None], 0.0) / size
        weights -= RATE * (idf * tf.transposed_times(scale * residuals) + L2 / size * weights)
        intercept -= RATE * residuals.sum(axis=0)
    return np.asarray(scale * tf.times(idf * weights) + intercept)
