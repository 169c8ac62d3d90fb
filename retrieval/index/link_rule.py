"""The default rule of links: a passage is about its title, or its first name, and mentions the names in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..names import find_names, name_key, topic, without_aside
from ..passage import Passage
from .links import LinkRule

MENTIONS = 64
"""Names of one passage that are kept, the first ones."""


def _keys(passage: Passage, aliases: Sequence[str]) -> tuple[Iterable[str], Iterable[str]]:
    titles = {*(place.title for place in passage.provenance if place.title), *aliases}
    topics = {name_key(form) for title in titles for form in (title, without_aside(title))}
    mentions = list(dict.fromkeys(name.key for name in find_names(passage.text)))[:MENTIONS]
    return topics or {topic(passage)}, mentions


NAME_LINKS = LinkRule(name="names-1", keys=_keys)
"""Titles and other names with and without brackets, and names found by their capitals. Text in a script without
capitals is linked by its titles alone."""
