"""Text of strangers in a prompt, and quotes found again."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.llm.quotes import find_quote, shown

TEXT = "Orla Venn’s  house\nstood in Marrowby — until 1911. Ｆｕｌｌ width: ﬁne cafe\u0301."


@given(st.text())
def test_what_is_shown_is_one_line_without_markup_or_anything_hidden(text: str) -> None:
    """Whatever the text: it can be encoded, and it ends no tag."""
    line = shown(text)
    line.encode("utf-8")
    assert not set(line) & set("<>\n\r\t\u200b\u202e\x00\x1b\U000e0041")
    assert not any(unicodedata.category(sign) in {"Cc", "Cs"} for sign in line)
    assert shown(line) == line


@pytest.mark.parametrize(
    ("quote", "place"),
    [
        ("Orla Venn’s  house", "Orla Venn’s  house"),
        ("Orla Venn's house stood", "Orla Venn’s  house\nstood"),
        ("  Marrowby - until 1911. ", "Marrowby — until 1911."),
        ("Full width: fine café", "Ｆｕｌｌ width: ﬁne cafe\u0301"),
        ("hou\u200bse", "house"),
    ],
)
def test_a_quote_is_found_in_other_dress_and_placed_in_the_text_itself(quote: str, place: str) -> None:
    found = find_quote(quote, TEXT)
    assert found is not None
    assert TEXT[slice(*found)] == place


@pytest.mark.parametrize("quote", ["", " \n", "\u200b", "orla venn", "house stood in Dunmouth", "1911. Full  x"])
def test_what_does_not_stand_there_is_not_found(quote: str) -> None:
    assert find_quote(quote, TEXT) is None


WORDS = st.text(alphabet="abé Ｆﬁ\n’ー한국ᄒ\u0301\u200b", min_size=1, max_size=30)


@given(before=WORDS, middle=WORDS, after=WORDS)
def test_a_whole_shown_passage_can_be_quoted(before: str, middle: str, after: str) -> None:
    """What the model saw, quoted as it saw it, is found, and the place holds the quote."""
    text = before + middle + after
    seen = shown(text)
    found = find_quote(seen, text)
    assert (found is not None) == bool(seen)
    if found is not None:
        assert find_quote(seen, text[slice(*found)]) is not None


def test_markup_that_was_neutralised_is_found_again() -> None:
    """A quote of what was shown: `‹` stands for `<`."""
    assert find_quote("if a ‹ b ›", "It holds if a < b >.") == (9, 19)
