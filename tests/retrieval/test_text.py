"""Text is compared in one form, cut at sentences, and queries have an identity."""

from __future__ import annotations

import doctest
import unicodedata

import pytest
import regex
from hypothesis import assume, example, given
from hypothesis import strategies as st

from retrieval import text as text_module
from retrieval.text import normalise, query_key, sentences, terms, tokenise
from tests.retrieval.spans import assert_cover

PIECES = st.sampled_from(
    (
        *(
            "a",
            "B",
            "Dr",
            "U.S",
            "É",
            ".",
            "!",
            "?",
            "。",
            "！",
            "(",
            ")",
            '"',
            "“",
            "”",
            "'",
            " ",
            "  ",
            "\n",
            "\n\n",
        ),
        *(
            "\t",
            "\u2028",
            "\u00a0",
            "\u3000",
            "\x00",
            "\u200d",
            "\ud800",
            "e\u0301",
            "日",
            "本",
            "ก",
            "ำ",
            "한",
            "ا",
        ),
        *("🎵", "1", ","),
    )
)
TEXTS = st.text() | st.lists(PIECES, max_size=60).map("".join)


@given(TEXTS)
@example("℡\u00ad")
@example("\u0345\u0399")
@example("ﾃﾞ ﬁ İ ẞ")
def test_the_normal_form_is_reached_at_once(text: str) -> None:
    """Normalising twice changes nothing, and composed and decomposed text become one (case R04)."""
    normal = normalise(text)
    assert normalise(normal) == normal
    assert normalise(unicodedata.normalize("NFD", text)) == normal
    assert normalise(unicodedata.normalize("NFC", text)) == normal


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Cafe\u0301", "CAFÉ"),
        ("Ｔｏｋｙｏ　１９６４", "tokyo 1964"),
        ("ﾎﾟｹｯﾄ", "ポケット"),
        ("한국", unicodedata.normalize("NFD", "한국")),
        ("co\u200dop\u200berate", "cooperate"),
        ("\ufeffsoft\u00adware", "software"),
        ("STRASSE", "straße"),
        ("ﬁnal", "final"),
        (" a \n\t b\u00a0", "a b"),
    ],
)
def test_forms_that_look_alike_are_equal(left: str, right: str) -> None:
    """Case R04: decomposed, full-width, half-width, joined by nothing, folded."""
    assert normalise(left) == normalise(right)
    assert tokenise(left) == tokenise(right)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("  ?! … ", []),
        ("The lay-abbot of St. Maurice's", ["the", "lay", "abbot", "of", "st", "maurice"]),
        ("O’Brien didn't; the dogs' 1990's", ["obrien", "didnt", "the", "dogs", "1990"]),
        ("10,000 or 1,234,567 but 3.14 and 1,99", ["10000", "or", "1234567", "but", "3.14", "and", "1", "99"]),
        ("the U.S. and U.S.A., J.R.R. Tolkien, p.m.", ["the", "us", "and", "usa", "jrr", "tolkien", "pm"]),
        ("C++ is not C# is not C", ["c++", "is", "not", "c#", "is", "not", "c"]),
        ("Müller, Łódź, Ærø, Ångström", ["muller", "lodz", "aero", "angstrom"]),
        ("Пушкин и йод", ["пушкин", "и", "йод"]),
        ("مُحَمَّد ٣٥", ["محمد", "35"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("東京都", ["東京", "京都"]),
        ("水", ["水"]),
        ("ｶﾞﾗｽ", ["ガラ", "ラス"]),
        ("日本2020年", ["日本", "2020", "年"]),
        ("조선은", ["조선", "선은"]),
        ("ผู้ใด", ["ผู้ใ", "ใด"]),
        ("snake_case", ["snake", "case"]),
    ],
)
def test_words(text: str, tokens: list[str]) -> None:
    """What counts as a word, script by script (case R03)."""
    assert tokenise(text) == tokens


@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_way_for_ascii_finds_the_same_words(text: str) -> None:
    """ASCII text takes a faster pattern, which must agree with the one for all scripts."""
    folded = normalise(text)
    assert text_module._ASCII_WORD.findall(folded) == text_module._WORD.findall(folded)


