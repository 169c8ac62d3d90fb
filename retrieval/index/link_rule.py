"""The default rule of links: a passage is about its title, or its first name, and mentions the names in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import regex

from ..names import MAX_CHARACTERS, find_names, name_key, topic, without_aside
from ..passage import Passage
from .links import LinkRule

MENTIONS = 64
"""Names of one passage that are kept, the first ones."""
TOPICS = 64
"""Titles and other names of one passage that are kept, its titles first."""

_QUOTED = regex.compile(r"[「『《〈«“\"]\s?([^「」『』《》〈〉«»“”\"]{2,60}?)\s?[」』》〉»”\"]")
_CASED = regex.compile(r"[\p{Lu}\p{Ll}\p{Lt}]")


def _keys(passage: Passage, aliases: Sequence[str]) -> tuple[Iterable[str], Iterable[str]]:
    titles = dict.fromkeys([*(place.title for place in passage.provenance if place.title), *aliases])
    topics = dict.fromkeys(name_key(form) for title in titles for form in (title, without_aside(title)))
    return _first(topics or [topic(passage)], TOPICS), _first(_mentions(passage.text), MENTIONS)


def _mentions(text: str) -> Iterator[str]:
    yield from (name.key for name in find_names(text))
    for match in _QUOTED.finditer(text[:MAX_CHARACTERS]):
        if not _CASED.search(match[1]):  # `find_names` knows the others
            yield name_key(match[1])


def _first(keys: Iterable[str], most: int) -> list[str]:
    return list(dict.fromkeys(key for key in keys if key))[:most]


NAME_LINKS = LinkRule(name="names-1", keys=_keys)
"""Titles and other names, with and without brackets; names found by their capitals. A script without capitals has
the names that stand in quotation marks; its passages lead from and to each other by these and by their titles."""
