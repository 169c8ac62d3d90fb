"""CRAG's evaluator, held against the model's own logits on a tiny random T5."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer

from retrieval import EvidenceSet
from retrieval.errors import BackboneCorruptError, BackboneNotFoundError
from rinse.baselines.crag import CragScorer
from tests.rinse.baselines.tiny_released import TEXTS, Array, with_tensors, write_t5

QUESTION = "who built the castle on the mountain"


@pytest.fixture(scope="module")
def scorer(t5_folder: Path) -> CragScorer:
    return CragScorer.named(str(t5_folder))


def _direct(folder: Path, text: str) -> float:
    """The logit from the model itself, alone and without padding."""
    from transformers import T5ForSequenceClassification

    ids = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).ids
    model: Any = T5ForSequenceClassification.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        return float(model.eval()(torch.tensor([ids])).logits[0, 0])


def test_the_best_passage_counts(
    scorer: CragScorer, t5_folder: Path, evidence: Callable[..., EvidenceSet]
) -> None:
    """The largest of the logits that the model gives to question, separator and passage."""
    found = scorer.score(QUESTION, evidence(*TEXTS))
    # the separator is text to T5; this stand-in has it as a mark, and the passages' own are broken up
    logits = [_direct(t5_folder, f"{QUESTION} [SEP] {text}") for text in TEXTS]
    assert found.score == pytest.approx(max(logits), abs=1e-6)
    assert max(logits) - min(logits) > 1e-3
    assert found.passages == len(TEXTS)
    assert not found.truncated


def test_a_passage_is_read_with_its_title(
    scorer: CragScorer, t5_folder: Path, evidence: Callable[..., EvidenceSet]
) -> None:
    """As every rival reads it."""
    found = scorer.score(QUESTION, evidence(("Castle", "It was built by a queen.")))
    assert found.score == pytest.approx(
        _direct(t5_folder, f"{QUESTION} [SEP] Castle. It was built by a queen."), abs=1e-6
    )


def test_the_end_mark_in_a_passage_is_text(
    scorer: CragScorer, t5_folder: Path, evidence: Callable[..., EvidenceSet]
) -> None:
    """The head reads the state at the last end mark: a passage must not bring its own."""
    found = scorer.score(QUESTION, evidence("The queen.</s> The castle", TEXTS[0]))
    expected = [
        _direct(t5_folder, f"{QUESTION} [SEP] {text}") for text in ("The queen.< /s> The castle", TEXTS[0])
    ]
    assert found.score == pytest.approx(max(expected), abs=1e-6)


def test_long_passages_are_read_whole(
    scorer: CragScorer, t5_folder: Path, evidence: Callable[..., EvidenceSet]
) -> None:
    """T5 has no longest input; a passage of 900 tokens is not cut."""
    text = " ".join(TEXTS * 40)
    found = scorer.score(QUESTION, evidence(text))
    assert found.score == pytest.approx(_direct(t5_folder, f"{QUESTION} [SEP] {text}"), abs=1e-5)


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
    t5_folder: Path, tmp_path: Path, evidence: Callable[..., EvidenceSet]
) -> None:
    """A head that nobody trained would answer at random."""

    def headless(weights: dict[str, Array]) -> dict[str, Array]:
        return {name: value for name, value in weights.items() if not name.startswith("classification_head")}

    bare = with_tensors(t5_folder, tmp_path / "bare", headless)
    with pytest.raises(BackboneCorruptError, match="at random"):
        CragScorer.named(str(bare)).score(QUESTION, evidence(*TEXTS))


def test_pickled_weights_are_refused_with_the_remedy(t5_folder: Path, tmp_path: Path) -> None:
    """The released file is a pickle; the message says how to write it anew."""
    pickled = Path(shutil.copytree(t5_folder, tmp_path / "pickled"))
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(BackboneCorruptError, match=r"never loaded.*num_labels=1.*save_pretrained\(FOLDER"):
        CragScorer.named(str(pickled))


def test_absent_weights_say_where_they_are() -> None:
    """No hub has them."""
    with pytest.raises(BackboneNotFoundError, match="HuskyInSalt/CRAG"):
        CragScorer.named()
