"""UAR's heads and tree, held against the model's own states on a tiny random Llama."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from retrieval import EvidenceSet
from retrieval.errors import BackboneCorruptError
from rinse.baselines.uar import HEADS, HEADS_FILE, UarScorer, needs_retrieval
from tests.rinse.baselines.tiny_released import TEXTS

QUESTIONS = (
    "who built the castle",
    "what ship was found",
    "when was the band born",
    "which team won the first match",
)


@pytest.fixture(scope="module")
def scorer(uar_folder: Path) -> UarScorer:
    return UarScorer.named(str(uar_folder))


def _direct(folder: Path, question: str, passages: tuple[str, ...], limit: int = 256) -> float:
    """1 for no retrieval, from the model itself over a prompt that is written out here."""
    from transformers import LlamaModel

    joined = "\n".join(passages)
    prompt = (
        f"[INST] Use the passage to answer the question.\nPassage: {joined}\nQuestion: {question}\n"
        "Answer now. [/INST]"
    )
    ids = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(prompt).ids[:limit]
    model: Any = LlamaModel.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        state = model.eval()(torch.tensor([ids])).last_hidden_state[0, -1]
    yes = {
        name: bool(torch.softmax(torch.from_numpy(head) @ state, dim=0)[0] >= 0.5)
        for name, head in load_file(folder / HEADS_FILE).items()
    }
    if yes["intent"]:
        return 0.0
    if yes["knowledge"]:
        return 1.0
    return 0.0 if yes["time"] or yes["self"] else 1.0


def test_the_tree_over_the_heads(
    scorer: UarScorer, uar_folder: Path, evidence: Callable[..., EvidenceSet]
) -> None:
    """Every prompt of several gets what the model's own states and heads give; both decisions occur."""
    cases = [(question, texts) for question in QUESTIONS for texts in (TEXTS, TEXTS[:1], TEXTS[1:], TEXTS[::-1])]
    found = [scorer.score(question, evidence(*texts)).score for question, texts in cases]
    assert found == [_direct(uar_folder, question, texts) for question, texts in cases]
    assert set(found) == {0.0, 1.0}


@given(st.fixed_dictionaries({name: st.floats(0, 1) for name in HEADS}))
def test_the_tree(chances: dict[str, float]) -> None:
    """Asked for: retrieve. No knowledge needed: do not. Changing or unknown to the model: retrieve."""
    intent, knowledge, time, self_aware = (chances[name] >= 0.5 for name in HEADS)
    assert needs_retrieval(chances) is (intent or (not knowledge and (time or self_aware)))


def test_a_prompt_that_is_too_long_is_cut_and_counted(
    uar_folder: Path, evidence: Callable[..., EvidenceSet]
) -> None:
    """The paper reads the beginning; whoever reads the table must see how often that happened."""
    scorer = UarScorer.named(str(uar_folder))
    long = " ".join(TEXTS * 12)
    assert not scorer.score(QUESTIONS[0], evidence(*TEXTS)).truncated
    found = scorer.score(QUESTIONS[0], evidence(long))
    assert found.truncated
    assert found.score == _direct(uar_folder, QUESTIONS[0], (long,))
    assert scorer.truncated_records == 1


@pytest.mark.parametrize("fault", ["missing", "pickled", "shape", "name"])
def test_heads_that_do_not_fit_are_refused(uar_folder: Path, tmp_path: Path, fault: str) -> None:
    """And the message says how to convert the released ones."""
    broken = Path(shutil.copytree(uar_folder, tmp_path / fault))
    heads = load_file(broken / HEADS_FILE)
    (broken / HEADS_FILE).unlink()
    if fault == "pickled":
        torch.save({"score.weight": torch.zeros(2, 16)}, broken / HEADS_FILE)
    if fault == "shape":
        save_file(heads | {"time": heads["time"][:, :8].copy()}, broken / HEADS_FILE)
    if fault == "name":
        save_file({f"{name}_aware": head for name, head in heads.items()}, broken / HEADS_FILE)
    with pytest.raises(BackboneCorruptError, match="weights_only=True"):
        UarScorer.named(str(broken))


def test_the_fingerprint_covers_the_heads(scorer: UarScorer, uar_folder: Path, tmp_path: Path) -> None:
    """They lie beside the files that a backbone is known by."""
    other = Path(shutil.copytree(uar_folder, tmp_path / "other"))
    heads = load_file(other / HEADS_FILE)
    save_file(heads | {"self": -heads["self"]}, other / HEADS_FILE)
    assert UarScorer.named(str(uar_folder)).fingerprint == scorer.fingerprint
    assert UarScorer.named(str(other)).fingerprint != scorer.fingerprint
