"""A test of "the risk is above alpha" whose unit is the group: capital that grows only if it is not.

A group that answers a share a of its searches, w of them without support, has the loss z = w - alpha * a, in
[-alpha, 1 - alpha]. The risk E[w] / E[a] is above alpha if and only if E[z] > 0. Then the capital K_t = prod
over the first t groups of (1 - bet * z) is a supermartingale that starts at 1, for any bet in [0, 1 / (1 -
alpha)) chosen without looking at these groups, and by Ville's inequality K ever reaches 1/p with probability at
most p: p = 1 / max K_t is a p-value (Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables
by betting", sec. 4).

Why not an exact binomial test: the searches of one group depend on each other (a question and its twin), so it
may use one of each group only. Of 2,000 samples of pairs it certified 52 % where the bet, which uses all searches,
certified 79 % (100 pairs, alpha 0.2), and 69 % against 91 % (300 pairs, alpha 0.1): python -m benchmarks ltt.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_FRACTIONS = np.linspace(0.04, 0.96, 24)
"""Of the largest bet that cannot lose all capital."""
_HOPED = 0.8416
"""Normal quantile of 80 %: the chance of success that `groups_for` plans for."""


def losses(answered: NDArray[np.float64], wrong: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """(groups, m) z of each group under each candidate."""
    return wrong - alpha * answered


def best_bets(loss: NDArray[np.float64], alpha: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each candidate the bet under which capital would have grown fastest, and its log growth per group.

    Args:
        loss: (groups, m), of groups that are not tested with this bet.
        alpha: The risk, in (0, 1).

    Returns:
        (m,) bets and (m,) growths; a growth of 0 or less means that the risk is not seen to be below alpha.
    """
    candidates = loss.shape[1]
    bets, growths = np.zeros(candidates), np.full(candidates, -np.inf)
    if not len(loss):
        return bets, np.zeros(candidates)
    for bet in _FRACTIONS / (1 - alpha):
        growth = np.log1p(-bet * loss).mean(axis=0)
        better = growth > growths
        bets[better], growths[better] = bet, growth[better]
    return bets, growths


def p_values(loss: NDArray[np.float64], bets: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m,) p-values of "the risk of this candidate is above alpha", in (0, 1].

    Args:
        loss: (groups, m), in an order that does not depend on the losses.
        bets: (m,), chosen without these groups.
    """
    if not len(loss):
        return np.ones(loss.shape[1])
    capital = np.cumsum(np.log1p(-bets * loss), axis=0)
    return np.asarray(np.exp(-np.maximum(capital.max(axis=0), 0.0)))


def cautious_growth(loss: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """(m,) growths as if one search of a pair more had been answered without support.

    A candidate that answers three searches, all of them well by luck, does not look like the best then.
    """
    return best_bets(_and_one_error(loss, alpha), alpha)[1]


def groups_for(loss: NDArray[np.float64], alpha: float, delta: float) -> int | None:
    """About how many groups like these, and one more error, a test at level delta needs: 4 chances in 5.

    Args:
        loss: (groups,) of one candidate.
        alpha: The risk.
        delta: The level.

    Returns:
        None: capital does not grow; no number of such groups suffices.
    """
    cautious = _and_one_error(loss[:, None], alpha)
    bets, growths = best_bets(cautious, alpha)
    growth = float(growths[0])
    if not growth > 0:
        return None
    deviation = _HOPED * float(np.log1p(-bets[0] * cautious).std())
    root = (deviation + math.sqrt(deviation**2 - 4 * growth * math.log(delta))) / (2 * growth)
    return math.ceil(root**2)


def _and_one_error(loss: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    return np.vstack([loss, np.full((1, loss.shape[1]), (1 - alpha) / 2)])
