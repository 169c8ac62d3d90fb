"""A passage as planning and ranking see it: its words, its names, what it is about. Made once and kept."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval import Passage
from retrieval.memo import Memo
from retrieval.names import MAX_CHARACTERS, Name, find_names, name_key, topic, without_aside
from retrieval.words import stems

KEPT = 4_000_000
"""Characters of which views are kept: 8,000 passages of 400 characters, in about 80 MB."""
_OVERHEAD = 100  # a view of nothing takes the room of so many characters
MAX_NAMES = 100
"""Names of a passage that count, the first ones: more than 400 words of an article have, and an end to the work
where a text consists of nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a passage says, by what it is compared by."""

    stems: frozenset[str]
    """Of heading and text, as far as names are read (`retrieval.names.MAX_CHARACTERS`)."""
    found: tuple[Name, ...]
    """Names in the text, in its order, at most `MAX_NAMES`."""
    names: frozenset[str]
    """Their keys."""
    topic: str
    """The key of what it is about; may be empty."""
    title: str
    """Its title without brackets; may be empty."""
    folded: str
    """The folded words of the text between blanks, to look for a key inside."""


class Views:
    """Makes views of passages and remembers the last ones, in bounded memory. Thread-safe."""

    def __init__(self) -> None:
        self._memo: Memo[tuple[str, str], View] = Memo(KEPT, lambda view: _OVERHEAD + len(view.folded))

    def of(self, passage: Passage) -> View:
        """The view of a passage; about 2 ms for one that is new."""
        key = (passage.id, passage.heading)
        view = self._memo.get(key)
        if view is None:
            view = _view(passage)
            self._memo.put(key, view)
        return view


def holds(folded: str, key: str) -> bool:
    """Whether folded words between blanks hold a key, as whole words."""
    return bool(key) and f" {key} " in folded


def folded_words(text: str) -> str:
    """The folded words of a text between blanks. See `holds`."""
    return f" {name_key(text)} "


def _view(passage: Passage) -> View:
    text = passage.text[:MAX_CHARACTERS]
    found = find_names(text)[:MAX_NAMES]
    return View(
        stems=stems(f"{passage.heading[:MAX_CHARACTERS]} {text}"),
        found=found,
        names=frozenset(name.key for name in found),
        topic=topic(passage),
        title=without_aside(passage.title) if passage.title else "",
        folded=folded_words(text),
    )
