"""Documents are cut into passages without loss, and sections never mix."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.corpora import Document, Section, passages
from retrieval.corpora.outline import Outline

_TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=400)


def document(*sections: Section) -> Document:
    return Document(id="d1", title="Moor", url="https://example.org/moor", sections=sections, aliases=("Bog",))


def test_passages_carry_where_they_stand() -> None:
    """Title, section, source and address of the document go to each passage; the lead has no section."""
    lead = Section(text="The moor is wet.")
    plants = Section(title="Plants: Mosses", text="Peat moss grows there. It holds water.")
    first, second = passages(document(lead, plants), max_words=20)
    assert (first.title, first.section, first.source_id, first.url) == (
        "Moor",
        "",
        "d1",
        "https://example.org/moor",
    )
    assert second.section == "Plants: Mosses"
    assert second.full_text == "Moor, Plants: Mosses. Peat moss grows there. It holds water."


def test_sections_never_mix_and_chunks_end_with_sentences() -> None:
    """Even two sections that would fit into one passage stay apart."""
    wood = Section(title="Wood", text=" ".join(f"Tree number {n} is an alder." for n in range(30)))
    lake = Section(title="Lake", text="It is deep.")
    found = list(passages(document(wood, lake), max_words=20))
    assert [passage.section for passage in found] == ["Wood"] * 10 + ["Lake"]
    assert all(passage.text.endswith("alder.") for passage in found[:-1])
    assert {passage.source_id for passage in found} == {"d1"}


def test_a_fragment_at_the_end_joins_the_passage_before() -> None:
    """A few words that end no sentence are no evidence of their own; no word is dropped."""
    full = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen."
    section = Section(text=f"{full} {full} {full} {full}\n\nsee the map")
    (only,) = passages(document(section), max_words=64)
    assert only.text.endswith("see the map")


@pytest.mark.parametrize("text", ["the the", "東京", "x", "Also a heading"])
def test_a_short_section_is_kept_as_it_is(text: str) -> None:
    """Short records of a corpus must be findable: only what follows other text is joined to it."""
    (only,) = passages(document(Section(text=text)), max_words=120)
    assert only.text == text


def test_a_long_paragraph_without_spaces_is_no_fragment() -> None:
    """In Chinese a whole paragraph is one word to `str.split`: the last chunk must stay a chunk."""
    section = Section(text="沼" * 200)
    assert [len(passage.text) for passage in passages(document(section), max_words=100)] == [100, 100]


@given(texts=st.lists(_TEXTS, max_size=4), max_words=st.integers(min_value=1, max_value=50))
def test_no_character_is_lost_or_doubled(texts: list[str], max_words: int) -> None:
    """All passages of a section together hold its text, white space aside."""
    sections = tuple(Section(title=f"s{n}", text=text) for n, text in enumerate(texts))
    found = list(passages(document(*sections), max_words=max_words))
    for section in sections:
        joined = "".join(passage.text for passage in found if passage.section == section.title)
        assert "".join(joined.split()) == "".join(section.text.split())
    order = [int(passage.section[1:]) for passage in found]
    assert all(left <= right for left, right in pairwise(order))


def test_max_words_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="max_words must be at least 1"):
        list(passages(document(Section(text="Some text.")), max_words=0))


def test_outline_makes_paths_of_headings() -> None:
    """A section is named by all headings above it; levels may be skipped; an empty heading leaves no section."""
    outline = Outline()
    outline.paragraph("Lead.")
    outline.heading(2, "Life")
    outline.heading(3, "Early  years")
    outline.paragraph("Born\nthere.")
    outline.paragraph(" ")
    outline.heading(2, "Works")
    outline.heading(5, "Odd")
    outline.paragraph("One.")
    outline.paragraph("Two.")
    assert [(section.title, section.text) for section in outline.sections()] == [
        ("", "Lead."),
        ("Life: Early years", "Born there."),
        ("Works: Odd", "One.\n\nTwo."),
    ]
