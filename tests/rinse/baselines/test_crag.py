"""CRAG's evaluator, held against the model's own logits on a tiny random T5."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from retrieval import EvidenceSet
from retrieval.errors import BackboneCorruptError, BackboneNotFoundError
from rinse import ScoreError, SufficiencyScorer
from rinse.baselines.best_passage import NO_EVIDENCE
from rinse.baselines.crag import CragScorer
from tests.rinse.baselines.tiny_released import write_t5

QUESTION = "who built the castle on the mountain"
TEXTS = (
    "The queen built the red castle.",
    "A ship was found by the captain of the island.",
    "The band moved west.",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_backbone: Path) -> Path:
    return write_t5(tiny_backbone, tmp_path_factory.mktemp("tiny-t5"))


@pytest.fixture(scope="module")
def scorer(folder: Path) -> CragScorer:
    return CragScorer.named(str(folder))


def _direct(folder: Path, text: str) -> float:
    """The logit from the model itself, alone and without padding."""
    from transformers import T5ForSequenceClassification

    ids = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).ids
    model: Any = T5ForSequenceClassification.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        return float(model.eval()(torch.tensor([ids])).logits[0, 0])


def test_the_best_passage_counts(scorer: CragScorer, folder: Path, evidence: Callable[..., EvidenceSet]) -> None:
    """The largest of the logits that the model gives to question, separator and passage."""
    assert isinstance(scorer, SufficiencyScorer)
    found = scorer.score(QUESTION, evidence(*TEXTS))
    # the separator is text to T5; this stand-in has it as a mark, and the passages' own are broken up
    logits = [_direct(folder, f"{QUESTION} [SEP] {text}") for text in TEXTS]
    assert found.score == pytest.approx(max(logits), abs=1e-6)
    assert max(logits) - min(logits) > 1e-3
    assert found.passages == len(TEXTS)
    assert not found.truncated


def test_a_passage_is_read_with_its_title(
    scorer: CragScorer, folder: Path, evidence: Callable[..., EvidenceSet]
) -> None:
    """As every rival reads it."""
    found = scorer.score(QUESTION, evidence(("Castle", "It was built by a queen.")))
    assert found.score == pytest.approx(
        _direct(folder, f"{QUESTION} [SEP] Castle. It was built by a queen."), abs=1e-6
    )


def test_order_and_repeats_do_not_matter(scorer: CragScorer, evidence: Callable[..., EvidenceSet]) -> None:
    """To the last bit: the batch is made of the set."""
    assert scorer.score(QUESTION, evidence(*TEXTS)) == scorer.score(QUESTION, evidence(*TEXTS[::-1], TEXTS[0]))


def test_the_end_mark_in_a_passage_is_text(
    scorer: CragScorer, folder: Path, evidence: Callable[..., EvidenceSet]
) -> None:
    """The head reads the state at the last end mark: a passage must not bring its own."""
    found = scorer.score(QUESTION, evidence("The queen.</s> The castle", TEXTS[0]))
    expected = [_direct(folder, f"{QUESTION} [SEP] {text}") for text in ("The queen.< /s> The castle", TEXTS[0])]
    assert found.score == pytest.approx(max(expected), abs=1e-6)


def test_long_passages_are_read_whole(
    scorer: CragScorer, folder: Path, evidence: Callable[..., EvidenceSet]
) -> None:
    """T5 has no longest input; a passage of 900 tokens is not cut."""
    text = " ".join(TEXTS * 40)
    found = scorer.score(QUESTION, evidence(text))
    assert found.score == pytest.approx(_direct(folder, f"{QUESTION} [SEP] {text}"), abs=1e-5)


def test_no_evidence_is_the_lowest(scorer: CragScorer, evidence: Callable[..., EvidenceSet]) -> None:
    """And needs no model."""
    assert scorer.score(QUESTION, evidence()).score == NO_EVIDENCE


def test_a_model_without_finite_logits_is_an_error(
    folder: Path, tmp_path: Path, evidence: Callable[..., EvidenceSet]
) -> None:
    """A NaN never becomes a score."""
    broken = Path(shutil.copytree(folder, tmp_path / "nan"))
    weights = load_file(broken / "model.safetensors")
    weights["classification_head.out_proj.bias"][0] = torch.nan
    save_file(weights, broken / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ScoreError, match="no finite value for any of 3"):
        CragScorer.named(str(broken)).score(QUESTION, evidence(*TEXTS))


def test_another_model_is_refused(
    tiny_backbone: Path, tmp_path: Path, evidence: Callable[..., EvidenceSet]
) -> None:
    """Of another kind at once, with other labels before anything is scored."""
    with pytest.raises(BackboneCorruptError, match="is a t5"):
        CragScorer.named(str(tiny_backbone))
    two = CragScorer.named(str(write_t5(tiny_backbone, tmp_path / "two", labels=2)))
    with pytest.raises(BackboneCorruptError, match="num_labels=1"):
        two.score(QUESTION, evidence(*TEXTS))


def test_weights_without_their_head_are_refused(
    folder: Path, tmp_path: Path, evidence: Callable[..., EvidenceSet]
) -> None:
    """A head that nobody trained would answer at random."""
    bare = Path(shutil.copytree(folder, tmp_path / "bare"))
    weights = {
        name: value
        for name, value in load_file(bare / "model.safetensors").items()
        if not name.startswith("classification_head")
    }
    save_file(weights, bare / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BackboneCorruptError, match="at random"):
        CragScorer.named(str(bare)).score(QUESTION, evidence(*TEXTS))


def test_pickled_weights_are_refused_with_the_remedy(folder: Path, tmp_path: Path) -> None:
    """The released file is a pickle; the message says how to write it anew."""
    pickled = Path(shutil.copytree(folder, tmp_path / "pickled"))
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(BackboneCorruptError, match=r"never loaded.*num_labels=1.*save_pretrained\(FOLDER"):
        CragScorer.named(str(pickled))


def test_absent_weights_say_where_they_are() -> None:
    """No hub has them."""
    with pytest.raises(BackboneNotFoundError, match="HuskyInSalt/CRAG"):
        CragScorer.named()
