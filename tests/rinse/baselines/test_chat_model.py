"""What the scorers ask of a language model, held against direct computations."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer
from transformers import AutoTokenizer, LlamaForCausalLM

from retrieval.backbones import find_backbone
from retrieval.errors import BackboneCorruptError, BackboneNotFoundError
from rinse.baselines.model import ChatModel, prompt_and_head
from rinse.chat_template import ChatTemplate, read_template
from rinse.errors import ScoreError
from rinse.likelihood import batches
from rinse.local_generator import LocalGenerator

PROMPT = "the king of the north built a bridge"


def _direct(folder: Path, text: str, after: str = "") -> tuple[torch.Tensor, list[int]]:
    """Log-probabilities of every next token without cache, batch or head; and the ids of the text."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    ids = tokenizer.encode(text).ids + tokenizer.encode(after).ids
    model: Any = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        table = model.eval()(torch.tensor([ids]), use_cache=False).logits[0]
    return torch.log_softmax(table.double(), dim=-1), ids


def test_it_is_a_chat_model(chat_model: LocalGenerator) -> None:
    """The seam that every scorer is written against."""
    assert isinstance(chat_model, ChatModel)


def test_the_template_is_rendered_as_transformers_does(chat_model: LocalGenerator, chat_folder: Path) -> None:
    """Text that looks like a control token stays the user's own words."""
    other: Any = AutoTokenizer.from_pretrained(chat_folder)
    turn = [{"role": "user", "content": PROMPT}]
    assert chat_model.chat(PROMPT) == other.apply_chat_template(turn, tokenize=False, add_generation_prompt=True)
    assert chat_model.chat("a [SEP] b").count("[SEP]") == chat_model.chat("a b").count("[SEP]")


def test_the_real_model_brings_its_template() -> None:
    """The conversion from GGUF keeps it: the assistant's turn is opened as the model was taught."""
    try:
        folder = find_backbone("SmolLM2-135M-Instruct", allow_hub=False).folder
    except BackboneNotFoundError as error:
        pytest.skip(str(error))
    source = read_template(folder)
    assert source is not None
    opened = ChatTemplate(source=source).opened("hello")
    assert opened.endswith("<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n")


@pytest.mark.parametrize(
    "source", ["{% for", "{{ raise_exception('no') }}", "{{ messages.__class__.__mro__ }}", "nothing of it"]
)
def test_a_template_that_fails_is_a_typed_error(source: str) -> None:
    """One that reaches for Python's insides is refused by the sandbox; one that loses the text is not used."""
    with pytest.raises(BackboneCorruptError, match="chat template"):
        ChatTemplate(source=source).opened("hello")


def test_where_a_template_lies(chat_folder: Path, tmp_path: Path) -> None:
    """In a file of its own, or in the tokenizer's configuration, alone or by name; a model without one says so."""
    folder = Path(shutil.copytree(chat_folder, tmp_path / "copy"))
    (folder / "chat_template.jinja").unlink()
    with pytest.raises(BackboneCorruptError, match="no chat template"):
        LocalGenerator.named(str(folder)).chat("hello")
    settings = folder / "tokenizer_config.json"
    for content in ('{"chat_template": "x"}', '{"chat_template": [{"name": "default", "template": "x"}]}'):
        settings.write_text(content)
        assert read_template(folder) == "x"
    settings.write_text("[]")
    with pytest.raises(BackboneCorruptError, match="no JSON object"):
        read_template(folder)


def test_log_odds_equal_a_direct_computation(chat_model: LocalGenerator, chat_folder: Path) -> None:
    """Each first token counts once, however many words begin with it."""
    table, _ = _direct(chat_folder, PROMPT)
    tokenizer = Tokenizer.from_file(str(chat_folder / "tokenizer.json"))
    row = table[-1].exp()
    yes, no = (float(row[tokenizer.token_to_id(word)]) for word in ("king", "bridge"))
    odds = chat_model.log_odds(PROMPT, ["king", "King", " king"], ["bridge"])
    assert odds == pytest.approx(math.log(yes / no), abs=1e-4)


