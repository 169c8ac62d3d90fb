"""The three readers on tiny random models: what the paper says of each, and what is remembered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from retrieval import EvidenceSet, Passage
from retrieval.errors import BackboneCorruptError
from rinse.paper import Lexicon, PaperBackbones, PaperReaders, ReaderSettings
from rinse.paper.content import ContentReader
from rinse.paper.forward import load_model
from rinse.paper.latent import LatentReader
from rinse.paper.pairs import PairWindow
from rinse.paper.reranker import CrossEncoder
from rinse.paper.sources import rejoin
from rinse.paper.span import SpanReader
from tests.rinse.paper.tiny_models import QUESTION, SETTINGS, TEXTS

PASSAGES = tuple(Passage(text=text) for text in TEXTS)


@pytest.fixture
def content(backbones: PaperBackbones, lexicon: Lexicon) -> ContentReader:
    return ContentReader(CrossEncoder(backbones.reranker, SETTINGS), lexicon, SETTINGS)


def test_fragments_of_different_sources_never_add_up(content: ContentReader) -> None:
    """Two halves of a window cover it only if they are chunks of one source, in whatever order they came."""
    halves = ("The river is red.", "It is by the castle.")
    apart = [Passage(text=text) for text in halves]
    joined = [Passage(text=text, source_id="doc") for text in halves]
    question = "river by castle by"
    assert content.read(question, apart).coverage.windows[0] < 0.9
    assert content.read(question, joined).coverage.windows == pytest.approx([1.0])
    assert rejoin(joined) == rejoin(joined[::-1])
    assert len(rejoin(apart)) == 2


def test_overlap_is_the_covered_share_of_the_windows_idf(content: ContentReader, lexicon: Lexicon) -> None:
    """Worked by hand for one window of four WordPieces."""
    reading = content.read("queen of the tower", [Passage(text="The queen moved. The song of the king.")])
    tokens = lexicon.words.read(["queen of the tower"])[0]
    queen, of, the, tower = lexicon.weights(tokens)
    expected = (queen + of + the) / (queen + of + the + tower)
    assert reading.coverage.windows == pytest.approx([expected])
    assert reading.features[: len(SETTINGS.quantiles)] == pytest.approx([expected] * len(SETTINGS.quantiles))


def test_an_unseen_token_weighs_most_and_an_unknown_sign_is_never_covered(lexicon: Lexicon) -> None:
    tokens = lexicon.words.read(["the green 語"])[0]
    the, green, _ = lexicon.weights(tokens)
    assert the < green == lexicon.idf.max()
    assert lexicon.occurs(tokens, tokens.ids).tolist() == [1.0, 1.0, 0.0]


def test_relevance_is_the_best_source_and_a_logit(content: ContentReader, backbones: PaperBackbones) -> None:
    """S01: logits, not probabilities; each window keeps its best source."""
    parts = content.parts(QUESTION)
    rows = CrossEncoder(backbones.reranker, SETTINGS).score(parts.texts, TEXTS)
    logits = np.array([[value.logit for value in row if value is not None] for row in rows])
    assert logits.shape == (len(TEXTS), len(parts.spans))
    assert logits.min() < 0
    expected = np.quantile(logits.max(axis=0), SETTINGS.quantiles)
    np.testing.assert_allclose(content.read(QUESTION, PASSAGES).features[6:], expected, atol=1e-5)


def test_s06_the_end_of_a_long_source_counts(content: ContentReader) -> None:
    """S06: a window of the question is found in the last sentence of a long source; nothing was left out."""
    filler = "A ship was found by the team. " * 150
    long = content.read("river by the castle", [Passage(text=filler + "The castle is by the river.")])
    assert long.coverage.windows == pytest.approx([1.0])
    assert not long.truncated


def test_the_latent_state_is_that_of_the_whole_model_at_the_layer(backbones: PaperBackbones) -> None:
    """Leaving out what lies above changes nothing: it is `hidden_states[layer]` of all, of length one."""
    import torch
    from transformers import AutoModelForCausalLM

    reader = LatentReader(backbones.latent, SETTINGS)
    prompt, truncated = reader._prompt(QUESTION, TEXTS[:2])
    whole = AutoModelForCausalLM.from_pretrained(backbones.latent.folder, dtype=torch.float32)
    with torch.inference_mode():
        states = whole(torch.tensor([prompt]), output_hidden_states=True).hidden_states[SETTINGS.layer]
    expected = states[0, -1].numpy()
    read = reader.read(QUESTION, PASSAGES[:2])
    np.testing.assert_allclose(read.state, expected / np.linalg.norm(expected), atol=1e-5)
    assert (truncated, read.truncated) == (False, False)
    assert reader.dims == len(expected)
    kept = load_model(backbones.latent, "states", "cpu", SETTINGS.layer)
    assert len(kept.layers) == SETTINGS.layer  # type: ignore[arg-type]


def test_a_layer_that_the_model_does_not_have_is_refused(backbones: PaperBackbones) -> None:
    with pytest.raises(BackboneCorruptError, match="has 4 layers"):
        LatentReader(backbones.latent, ReaderSettings(layer=17)).read(QUESTION, ())


def test_a_passage_too_long_for_the_language_model_is_cut_and_said(backbones: PaperBackbones) -> None:
    reader = LatentReader(backbones.latent, ReaderSettings(layer=2, document_tokens=16))
    long = Passage(text="The castle is by the river " * 9)
    assert reader.read(QUESTION, [long]).truncated
    assert not reader.read(QUESTION, [Passage(text="The castle.")]).truncated


@pytest.mark.parametrize("given_order", [False, True])
def test_the_language_model_reads_the_best_in_canonical_or_given_order(
    backbones: PaperBackbones, lexicon: Lexicon, given_order: bool
) -> None:
    """Top passages by the reranker; arrival order matters only where the settings keep it, as the paper does."""
    settings = ReaderSettings(layer=2, documents=3, given_order=given_order)
    states = [
        PaperReaders(backbones, lexicon, settings).read(QUESTION, EvidenceSet.of(passages)).state
        for passages in (PASSAGES, PASSAGES[::-1])
    ]
    assert np.array_equal(states[0], states[1]) is not given_order
    reader = CrossEncoder(backbones.reranker, settings)
    logits = [row[0].logit for row in reader.score([QUESTION], TEXTS) if row[0] is not None]
    best = [PASSAGES[i] for i in sorted(np.argsort(logits)[-3:])]
    if given_order:
        np.testing.assert_allclose(states[0], LatentReader(backbones.latent, settings).read(QUESTION, best).state)


def test_the_span_lies_in_the_text_and_not_in_the_heading(backbones: PaperBackbones) -> None:
    reader = SpanReader(backbones.span, SETTINGS)
    passage = Passage(text=TEXTS[1], title="The castle of the king", section="North")
    span = reader.read(QUESTION, [passage])[passage.id]
    assert span is not None
    assert span.text == TEXTS[1][span.start : span.end].strip() != ""


def test_a_longer_span_limit_never_lowers_the_margin(backbones: PaperBackbones) -> None:
    """The margin is a maximum over legal spans, so more legal spans cannot lower it."""
    margins = []
    for longest in (1, 5, 30):
        spans = SpanReader(backbones.span, ReaderSettings(answer_tokens=longest)).read(QUESTION, PASSAGES)
        margins.append([span.margin for span in spans.values() if span is not None])
    assert {len(row) for row in margins} == {len(PASSAGES)}
    assert (np.diff(np.array(margins), axis=0) >= -1e-6).all()


def test_a_turn_costs_only_what_is_new(readers: PaperReaders, monkeypatch: pytest.MonkeyPatch) -> None:
    """One new passage: one source for the windows, one passage for question and span. Nothing new: no pass."""
    from rinse.paper import forward

    passes: list[int] = []
    run = forward.PairModel.run

    def counted(self: forward.PairModel, windows: Sequence[PairWindow]) -> list[object]:
        passes.append(len(windows))
        return list(run(self, windows))

    monkeypatch.setattr(forward.PairModel, "run", counted)
    first = readers.reading(QUESTION, EvidenceSet.of(PASSAGES[:5]))
    windows = len(first.coverage.window_spans)
    assert sorted(passes) == sorted([5, 5, 5 * windows])
    passes.clear()
    readers.reading(QUESTION, EvidenceSet.of(PASSAGES))
    assert sorted(passes) == sorted([1, 1, windows])
    passes.clear()
    assert readers.reading(QUESTION, EvidenceSet.of(PASSAGES[4::-1])).outputs.margin == first.outputs.margin
    assert passes == []
