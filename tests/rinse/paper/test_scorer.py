"""The contracts of the paper's scorer on tiny random models: purity, sizes, invalid values, marks, files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from retrieval import EvidenceSet, Passage
from retrieval.backbones import Backbone, find_backbone
from rinse import ScoreError, Sufficiency, SufficiencyScorer
from rinse.paper import Lexicon, PaperBackbones, PaperProfile, PaperReaders, PaperScorer, raw_scores
from tests.rinse.paper.tiny_models import QUESTION, SETTINGS, TEXTS, TinyModels

Make = Callable[..., PaperScorer]


def _passage(number: int) -> Passage:
    """Passages 0 and 1 are chunks of one document."""
    return Passage(text=TEXTS[number], title="Castle" if number < 2 else "", source_id="doc" if number < 2 else "")


EVIDENCE = EvidenceSet.of(map(_passage, range(len(TEXTS))))


def _close(left: Sufficiency, right: Sufficiency) -> bool:
    return left.score == pytest.approx(right.score, abs=1e-4) and left.gaps == right.gaps


def test_it_serves_the_seam_and_sums_with_equal_weights(make_scorer: Make) -> None:
    """The score is the sum of three corrected values; raw ones stand beside them."""
    scorer = make_scorer()
    assert isinstance(scorer, SufficiencyScorer)
    made = scorer.score(QUESTION, EVIDENCE)
    assert [reader.reader for reader in made.readers] == ["content", "span", "latent"]
    assert made.score == pytest.approx(sum(reader.corrected for reader in made.readers))
    for reader in made.readers:
        correction = scorer.profile.corrections[reader.reader]
        assert reader.corrected == pytest.approx(correction.apply(reader.raw, len(EVIDENCE)))
    assert made.span is not None
    assert made.span.margin == made.readers[1].raw
    assert made.passages == len(TEXTS)


def test_raw_scores_are_products_with_what_was_fitted(readers: PaperReaders, profile: PaperProfile) -> None:
    outputs = readers.read(QUESTION, EVIDENCE)
    raw = raw_scores(outputs, replace(profile, head=np.eye(12)[7], direction=outputs.state))
    assert raw["content"] == outputs.features[7]
    assert raw["span"] == outputs.margin
    assert raw["latent"] == pytest.approx(1.0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=6)
@given(
    order=st.permutations(range(len(TEXTS))),
    cuts=st.sets(st.integers(0, len(TEXTS))),
    repeat=st.booleans(),
    batch_tokens=st.sampled_from([1, 100, 8192]),
)
def test_s10_any_order_in_any_batches_with_repeats_gives_the_score_from_scratch(
    make_scorer: Make, order: list[int], cuts: set[int], repeat: bool, batch_tokens: int
) -> None:
    """S10: arrival, increments, repeats and batch sizes move a score by less than 1e-4."""
    scratch = make_scorer().score(QUESTION, EVIDENCE)
    scorer, growing, last = make_scorer(batch_tokens=batch_tokens), EvidenceSet(), 0
    for cut in (*sorted(cuts), len(order)):
        growing = growing.add([_passage(number) for number in order[last:cut]] * (2 if repeat else 1))
        scorer.score(QUESTION, growing)
        last = cut
    assert _close(scorer.score(QUESTION, growing), scratch)


def test_s02_repeats_count_once_and_siblings_do_not_touch_a_passage(
    make_scorer: Make, readers: PaperReaders
) -> None:
    """S02: five identical passages score as one; a passage's own values do not depend on what is beside it."""
    one, five = [_passage(2)], [_passage(2)] * 5
    assert make_scorer().score(QUESTION, EvidenceSet.of(five)) == make_scorer().score(
        QUESTION, EvidenceSet.of(one)
    )
    alone = readers.read(QUESTION, EvidenceSet.of(one))
    beside = readers.read(QUESTION, EVIDENCE)
    assert beside.margin >= alone.margin
    assert (beside.features >= alone.features - 1e-5).all()


def _spoilt(backbone: Backbone, token: str, folder: Path) -> Backbone:
    """The same model with NaN as embedding of one token: what reads that word gives NaN."""
    shutil.copytree(backbone.folder, folder)
    row = Tokenizer.from_file(str(folder / "tokenizer.json")).token_to_id(token)
    weights = load_file(folder / "model.safetensors")
    name = next(key for key in weights if key.endswith(("word_embeddings.weight", "embed_tokens.weight")))
    weights[name][row] = np.nan
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return find_backbone(str(folder))