@pytest.mark.parametrize(("yes", "no"), [(["king"], ["king of"]), ([""], ["no"]), ([], ["no"])])
def test_words_that_cannot_be_told_apart_are_refused(
    chat_model: LocalGenerator, yes: list[str], no: list[str]
) -> None:
    """Rather than scored as equal."""
    with pytest.raises(ValueError, match=r"cannot tell|at least one token"):
        chat_model.log_odds(PROMPT, yes, no)


def test_a_head_that_was_kept_never_shows(chat_folder: Path, chat_model: LocalGenerator) -> None:
    """To the last bit, whatever was read before; and beside a pass without a head up to rounding."""
    prompt, head = prompt_and_head(chat_model, PROMPT, "who was he")
    assert prompt.startswith(head)
    assert PROMPT in head
    assert "who" not in head
    fresh = LocalGenerator.named(str(chat_folder))
    first = fresh.log_odds(prompt, ["king"], ["bridge"], head=head)
    assert fresh.spared_seconds == 0.0
    again = fresh.log_odds(prompt, ["king"], ["bridge"], head=head)
    assert fresh.spared_seconds > 0.0
    assert again == first
    assert first == pytest.approx(chat_model.log_odds(prompt, ["king"], ["bridge"]), abs=1e-4)
    answer = fresh.generate(prompt, max_tokens=6, head=head)
    fresh.generate("another king", max_tokens=2, head="another")
    assert fresh.generate(prompt, max_tokens=6, head=head) == answer
    assert answer.tokens == chat_model.generate(prompt, max_tokens=6).tokens


def test_mean_logprobs_equal_direct_computations(chat_model: LocalGenerator, chat_folder: Path) -> None:
    """Prompts of other lengths in the same batch change nothing but rounding."""
    prompts = [PROMPT, "a river", f"{PROMPT} and won", "a river of the north"]
    found = chat_model.mean_logprobs(prompts, "the old ship")
    for prompt, value in zip(prompts, found, strict=True):
        table, ids = _direct(chat_folder, prompt, "the old ship")
        expected = sum(float(table[at - 1, ids[at]]) for at in (-3, -2, -1) for at in (at + len(ids),)) / 3
        assert value == pytest.approx(expected, abs=1e-4)
    assert chat_model.mean_logprobs([], "the old ship") == []
    with pytest.raises(ValueError, match="continuation"):
        chat_model.mean_logprobs(prompts, "")


def test_batches_hold_texts_of_like_length() -> None:
    """Every place once, no batch above its limit."""
    lengths = [300, 310, 2000, 305, 299, 10, 2000]
    found = list(batches(lengths))
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    assert [5] in found
    assert all(len(batch) * max(lengths[place] for place in batch) <= 2048 for batch in found)


def test_samples_are_those_of_their_seeds(chat_model: LocalGenerator) -> None:
    """Side by side as one by one, and the process's own random numbers are left alone."""
    torch.manual_seed(7)
    undisturbed = float(torch.rand(1))
    torch.manual_seed(7)
    found = chat_model.samples(PROMPT, count=3, max_tokens=5, seed=4)
    assert float(torch.rand(1)) == undisturbed
    alone = [chat_model.generate(PROMPT, max_tokens=5, temperature=1.0, seed=seed) for seed in (4, 5, 6)]
    assert [one.tokens for one in found] == [one.tokens for one in alone]
    with pytest.raises(ValueError, match="one sample or more"):
        chat_model.samples(PROMPT, count=0, max_tokens=5)


def test_logits_that_are_nan_are_a_typed_error(chat_folder: Path, tmp_path: Path) -> None:
    """From broken weights nothing is decided, whichever way they are read."""
    from safetensors.torch import load_file, save_file

    folder = Path(shutil.copytree(chat_folder, tmp_path / "broken"))
    weights = load_file(folder / "model.safetensors")
    weights["model.norm.weight"][0] = math.nan
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    broken = LocalGenerator.named(str(folder))
    for read in (
        lambda: broken.log_odds(PROMPT, ["king"], ["bridge"]),
        lambda: broken.mean_logprobs([PROMPT], "a king"),
        lambda: broken.generate(PROMPT, max_tokens=2),
        lambda: broken.samples(PROMPT, count=2, max_tokens=2),
    ):
        with pytest.raises(ScoreError, match="NaN"):
            read()
