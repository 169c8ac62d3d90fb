"""Pairs of texts as a model reads them, against the libraries' own results."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from retrieval.backbones import Backbone
from retrieval.errors import BackboneCorruptError
from rinse.paper import PaperBackbones
from rinse.paper.forward import PairModel
from rinse.paper.pairs import MAX_WINDOWS, PairTokenizer, PairWindow, PlainTokenizer
from rinse.paper.span import legal_span

FIRST = "Where is the old tower?"
SECOND = "The tower is on the island. The queen built it."


@pytest.mark.parametrize("role", ["reranker", "span"])
def test_a_short_pair_is_what_the_tokenizer_itself_makes_of_it(backbones: PaperBackbones, role: str) -> None:
    backbone: Backbone = getattr(backbones, role)
    expected = Tokenizer.from_file(str(backbone.folder / "tokenizer.json")).encode(FIRST, SECOND)
    tokenizer = PairTokenizer(backbone, max_tokens=128, overlap=16)
    pair = tokenizer.join(*tokenizer.read([FIRST, SECOND]))
    assert [window.ids for window in pair.windows] == [tuple(expected.ids)]
    assert pair.windows[0].types == tuple(expected.type_ids)
    assert not pair.truncated


@given(words=st.integers(0, 400), overlap=st.integers(0, 16))
def test_s06_every_token_of_a_long_text_stands_in_a_window_and_neighbours_share_the_overlap(
    backbones: PaperBackbones, words: int, overlap: int
) -> None:
    """S06: nothing is lost between windows, and none is longer than the model reads."""
    tokenizer = PairTokenizer(backbones.span, max_tokens=64, overlap=overlap)
    first, second = tokenizer.read([FIRST, "castle river " * words])
    pair = tokenizer.join(first, second)
    assert all(len(window.ids) <= 64 for window in pair.windows)
    assert set().union(*(window.spans for window in pair.windows)) == set(second.spans)
    for left, right in zip(pair.windows, pair.windows[1:], strict=False):
        assert len(set(left.spans) & set(right.spans)) == overlap
    assert not pair.truncated


def test_s06_a_text_of_more_windows_than_are_read_says_so(backbones: PaperBackbones) -> None:
    """S06: truncation is never silent, neither of the second text nor of the first."""
    tokenizer = PairTokenizer(backbones.span, max_tokens=32, overlap=8)
    first, long, short = tokenizer.read([FIRST, "castle " * 20 * MAX_WINDOWS, SECOND])
    assert len(tokenizer.join(first, long).windows) == MAX_WINDOWS
    assert tokenizer.join(first, long).truncated
    assert tokenizer.join(long, short).truncated


@pytest.mark.parametrize("role", ["words", "reranker", "span", "latent"])
def test_marks_of_the_model_in_a_text_are_text(backbones: PaperBackbones, role: str) -> None:
    """A page that says `</s>` or `<|im_end|>` must not end what the model reads; places stay as they are."""
    backbone: Backbone = getattr(backbones, role)
    added = Tokenizer.from_file(str(backbone.folder / "tokenizer.json")).get_added_tokens_decoder()
    unknown = {"[UNK]", "<unk>"}
    text = "river" + "".join(token.content for token in added.values()) + "tower"
    tokens = PlainTokenizer(backbone).read([text])[0]
    assert not set(tokens.ids) & {number for number, token in added.items() if token.content not in unknown}
    assert tokens.spans[-1][1] == len(text)


def test_an_answer_depends_on_its_batch_by_rounding_only(backbones: PaperBackbones) -> None:
    """Padding is masked: alone, among shorter and among longer ones, a pair gets the same logits."""
    tokenizer = PairTokenizer(backbones.span, max_tokens=384, overlap=128)
    first, *texts = tokenizer.read([FIRST, *("castle river " * n for n in (1, 5, 40, 90))])
    windows = [window for text in texts for window in tokenizer.join(first, text).windows]
    together = PairModel(backbones.span, "span", batch_tokens=10**6).run(windows)
    alone = PairModel(backbones.span, "span", batch_tokens=1).run(windows)
    for left, right in zip(together, alone, strict=True):
        np.testing.assert_allclose(left, right, atol=1e-5)


@given(data=st.data(), tokens=st.integers(1, 12), longest=st.integers(1, 5), offset=st.integers(0, 12))
def test_the_best_legal_span_is_that_of_trying_all(
    data: st.DataObject, tokens: int, longest: int, offset: int
) -> None:
    """Start before end, no longer than allowed, inside the text; CLS, question and heading are no answers."""
    numbers = st.integers(-50, 50).map(float)
    rows = data.draw(st.lists(st.tuples(numbers, numbers), min_size=tokens + 5, max_size=tokens + 5))
    logits = np.array(rows, dtype=np.float32)
    window = PairWindow(ids=(0,) * (tokens + 5), types=(), begin=4, spans=tuple((i, i + 1) for i in range(tokens)))
    margins = [
        logits[4 + start, 0] + logits[4 + end, 1] - logits[0].sum()
        for start in range(offset, tokens)
        for end in range(start, min(start + longest, tokens))
    ]
    found = legal_span(logits, window, offset=offset, longest=longest)
    assert (found is None) == (not margins)
    if found is not None:
        margin, first, last = found
        assert margin == max(margins)
        assert offset <= first <= last < min(first + longest, tokens)


def test_a_model_that_cannot_do_it_is_refused(backbones: PaperBackbones) -> None:
    """A reader whose head was never trained would answer at random; a classifier is no reranker."""
    tokenizer = PairTokenizer(backbones.span, max_tokens=64, overlap=8)
    windows = tokenizer.join(*tokenizer.read([FIRST, SECOND])).windows
    with pytest.raises(BackboneCorruptError, match="sufficit fit"):
        PairModel(backbones.reranker, "span").run(windows)
    long = PairTokenizer(backbones.span, max_tokens=600, overlap=8)
    with pytest.raises(BackboneCorruptError, match="reads at most 512 tokens"):
        PairModel(backbones.span, "span").run(long.join(*long.read([FIRST, SECOND * 99])).windows)
    with pytest.raises(BackboneCorruptError, match="2 values a pair"):
        PairModel(backbones.span, "relevance").run(windows)
