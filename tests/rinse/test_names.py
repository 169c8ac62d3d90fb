"""Names are found as people write them, and a question writes them the same way."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rinse.readers.names import names, words

TEXT = st.text(alphabet="AbÉñß1_'’ .-?中Ωİ", max_size=40)


def found(text: str, *starts: int) -> list[str]:
    return [name for name, _, _ in names(text, frozenset(starts))]


def test_capitals_and_numbers_are_names_and_a_sentence_s_first_word_is_not() -> None:
    """It is capital for another reason; the same word elsewhere is a name."""
    text = "Later Tamsin Orrel met Later in 1871."
    assert found(text, 0) == ["tamsin", "orrel", "later", "1871"]
    assert found(text) == ["later", "tamsin", "orrel", "later", "1871"]


@pytest.mark.parametrize(
    "spelling", ["Orrel", "Orrel's", "Orrel’s", "ORREL'S", "Orrel'", "'Orrel'", "_Orrel_", "Orrel's'"]
)
def test_possessives_quotes_and_emphasis_are_no_part_of_a_name(spelling: str) -> None:
    """Two passages that dress one name differently still share it."""
    assert found(f"of {spelling} they") == ["orrel"]
    assert "orrel" in words(f"of {spelling} they")


@pytest.mark.parametrize("text", ["", "who", "A", "'", "the 7 of I", "東京の川", "ما هو"])
def test_texts_without_a_name(text: str) -> None:
    """One sign is no name; scripts without capitals have numbers only."""
    assert found(text) == []


def test_scripts_without_capitals_have_numbers() -> None:
    """As the rule says."""
    assert found("建于 1871 年") == ["1871"]


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_a_question_in_any_unicode_form_writes_names_as_passages_do(form: str) -> None:
    """R04: passages are read in NFKC; a decomposed or full-width question must still know its own names."""
    question = unicodedata.normalize(form, "Who married Zoë of Ｏｒｒｅｌ?")  # type: ignore[arg-type]
    assert {"zoë", "orrel"} <= words(question)


@given(TEXT, st.sets(st.integers(0, 40)))
def test_names_are_spans_of_the_text_in_order(text: str, starts: set[int]) -> None:
    """What the weight of a name is computed from."""
    last = 0
    for name, begin, end in names(text, frozenset(starts)):
        assert begin >= last
        assert begin not in starts
        assert end - begin > 1
        assert text[begin:end].lower() == name
        assert name[-1] not in "'’_"
        last = end


@given(TEXT)
def test_every_name_of_a_text_is_one_of_its_words(text: str) -> None:
    """So that a question's own names link nothing."""
    plain = unicodedata.normalize("NFKC", text)
    assert set(found(plain)) <= words(plain)
