"""Entailment, held against the model's own logits on a tiny random one of mDeBERTa's architecture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer

from retrieval.backbones import find_backbone
from retrieval.errors import BackboneCorruptError
from rinse import ScoreError
from rinse.baselines.entailment import Entailment, EntailmentModel
from tests.rinse.baselines.tiny_released import write_nli

PREMISE = "the queen built the red castle on the north mountain"
HYPOTHESIS = "the castle is red"
LONG = " ".join([PREMISE, "and the captain moved to the city with a ship"] * 8)
OVERLAP = 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_backbone: Path) -> Path:
    return write_nli(tiny_backbone, tmp_path_factory.mktemp("tiny-nli"))


@pytest.fixture(scope="module")
def entailment(folder: Path) -> EntailmentModel:
    return EntailmentModel.named(str(folder))


def _direct(folder: Path, premise: list[int], hypothesis: list[int], label: int = 0) -> float:
    """P(label) from the model itself, alone and without padding."""
    from transformers import DebertaV2ForSequenceClassification

    ids = [2, *premise, 3, *hypothesis, 3]
    model: Any = DebertaV2ForSequenceClassification.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        return float(torch.softmax(model.eval()(torch.tensor([ids])).logits[0].double(), dim=-1)[label])


def _ids(folder: Path, text: str) -> list[int]:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return found


def test_it_is_an_entailment(entailment: EntailmentModel) -> None:
    """Whatever needs a judge of pairs can be handed this one."""
    assert isinstance(entailment, Entailment)


def test_the_probability_is_the_models_own(entailment: EntailmentModel, folder: Path) -> None:
    """In a batch of texts of several lengths each pair gets what it gets alone, in the order asked for."""
    pairs = [(HYPOTHESIS, PREMISE), (PREMISE, HYPOTHESIS), ("", "a king"), (PREMISE, PREMISE)]
    found = entailment.entails(pairs)
    assert found == pytest.approx([_direct(folder, _ids(folder, a), _ids(folder, b)) for a, b in pairs], abs=1e-6)
    assert found[0] != pytest.approx(found[1], abs=1e-4)
    assert entailment.entails([]) == []


def test_the_label_comes_from_the_config(tmp_path: Path, tiny_backbone: Path) -> None:
    """Models order their labels as they like, and not_entailment is another label."""
    folder = write_nli(tiny_backbone, tmp_path / "two", labels=("not_entailment", "Entailment"))
    (found,) = EntailmentModel.named(str(folder)).entails([(PREMISE, HYPOTHESIS)])
    expected = _direct(folder, _ids(folder, PREMISE), _ids(folder, HYPOTHESIS), label=1)
    assert found == pytest.approx(expected, abs=1e-6)


def test_a_model_without_such_a_label_is_refused(tmp_path: Path, tiny_backbone: Path) -> None:
    """Rather than reading a probability of something else."""
    folder = write_nli(tiny_backbone, tmp_path / "unnamed", labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(BackboneCorruptError, match="must call one label entailment"):
        EntailmentModel.named(str(folder))


def test_a_long_premise_is_read_in_windows(entailment: EntailmentModel, folder: Path) -> None:
    """The best window counts, and together they hold every token."""
    premise, hypothesis = _ids(folder, LONG), _ids(folder, HYPOTHESIS)
    room = 64 - 3 - len(hypothesis)
    begins = range(0, len(premise) - OVERLAP, room - OVERLAP)
    windows = [premise[begin : begin + room] for begin in begins]
    assert len(windows) > 2
    expected = max(_direct(folder, window, hypothesis) for window in windows)
    assert entailment.entails([(LONG, HYPOTHESIS)]) == pytest.approx([expected], abs=1e-6)


def test_a_long_hypothesis_is_refused(entailment: EntailmentModel) -> None:
    """It would have to be cut."""
    with pytest.raises(ScoreError, match="Shorten the answer"):
        entailment.entails([(PREMISE, HYPOTHESIS), (PREMISE, LONG)])


def test_marks_in_a_text_steer_nothing(entailment: EntailmentModel, folder: Path) -> None:
    """A premise that writes the separator does not end there."""
    found = entailment.entails([(f"{PREMISE} [SEP] a king", HYPOTHESIS)])
    expected = _direct(folder, _ids(folder, f"{PREMISE} [ SEP] a king"), _ids(folder, HYPOTHESIS))
    assert found == pytest.approx([expected], abs=1e-6)


def test_what_is_not_finite_is_an_error(tmp_path: Path, tiny_backbone: Path) -> None:
    """A NaN never becomes a probability."""
    from safetensors.torch import load_file, save_file

    folder = write_nli(tiny_backbone, tmp_path / "nan")
    weights = load_file(folder / "model.safetensors")
    weights["classifier.bias"][0] = torch.nan
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ScoreError, match="expected finite"):
        EntailmentModel(find_backbone(str(folder))).entails([(PREMISE, HYPOTHESIS)])


def test_the_fingerprint_is_the_content(entailment: EntailmentModel, tmp_path: Path, tiny_backbone: Path) -> None:
    """The same weights elsewhere are the same judge, others are another."""
    same = write_nli(tiny_backbone, tmp_path / "same")
    other = write_nli(tiny_backbone, tmp_path / "other", labels=("neutral", "entailment", "contradiction"))
    assert EntailmentModel.named(str(same)).fingerprint == entailment.fingerprint
    assert EntailmentModel.named(str(other)).fingerprint != entailment.fingerprint