@pytest.mark.parametrize(("role", "token"), [("reranker", "▁ship"), ("span", "Ġship")])
def test_s04_a_passage_with_nan_is_masked_and_all_with_nan_are_an_error(
    backbones: PaperBackbones, lexicon: Lexicon, tmp_path: Path, role: str, token: str
) -> None:
    """S04: one passage is left out of every reader and of |E|, by name; nothing is decided on NaN alone."""
    spoilt = replace(backbones, **{role: _spoilt(getattr(backbones, role), token, tmp_path / role)})
    readers = PaperReaders(spoilt, lexicon, SETTINGS)
    bad = Passage(text="The captain found a ship.", source_id="doc")
    made = readers.read(QUESTION, EVIDENCE.add([bad]))
    ship = _passage(2)
    assert made.masked == tuple(sorted([bad.id, ship.id]))
    assert made.passages == len(TEXTS) - 1
    rest = readers.read(QUESTION, EvidenceSet.of([p for p in EVIDENCE if p.id != ship.id]))
    np.testing.assert_allclose(made.features, rest.features, atol=1e-5)
    assert made.margin == pytest.approx(rest.margin, abs=1e-5)
    assert rest.masked == ()
    with pytest.raises(ScoreError, match="any of 2 passages"):
        readers.read(QUESTION, EvidenceSet.of([bad, ship]))


def test_s04_a_language_model_with_nan_is_an_error(
    backbones: PaperBackbones, lexicon: Lexicon, tmp_path: Path
) -> None:
    """S04: one pass reads all passages, so no single one can be left out."""
    spoilt = replace(backbones, latent=_spoilt(backbones.latent, "Ġship", tmp_path / "latent"))
    with pytest.raises(ScoreError, match="state of length nan"):
        PaperReaders(spoilt, lexicon, SETTINGS).read(QUESTION, EvidenceSet.of([_passage(2)]))


def test_s06_a_long_passage_is_read_to_its_end_and_what_is_left_out_is_said(make_scorer: Make) -> None:
    """S06: windows reach the last sentence; the language model's cap is reported, a short passage is not."""
    answer = "The castle is by the river that the queen built."
    long = Passage(text="A ship was found by the team. " * 400 + answer)
    short = make_scorer().score(QUESTION, EvidenceSet.of([Passage(text=answer)]))
    made = make_scorer().score(QUESTION, EvidenceSet.of([long]))
    assert made.truncated
    assert not short.truncated
    assert {gap.text for gap in made.gaps} <= {gap.text for gap in short.gaps}


def test_no_evidence_is_valid_and_covers_nothing(make_scorer: Make, readers: PaperReaders) -> None:
    """Every word of the question is a gap, and content and span are below those of any text."""
    made = make_scorer().score(QUESTION, EvidenceSet())
    assert [gap.text for gap in made.gaps] == [QUESTION.rstrip("?")]
    assert (made.span, made.passages) == (None, 0)
    nothing, something = (
        readers.read(QUESTION, EvidenceSet()),
        readers.read(QUESTION, EvidenceSet.of([_passage(4)])),
    )
    assert (nothing.features <= something.features).all()
    assert nothing.margin < something.margin


@pytest.mark.parametrize("question", ["", "?", "语 语 语", "\ud800 the castle", "the " * 2000])
def test_odd_questions_and_passages_have_finite_scores(make_scorer: Make, question: str) -> None:
    odd = EvidenceSet.of(
        [Passage(text="\u200b\x00"), Passage(text="\udcff"), Passage(text="语" * 50), _passage(0)]
    )
    assert np.isfinite(make_scorer().score(question, odd).score)


def test_gaps_shrink_when_a_source_covers_them(make_scorer: Make, profile: PaperProfile) -> None:
    """Gaps are words of the question that no source holds."""
    question = "Which blue film was founded by the river?"
    before = make_scorer().score(question, EvidenceSet.of([_passage(3)]))
    after = make_scorer().score(question, EvidenceSet.of([_passage(3), Passage(text=question)]))
    assert after.gaps == ()
    assert "blue film" in before.gaps[0].text
    assert all(question[gap.start : gap.end] == gap.text for gap in before.gaps)


def test_another_device_gives_the_same_score(
    make_scorer: Make, backbones: PaperBackbones, lexicon: Lexicon, profile: PaperProfile
) -> None:
    """Float32 on a GPU: a threshold fitted here holds there."""
    import torch

    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    there = PaperScorer(PaperReaders(backbones, lexicon, SETTINGS, device="cuda"), profile)
    assert _close(there.score(QUESTION, EVIDENCE), make_scorer().score(QUESTION, EVIDENCE))


def test_a_saved_folder_with_its_span_reader_inside_loads_as_the_same_scorer(
    make_scorer: Make, profile: PaperProfile, tiny_models: TinyModels, tmp_path: Path
) -> None:
    """What `sufficit fit` leaves: the fitted span reader lies in the profile's folder, the others elsewhere."""
    shutil.copytree(tiny_models.span, tmp_path / "span-reader")
    entries = dict(profile.settings.backbones)
    names = {
        "words": str(tiny_models.words),
        "reranker": str(tiny_models.reranker),
        "latent": str(tiny_models.latent),
        "span": "span-reader",
    }
    moved = {role: entries[role].model_copy(update={"name": name}) for role, name in names.items()}
    replace(profile, settings=profile.settings.model_copy(update={"backbones": moved})).save(tmp_path)
    loaded = PaperScorer.load(tmp_path)
    assert loaded.score(QUESTION, EVIDENCE) == make_scorer().score(QUESTION, EVIDENCE)
    assert loaded.fingerprint == PaperScorer.load(tmp_path).fingerprint
