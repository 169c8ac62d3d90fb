"""Questions and matches made of numbers, for readers that never see a text; hypothesis draws whole sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from rinse.readers.matching import Match
from rinse.readers.question import QuestionView
from rinse.readers.states import Subject

VOCABULARY = 12
IDF: NDArray[np.float32] = np.linspace(0.5, 8.0, VOCABULARY).astype(np.float32)
NAMES = ("orrel", "tamsin", "quenby", "1871", "varga")

_SHARE = st.integers(0, 8).map(lambda eighths: eighths / 8)
_IDS = st.lists(st.integers(0, VOCABULARY - 1), max_size=3)


def question_view(ids: Sequence[int], words: Sequence[str] = ()) -> QuestionView:
    """A question of these vocabulary ids; its windows and vectors say nothing."""
    count = len(ids)
    return QuestionView(
        text=" ".join(map(str, ids)),
        ids=tuple(ids),
        words=frozenset(words),
        token_spans=tuple((place, place + 1) for place in range(count)),
        vectors=np.eye(count, 4, dtype=np.float32),
        weights=IDF[list(ids)],
        readable=np.ones(count, dtype=np.float32),
        window_spans=((0, count),),
        means=np.full((1, count), 1 / max(count, 1), dtype=np.float32),
        phrases=np.zeros((1, 4), dtype=np.float32),
        whole=np.zeros((1, 4), dtype=np.float32),
        truncated=False,
    )


def subject(
    heading: Sequence[int] = (), body: Sequence[int] = (), names: Mapping[str, float] | None = None
) -> Subject:
    """What a passage is about."""
    return Subject(heading=tuple(heading), body=frozenset(body), names=names or {})


def match(tokens: Sequence[float], about: Subject | None = None, *, whole: float = 0.5) -> Match:
    """A passage that covers the question's tokens so well."""
    return Match(
        tokens=np.array(tokens, dtype=np.float32),
        phrases=np.array([max(tokens, default=0.0)], dtype=np.float32),
        sentence=min(tokens, default=0.0),
        whole=whole,
        ids=(),
        subject=about or subject(),
        truncated=False,
    )


@st.composite
def subjects(draw: st.DrawFn) -> Subject:
    """Any heading, text and names."""
    names = draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from([5.5, 7.0, 12.0])))
    return subject(draw(_IDS), draw(_IDS), names)


@st.composite
def sets(draw: st.DrawFn, *, most: int = 5) -> tuple[QuestionView, list[Match]]:
    """A question and the matches of a set."""
    ids = draw(st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=4))
    words = draw(st.lists(st.sampled_from(NAMES), max_size=2))
    covers = st.lists(_SHARE, min_size=len(ids), max_size=len(ids))
    made = st.builds(lambda tokens, about, whole: match(tokens, about, whole=whole), covers, subjects(), _SHARE)
    return question_view(ids, words), draw(st.lists(made, min_size=1, max_size=most))
