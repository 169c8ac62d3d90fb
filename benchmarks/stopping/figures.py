"""What a policy's ends are worth: figures as sums over searches, so that one bootstrap serves them all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from policies.utility import Utility

from .board import Board, Flags, Numbers, Played

Share: TypeAlias = tuple[Numbers, Numbers]
"""What each search adds above and below the line, both of shape `(searches,)`: a figure is sum by sum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """Where the two oracles of `policies.oracle` end each search, and what that is worth. Shapes `(searches,)`."""

    look: NDArray[np.intp]
    """Of `OracleUtility` at prices that make an answer worth its calls: the first look with complete support, the
    first look of all where there is none."""
    support: Numbers
    """Utility of answering at the first look with complete support; of abstaining at the end if there is none."""
    utility: Numbers
    """The best utility of any end that the record allows."""


def best_ends(board: Board, utility: Utility) -> Best:
    """What could be reached at best by who knows the annotations."""
    look = board.first_complete
    answer = utility.right - utility.call_price * board.at(board.calls, look)
    in_vain = -utility.call_price * board.calls[:, -1]
    at_once = -utility.call_price * board.calls[:, 0]
    support = np.where(board.completes, answer, in_vain)
    return Best(
        look=look, support=support, utility=np.maximum(np.where(board.completes, answer, at_once), at_once)
    )


def worths(board: Board, look: NDArray[np.intp], answered: Flags, utility: Utility) -> Numbers:
    """The utility of each search that ends like this, shape `(searches,)`; `Utility.of` for arrays."""
    complete = board.at(board.complete, look) > 0
    worth = np.where(answered, np.where(complete, utility.right, -utility.wrong), 0.0)
    return worth - utility.call_price * board.at(board.calls, look)


def shares(board: Board, played: Played, utility: Utility, best: Best) -> Mapping[str, Share]:
    """Every figure that is a sum by a sum, by name. `docs/stopping.md` says what each means."""
    look, answered = played.look, played.answered
    one = np.ones(len(look))
    complete = board.at(board.complete, look) > 0
    horizon = board.complete[:, -1]
    worth = worths(board, look, answered, utility)
    means: dict[str, Numbers | Flags] = {
        "correct_decisions": answered == complete,
        "utility": worth,
        "calls_per_question": board.at(board.calls, look),
        "turns": board.at(board.turns, look),
        "passages_scored": board.at(board.scored, look),
        "tokens": board.at(board.tokens, look),
        "seconds": board.at(board.seconds, look),
        "price": board.at(board.price, look),
        "support_complete": complete,
        "support_recall": board.at(board.recall, look),
        "coverage": answered,
        "answered_incomplete": answered & ~complete,
        "regret_support": best.support - worth,
        "regret_utility": best.utility - worth,
        "stop_minus_oracle": board.at(board.turns, look) - board.at(board.turns, best.look),
    }
    found = {name: (values.astype(np.float64), one) for name, values in means.items()}
    return found | _rates(board, played, complete, horizon) | _answers(board, played)


def _rates(board: Board, played: Played, complete: Flags, horizon: Flags) -> dict[str, Share]:
    """Shares of some of the searches."""
    answered, completes = played.answered, board.completes
    extra = board.at(board.calls, played.look) - board.at(board.calls, board.first_complete)
    return {
        "risk": _among(answered, ~complete),
        "answered_on_insufficient": _among(~complete, answered),
        "refused_on_sufficient": _among(complete, ~answered),
        "supported_refused": _among(horizon, ~answered),
        "unsupported_answered": _among(~horizon, answered),
        "unsupported_cut": (
            (~horizon).astype(np.float64) - (answered & ~complete),
            (~horizon).astype(np.float64),
        ),
        "over_search": (np.where(completes, np.maximum(extra, 0.0), 0.0), completes.astype(np.float64)),
        "under_search": _among(completes, played.look < board.first_complete),
    }


def _answers(board: Board, played: Played) -> dict[str, Share]:
    """Figures of answers; an abstention has 0."""
    given = played.answered & board.judged
    judged, judged_gold = board.judged.astype(np.float64), board.judged_gold.astype(np.float64)
    return {
        "em": (np.where(given, board.at(board.em, played.look), 0.0), judged),
        "f1": (np.where(given, board.at(board.f1, played.look), 0.0), judged),
        "em_gold": (board.em_gold * judged_gold, judged_gold),
        "f1_gold": (board.f1_gold * judged_gold, judged_gold),
    }


def _among(some: Flags, those: Flags) -> Share:
    """How many of some searches are also among those."""
    return (some & those).astype(np.float64), some.astype(np.float64)
