"""What a passage is linked by: titles, other names, and the names in its text, never too many."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval import Passage
from retrieval.index import LinkRule
from retrieval.index.link_rule import MENTIONS, NAME_LINKS, TOPICS
from retrieval.passage import Provenance


def keys(passage: Passage, *aliases: str) -> tuple[list[str], list[str]]:
    topics, mentions = NAME_LINKS.keys(passage, aliases)
    return list(topics), list(mentions)


def test_a_title_counts_with_and_without_its_brackets() -> None:
    """What mentions only `Mercury` must find the planet, and a title in full must find it alone."""
    assert keys(Passage(text="a planet", title="Mercury (planet)"))[0] == ["mercury planet", "mercury"]
    assert keys(Passage(text="a planet", title="(Untitled)"))[0] == ["untitled"]


def test_other_names_and_the_titles_of_all_places_count() -> None:
    """Redirects lead to their target; a text that stands in two articles is about both."""
    passage = Passage(text="a rail", title="The Rail", also=(Provenance(source_id="2", title="Moorhen"),))
    assert keys(passage, "Water rail", "Rail (bird)")[0] == ["rail", "moorhen", "water rail", "rail bird"]


def test_without_a_title_the_first_name_is_the_topic() -> None:
    """Corpora without titles are linked too; a text without any name has no key at all."""
    assert keys(Passage(text="In 1901 Ilse Aue left Tamworth.")) == (["ilse aue"], ["ilse aue", "tamworth"])
    assert keys(Passage(text="nobody is named here")) == ([], [])


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("映画『羅生門』は有名である。", ["羅生 生門"]),
        ("كتاب «الجسر القديم» هنا", ["الجسر القديم"]),
        ("यह “नदी” है", ["नदी"]),
        ("They read 'x' and the \"old orchard\".", []),
        ('He wrote "1917" in Velmora.', ["velmora", "1917"]),
    ],
)
def test_a_script_without_capitals_has_the_names_in_its_quotation_marks(text: str, mentions: list[str]) -> None:
    """Without capitals nothing else tells a name; where there are capitals, quoted lower case is no name."""
    assert keys(Passage(text=text, title="x"))[1] == mentions


def test_the_rule_that_the_docs_show_works() -> None:
    """docs/retrieval.md: a rule of one's own, for a corpus where numbers tell more than names."""
    page = (Path(__file__).parents[2] / "docs" / "retrieval.md").read_text(encoding="utf-8")
    scope: dict[str, LinkRule] = {}
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0], scope)  # noqa: S102 - our own page
    topics, mentions = scope["TICKETS"].keys(Passage(text="It repeats ORN-12.", title="VEL-7"), ())
    assert (list(topics), list(mentions)) == (["vel 7"], ["orn 12"])


def test_hostile_passages_keep_few_keys() -> None:
    """Nothing but names, and a document with endless other names: the first ones, its title before all."""
    names = "; ".join(f"Orn{letters} Lake" for letters in map(chr, range(0x4E00, 0x4E00 + 900)))
    topics, mentions = keys(Passage(text=names, title="Velmora"), *(f"alias {number}" for number in range(5000)))
    assert (len(topics), len(mentions)) == (TOPICS, MENTIONS)
    assert topics[:2] == ["velmora", "alias 0"]


@given(text=st.text(max_size=200), title=st.text(max_size=30), aliases=st.lists(st.text(max_size=20), max_size=4))
def test_keys_of_any_text_are_few_different_and_never_empty(text: str, title: str, aliases: list[str]) -> None:
    """An empty key would link everything with everything."""
    passage = Passage(text=text, title=title)
    for found, most in zip(keys(passage, *aliases), (TOPICS, MENTIONS), strict=True):
        assert all(found)
        assert len(set(found)) == len(found) <= most
    assert keys(passage, *aliases) == keys(passage, *aliases)
