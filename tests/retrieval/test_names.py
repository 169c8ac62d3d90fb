"""Names and words are found in any text; what they say is where they stand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval import Passage
from retrieval.names import find_names, name_key, topic, without_aside
from retrieval.words import content_words, stems, words


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("She left the University of Ulm for New York.", ["University of Ulm", "New York"]),
        ("In Tamworth the river bends.", ["Tamworth"]),
        ("Founded in 1920, it grew.", []),
        ("Velmora is a river. It feeds Lake Orn.", ["Velmora", "Lake Orn"]),
        ("The painter moved to Velmora. Velmora grew.", ["Velmora", "Velmora"]),
        ("They flew on Apollo 11 and watched the 1968 Summer Games.", ["Apollo 11", "1968 Summer Games"]),
        ("He met J. R. Harte and Dr. Ilse von der Aue.", ["J. R. Harte", "Dr. Ilse von der Aue"]),
        ("The Pilots' Guild of Mara's brother met.", ["Pilots' Guild of Mara"]),
        ("It opened on 3 May 1920 and on Monday.", []),
        ('He wrote "The glass Orchard" for radio.', ["The glass Orchard"]),
        ("the cat sat on the mat", []),
        ("東京都は日本の首都である。", []),
        ("", []),
    ],
)
def test_names_are_runs_of_capitals_without_sentence_starts_and_dates(text: str, names: list[str]) -> None:
    assert [name.text for name in find_names(text)] == names


_SIGNS = st.sampled_from(
    ['"', "“", "”", "«", "»", "(", ")", " ", ". ", "Ab", "Orn", "of", "The", "1920", "'s", "x"]
)


@given(st.lists(_SIGNS, max_size=60).map("".join))
def test_a_quoted_title_is_one_name(text: str) -> None:
    """No name stands inside another one, and they come in order, however quotation marks are strewn."""
    found = find_names(text)
    assert all(left.end <= right.start or left.start < right.start for left, right in pairwise(found))
    assert not any(
        one is not other and one.start <= other.start and other.end <= one.end for one in found for other in found
    )


def test_thousands_of_titles_and_brackets_are_read_once() -> None:
    """Each name is compared with the one title that may hold it; brackets that never close are no aside."""
    assert [name.text for name in find_names('"Ab" ' * 4_000)] == ["Ab"] * 4_000
    assert without_aside("Orn (a) " + "(" * 20_000) == "Orn " + "(" * 20_000
    assert without_aside(" " * 20_000 + "(") == "("


@pytest.mark.parametrize(
    ("title", "bare"),
    [
        ("Mercury (planet)", "Mercury"),
        ("(Untitled)", "(Untitled)"),
        ("Orn (a) and (b)", "Orn and"),
        ("Orn ((a) b)", "Orn b)"),
        ("Orn (", "Orn ("),
        ("  ", ""),
    ],
)
def test_brackets_of_a_title_are_asides(title: str, bare: str) -> None:
    assert without_aside(title) == bare


@given(st.text(max_size=300))
def test_a_name_is_the_text_at_its_place(text: str) -> None:
    for name in find_names(text):
        assert text[name.start : name.end] == name.text
        assert name.key


@given(st.text(max_size=300))
def test_words_are_the_text_at_their_place_and_do_not_overlap(text: str) -> None:
    end = 0
    for word in words(text):
        assert text[word.start : word.end] == word.text
        assert word.start >= end
        end = word.end


def test_content_words_leave_structure_out() -> None:
    assert [word.text for word in content_words("Who was the founder of the abbey?")] == ["founder", "abbey"]


def test_forms_of_one_word_meet() -> None:
    assert stems("directed by a director") >= stems("directors")
    assert stems("died") == stems("death")


def test_a_passage_without_title_is_about_the_first_name_in_it() -> None:
    assert topic(Passage(text="In 1901 Ilse Aue built a bridge.")) == "ilse aue"
    assert topic(Passage(text="A bridge.", title="Orn (river)")) == "orn"
    assert topic(Passage(text="no names here")) == ""


def test_keys_ignore_case_accents_and_a_leading_article() -> None:
    assert name_key("The Café Órn") == name_key("cafe orn")
