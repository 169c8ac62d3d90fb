"""From passages to those that they are linked with, as candidates beside the hits of words and vectors."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from ..names import MAX_CHARACTERS
from ..text import tokenise
from .links import Links, link_key

MOST_TOPICS = 50
"""A key that more documents are about is ambiguous and leads nowhere. One leads to so many passages at most."""
MOST_MENTIONS = 30
"""A key that more passages mention is too frequent to lead anywhere."""
SHARED = 0.7
"""What naming the same thing is worth, where mentioning what the other is about is worth 1."""
FREQUENT = 2.25
"""Up to about so many passages that have a key, each is worth all of it; then it falls with their square root."""
LIMIT = 1.5
"""The most that the links with one seed are worth together."""
LONGEST_KEY = 12
"""Words of the question that may be one key, as many as a name may have."""
QUESTION_WORDS = 128
"""Words of the question that are looked at, the first ones."""


def linked(links: Links, seeds: Sequence[str], question: str) -> dict[str, float]:
    """Passages linked with a seed and how strongly, in (0, `LIMIT`]; keys that the question names do not count.

    A passage is linked with a seed that mentions what it is about, that is about what it mentions, or that
    mentions the same, weighed by how few passages have the key.
    """
    keys, asked = links.of(seeds), question_keys(question)
    mentions = {seed: own.mentions - asked for seed, own in keys.items()}
    topics = {seed: own.topics - asked for seed, own in keys.items()}
    every = set().union(*mentions.values(), *topics.values())
    about = links.passages("topic", set().union(*mentions.values()), most=MOST_TOPICS)
    naming = links.passages("mention", every, most=MOST_MENTIONS)
    found: dict[str, float] = {}
    for seed in keys:
        strength: dict[str, float] = defaultdict(float)
        _add(strength, about, mentions[seed], worth=1.0, damped=False)
        _add(strength, naming, topics[seed], worth=1.0)
        _add(strength, naming, mentions[seed] - topics[seed], worth=SHARED)
        for key, value in strength.items():
            if key != seed:
                found[key] = max(found.get(key, 0.0), min(value, LIMIT))
    return found


def question_keys(question: str) -> frozenset[int]:
    """Hashes of all runs of the question's words that a key could be; at most `QUESTION_WORDS` x `LONGEST_KEY`."""
    words = tokenise(question[:MAX_CHARACTERS])[:QUESTION_WORDS]
    return frozenset(
        link_key(" ".join(words[begin:end]))
        for begin in range(len(words))
        for end in range(begin + 1, min(begin + LONGEST_KEY, len(words)) + 1)
    )


def _add(
    strength: dict[str, float],
    passages: Mapping[int, Sequence[str]],
    keys: Iterable[int],
    *,
    worth: float,
    damped: bool = True,
) -> None:
    for key in keys:
        holders: Collection[str] = passages.get(key, ())
        value = min(1.0, worth * math.sqrt(FREQUENT / max(1, len(holders)))) if damped else worth
        for holder in holders:
            strength[holder] += value
