"""The chain reader: do the passages, read together, lead from the question to what it asks for?

The third failure of evidence (RINSE, section 3): the facts are spread over passages, none of which suffices. The
paper reads it from a language model's state; this reader follows the links between passages (`links`) and asks how
much of the question is covered by passages that hang together. Its features feed a conditional-logistic head:

* `anchored`: as `tokens` of the content reader, but a passage counts as far as it hangs on a passage whose heading
  the question names (a passage without a heading hangs on its own coverage);
* `reached`: the same, hanging on passages that cover much of the question;
* `pair`: what the best two sentences of different passages that share a name cover together, plus a premium for
  the names;
* `bridge`: the two passages most clearly mentioned by passages that are like the question, while the question
  itself does not name them.

No feature ever falls as evidence grows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .links import Links, link
from .matching import Match
from .pairing import best_pair
from .question import QuestionView

FEATURES = ("anchored", "reached", "pair", "bridge")
"""Names of the features."""
HOPS = 3
"""Links in a row that are followed: chains of four passages."""
BRIDGES = 2
"""Bridges that are looked for: a question of three hops has two."""


def chain_features(view: QuestionView, matches: Sequence[Match], idf: NDArray[np.float32]) -> dict[str, float]:
    """The features by name; all 0 without evidence.

    Args:
        view: The question.
        matches: Of every passage, in an order that depends on the set only.
        idf: The profile's.
    """
    if not matches or not len(view.ids):
        return dict.fromkeys(FEATURES, 0.0)
    subjects = [match.subject for match in matches]
    links = link(subjects, question=frozenset(view.ids), words=view.words, idf=idf)
    tokens = np.array([match.tokens for match in matches])  # (passages, tokens)
    covers = view.mean(tokens)
    named = np.where(links.headed, links.asked, covers)
    return {
        "anchored": _hanging(view, tokens, named, links),
        "reached": _hanging(view, tokens, covers, links),
        "pair": best_pair(view, matches, links),
        "bridge": _bridge(links, np.array([match.whole for match in matches], dtype=np.float32)),
    }


def _hanging(view: QuestionView, tokens: NDArray[np.float32], start: NDArray[np.float32], links: Links) -> float:
    """Coverage by passages, each as far as it is held: by itself or over the strongest path from another one."""
    held = start
    for _ in range(HOPS):
        held = np.maximum(held, (held[:, None] * links.strength).max(axis=0))
    return float(view.mean((tokens * held[:, None]).max(axis=0)))


def _bridge(links: Links, like_question: NDArray[np.float32]) -> float:
    mentioned = (links.mention * like_question[:, None]).max(axis=0) * (1.0 - links.asked)
    return float(np.sort(mentioned)[::-1][:BRIDGES].sum()) / BRIDGES
