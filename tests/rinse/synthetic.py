"""Questions and matches made of numbers, for readers that never see a text; hypothesis draws whole sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from rinse.readers.matching import Match
from rinse.readers.question import QuestionView
from rinse.readers.subject import Subject

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
    """What a passage of one sentence is about."""
    found = names or {}
    return Subject(heading=tuple(heading), body=frozenset(body), names=found, sentences=(frozenset(found),))


def match(*sentences: Sequence[float], about: Subject | None = None, whole: float = 0.5) -> Match:
    """A passage whose sentences cover the question's tokens so well; the best one first."""
    about = about or subject()
    rows = np.array(sentences, dtype=np.float32)
    names = (
        about.sentences if len(about.sentences) == len(sentences) else (frozenset(about.names),) * len(sentences)
    )
    return Match(
        tokens=rows.max(axis=0),
        phrases=rows.max(axis=0)[:1],
        sentences=rows,
        sentence_names=names,
        whole=whole,
        frequency={},
        length=0,
        subject=about,
        truncated=False,
    )


@st.composite
def subjects(draw: st.DrawFn, *, sentences: int = 1) -> Subject:
    """Any heading, text and names; the sentences hold some of the names."""
    names = draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from([5.5, 7.0, 12.0])))
    held = st.frozensets(st.sampled_from(sorted(names))) if names else st.just(frozenset[str]())
    return Subject(
        heading=tuple(draw(_IDS)),
        body=frozenset(draw(_IDS)),
        names=names,
        sentences=tuple(draw(held) for _ in range(sentences)),
    )


@st.composite
def sets(draw: st.DrawFn, *, most: int = 5) -> tuple[QuestionView, list[Match]]:
    """A question and the matches of a set, each of one or two sentences."""
    ids = draw(st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=4))
    view = question_view(ids, draw(st.lists(st.sampled_from(NAMES), max_size=2)))
    row = st.lists(_SHARE, min_size=len(ids), max_size=len(ids))
    matches = []
    for _ in range(draw(st.integers(1, most))):
        rows = draw(st.lists(row, min_size=1, max_size=2))
        rows.sort(key=lambda values: -float(np.average(values, weights=view.weights)))
        matches.append(match(*rows, about=draw(subjects(sentences=len(rows))), whole=draw(_SHARE)))
    return view, matches