@given(TEXTS)
def test_words_are_never_blank_and_do_not_depend_on_composition(text: str) -> None:
    tokens = tokenise(text)
    assert all(tokens)
    assert all(not regex.search(r"\s", token) for token in tokens)
    assert tokenise(unicodedata.normalize("NFD", text)) == tokens
    assert len(terms(text)) == len(tokens)


def test_terms_join_the_forms_of_an_english_word() -> None:
    assert terms("directed directing directs") == ["direct"] * 3
    assert terms("東京 1999") == ["東京", "1999"]


@pytest.mark.parametrize(
    "variant",
    [
        *("X Men", " x  men ", "X Men?", "x men (again)", "X men, again", "please x men", "Also: X-Men!"),
        *("Ｘ ｍｅｎ", "more x men", "x men (more, please)", "X Men, once more", "x men too"),
    ],
)
def test_a_query_in_other_dress_is_the_same_query(variant: str) -> None:
    """Case L04: the repeat must be recognised."""
    assert query_key(variant) == query_key("X Men")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Mercury (planet)", "Mercury (element)"),
        ("Who acquired X?", "Who did X acquire?"),
        ("capital of Austria", "capital of Australia"),
        ("Thomas More", "Thomas"),
        ("Never Let Me Go Again Now", "Never Let Me Go Now Again What"),
        ("C++", "C#"),
        ("again", "please"),
        ("🎵", "🎹"),
        ("1990", "1991"),
        ("日本", "日本語"),
    ],
)
def test_other_queries_have_other_keys(left: str, right: str) -> None:
    """Case L04, the other way: a query that asks for something else must not be suppressed."""
    assert query_key(left) != query_key(right)


@pytest.mark.parametrize("query", ["again", "Please!", "(more)", "(again) (again)", "and then"])
def test_a_query_of_filler_words_keeps_a_key(query: str) -> None:
    assert query_key(query)


@given(TEXTS)
def test_keys_are_stable(text: str) -> None:
    """A key is empty only for a query in which there is nothing to see, and dressing up does not change it."""
    key = query_key(text)
    assert bool(key) == bool(normalise(text))
    assume(tokenise(text))
    assert query_key(f"  {text}  ") == key


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Noe went to the U.S. Senate. He left!", ["Dr. Noe went to the U.S. Senate.", "He left!"]),
        ("It is by J. R. R. Tolkien. Who else?", ["It is by J. R. R. Tolkien.", "Who else?"]),
        ("А. С. Пушкин писал. Да.", ["А. С. Пушкин писал.", "Да."]),
        ("一つ目です。二つ目！三つ目？", ["一つ目です。", "二つ目！", "三つ目？"]),
        ("No stop here\n\nNext paragraph", ["No stop here", "Next paragraph"]),
        ("Plan Ä.\n\nThen rest.", ["Plan Ä.", "Then rest."]),
        ("by L. A.\u2028Smith\u00a0Jr. today.", ["by L. A.\u2028Smith\u00a0Jr. today."]),
        (" \n ", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    """Abbreviations, initials, scripts without spaces, paragraphs, white space of several bytes."""
    assert [text[begin:end] for begin, end in sentences(text)] == expected


@given(TEXTS)
def test_sentences_cover_the_text(text: str) -> None:
    """Each visible character lies in exactly one span, and spans neither begin nor end with white space."""
    assert_cover(text, sentences(text))


def test_a_text_of_many_windows_is_split_as_a_short_one() -> None:
    """Long texts are split window by window: no sentence may be cut at a window's edge."""
    sentence = "The ferry of Lake Orta was built by Dr. A. Rossi in 1921."
    text = " ".join([sentence] * 1_000)
    assert {text[begin:end] for begin, end in sentences(text)} == {sentence}
    assert_cover("日本。" * 9_000, spans := sentences("日本。" * 9_000))
    assert len(spans) == 9_000
    assert len(sentences("x" * 50_000)) >= 1


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(text_module).failed == 0
