"""How single searches ended under each policy, for who wants to look at questions instead of means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policies.utility import Utility

from .board import Played, make_board
from .figures import best_ends, worths
from .runs import Search


def end_lines(
    searches: Sequence[Search], plays: Mapping[str, Played], utility: Utility
) -> Iterator[dict[str, Any]]:
    """One flat object for each search and policy.

    Keys: `dataset`, `id`, `twin`, `group`, `policy`, `off_record`; and, null where it left the record: `answered`,
    `complete` (the support at the stop), `reason`, `look` (1 = the first), `turns`, `calls`, `tokens`, `seconds`,
    `price`, `passages_scored`, `score`, `answer`, `em`, `f1` (null where no answer can be judged), `em_gold`,
    `f1_gold` (null without an answer from gold), `utility`, `regret_utility`, `regret_support`.
    """
    board = make_board(searches)
    best = best_ends(board, utility)
    for name, played in plays.items():
        worth = worths(board, played.look, played.answered, utility)
        for at, search in enumerate(searches):
            place = int(played.look[at])
            off = bool(played.off[at])
            answered = bool(played.answered[at])
            state = search.states[place]
            judged, gold = bool(board.judged[at]), bool(board.judged_gold[at])
            ended: dict[str, Any] = {
                "answered": answered,
                "complete": search.complete[place],
                "reason": played.reasons[at],
                "look": place + 1,
                "turns": state.turn,
                "calls": state.spend.calls,
                "tokens": state.spend.tokens,
                "seconds": state.spend.seconds,
                "price": state.spend.price,
                "passages_scored": search.scored[place],
                "score": state.score,
                "answer": search.probes[place] if answered else None,
                "em": float(board.em[at, place]) * answered if judged else None,
                "f1": float(board.f1[at, place]) * answered if judged else None,
                "em_gold": float(board.em_gold[at]) if gold else None,
                "f1_gold": float(board.f1_gold[at]) if gold else None,
                "utility": float(worth[at]),
                "regret_utility": float(best.utility[at] - worth[at]),
                "regret_support": float(best.support[at] - worth[at]),
            }
            yield {
                "dataset": search.dataset,
                "id": search.id,
                "twin": search.twin,
                "group": search.group,
                "policy": name,
                "off_record": off,
                **(dict.fromkeys(ended) if off else ended),
            }
