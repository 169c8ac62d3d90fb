"""Texts are cut at the ends of sentences, with or without overlap, and nothing is lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retrieval import text as text_module
from retrieval.text import chunk_spans
from tests.retrieval.spans import assert_cover

TEXTS = st.lists(
    st.sampled_from(
        ["a", "Dr. Noe", "word", "3.5", "東京都。", "x" * 90, ".", "? ", "! ", " ", " ", "\n\n", "\x1f", "é"]
    ),
    max_size=40,
).map("".join)


@given(TEXTS, st.integers(1, 12))
@example("0\x1f一", 1)
def test_chunks_cover_the_text_and_keep_to_their_size(text: str, max_words: int) -> None:
    spans = chunk_spans(text, max_words)
    assert_cover(text, spans)
    assert all(_size(text[begin:end]) <= max_words for begin, end in spans)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=20), st.integers(9, 30))
def test_chunks_end_with_sentences_and_are_filled(lengths: list[int], max_words: int) -> None:
    """Sentences that fit stay whole, and a chunk takes as many as have room."""
    text = " ".join(" ".join(["Word"] * length) + "." for length in lengths)
    chunks = [text[begin:end] for begin, end in chunk_spans(text, max_words)]
    assert all(chunk.endswith(".") for chunk in chunks)
    sizes = [len(chunk.split()) for chunk in chunks]
    firsts = [len(chunk.split(".")[0].split()) for chunk in chunks]
    assert all(size + following > max_words for size, following in zip(sizes, firsts[1:], strict=False))


@given(TEXTS, st.integers(1, 12), st.integers(1, 3))
def test_overlapping_chunks_are_the_whole_text_and_keep_to_their_size(
    text: str, max_words: int, overlap: int
) -> None:
    """Each chunk adds text, repeats only the end of the one before, and at most a quarter of a chunk."""
    spans = chunk_spans(text, max_words, overlap)
    assert all(_size(text[begin:end]) <= max_words for begin, end in spans)
    fresh = [(max(begin, end), last) for (_, end), (begin, last) in pairwise([(0, 0), *spans])]
    assert_cover(text, [(end - len(text[begin:end].lstrip()), end) for begin, end in fresh])
    for (begin, end), (following, _) in pairwise(spans):
        assert begin < following
        assert _size(text[following:end]) <= max_words // 4


def test_a_chunk_begins_with_the_last_sentence_of_the_one_before() -> None:
    """A sentence is read with what follows it; one that is too long is not repeated."""
    text = "It is old. A ferry goes there. It is blue and white, it carries eight cars each day. It is new."
    assert [text[begin:end] for begin, end in chunk_spans(text, 16, 1)] == [
        "It is old. A ferry goes there.",
        "A ferry goes there. It is blue and white, it carries eight cars each day.",
        "It is new.",
    ]
    assert [text[begin:end] for begin, end in chunk_spans(text, 16)] == [
        "It is old. A ferry goes there.",
        "It is blue and white, it carries eight cars each day. It is new.",
    ]


def test_a_long_sentence_is_cut_at_white_space() -> None:
    text = "one two three four five six seven eight nine ten."
    assert [text[begin:end] for begin, end in chunk_spans(text, 4)] == [
        "one two three four",
        "five six seven eight",
        "nine ten.",
    ]


def test_text_without_spaces_is_cut_by_characters() -> None:
    """A character counts as a word where the script has no spaces; 40 characters do in any other run."""
    assert chunk_spans("日本語の長い文章", 3) == [(0, 3), (3, 6), (6, 8)]
    assert chunk_spans("x" * 100, 1) == [(0, 40), (40, 80), (80, 100)]


def test_chunks_need_room() -> None:
    with pytest.raises(ValueError, match="at least 1, it is 0"):
        chunk_spans("text", 0)
    with pytest.raises(ValueError, match="at least 0, it is -1"):
        chunk_spans("text", 5, -1)


def _size(chunk: str) -> int:
    return len(text_module._UNIT.findall(chunk))
