"""The identity of a passage is its content."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval import Passage, Provenance
from retrieval.passage import passage_id

TEXTS = st.text(max_size=60)


@given(TEXTS)
def test_identity_survives_normal_forms_and_white_space(text: str) -> None:
    """R04: NFD, NFC and other white space do not make another passage."""
    assert passage_id(unicodedata.normalize("NFD", text)) == passage_id(text)
    assert passage_id(unicodedata.normalize("NFC", text)) == passage_id(text)
    assert passage_id(f"\n {text}\t") == passage_id(text)


def test_full_width_is_the_same_text() -> None:
    """R04: full-width forms against ASCII."""
    assert passage_id("Ｒｉｖｅｒ　１２") == passage_id("River 12")


def test_case_and_words_make_another_text() -> None:
    assert len({passage_id(text) for text in ("river", "River", "rivers", "")}) == 4


@given(TEXTS)
def test_identity_is_the_hash_of_the_folded_text(text: str) -> None:
    """The id is 64 hex digits and no text, however odd, fails."""
    assert len(passage_id(text)) == 64
    assert int(passage_id(text), 16) >= 0


def test_lone_surrogates_have_an_identity() -> None:
    assert len(passage_id("\ud800")) == 64


def test_same_title_other_text_are_two_passages() -> None:
    """R10: identity is the content, never the title."""
    assert Passage(text="One.", title="T").id != Passage(text="Two.", title="T").id
    assert Passage(text="One.", title="T").id == Passage(text="One.", title="Other").id


def test_source_falls_back_to_url_then_to_identity() -> None:
    assert Passage(text="x", url="https://example.org/x").source_id == "https://example.org/x"
    bare = Passage(text="x")
    assert bare.source_id == bare.id


def test_full_text_holds_heading_and_text() -> None:
    assert Passage(text="Text.", title="Title", section="Part").full_text == "Title, Part. Text."
    assert Passage(text="Text.").full_text == "Text."


def test_merging_keeps_every_place_once() -> None:
    a = Passage(text="Same  text", title="A", source_id="a")
    b = Passage(text="Same text", title="B", source_id="b", also=(Provenance(source_id="c"),))
    merged = a.merged_with(b).merged_with(b).merged_with(a)
    assert [place.source_id for place in merged.provenance] == ["a", "b", "c"]
    assert merged.text == "Same  text"
    assert merged.id == a.id


def test_merging_with_itself_changes_nothing() -> None:
    a = Passage(text="x", source_id="a")
    assert a.merged_with(a) is a


def test_other_texts_are_never_merged() -> None:
    with pytest.raises(ValueError, match="one text"):
        Passage(text="x").merged_with(Passage(text="y"))
