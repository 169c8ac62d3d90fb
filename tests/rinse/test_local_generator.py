"""A causal language model on this machine, held against direct computations on a tiny random one."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import LlamaForCausalLM

from retrieval.backbones import find_backbone
from retrieval.errors import BackboneCorruptError
from rinse.errors import ScoreError
from rinse.generator import Generator
from rinse.local_generator import LocalGenerator
from tests.tiny_llama import write_llama_for


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_backbone: Path) -> Path:
    """A Llama with seeded random weights over the words of the tiny BERT's vocabulary."""
    from tokenizers import Tokenizer
    from tokenizers.processors import TemplateProcessing

    tokenizer = Tokenizer.from_file(str(tiny_backbone / "tokenizer.json"))
    tokenizer.post_processor = TemplateProcessing(single="$A", pair="$A $B")
    return write_llama_for(tokenizer, tmp_path_factory.mktemp("tiny-llama"), reads=64, seed=3)


@pytest.fixture(scope="module")
def generator(folder: Path) -> LocalGenerator:
    return LocalGenerator.named(str(folder))


PROMPT = "the king of the north built a bridge"


def _direct(folder: Path, ids: list[int]) -> torch.Tensor:
    """Log-probabilities of every next token, from the model itself without a cache."""
    model: Any = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        return torch.log_softmax(model.eval()(torch.tensor([ids])).logits[0].double(), dim=-1)


def _ids(folder: Path, text: str) -> list[int]:
    from tokenizers import Tokenizer

    found: list[int] = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).ids
    return found


def test_it_is_a_generator(generator: LocalGenerator) -> None:
    """Whatever needs a language model can be handed this one."""
    assert isinstance(generator, Generator)


def test_greedy_takes_the_likeliest_token_again_and_again(generator: LocalGenerator, folder: Path) -> None:
    """With keys and values kept the tokens are those of a whole pass for each; a second call gives the same."""
    first = generator.generate(PROMPT, max_tokens=6, exact=True)
    assert generator.generate(PROMPT, max_tokens=6, exact=True) == first
    ids, expected = _ids(folder, PROMPT), []
    for _ in range(6):
        row = _direct(folder, ids)[-1].clone()
        row[3] = -torch.inf  # an exact number of tokens: the end is never chosen
        ids.append(int(row.argmax()))
        expected.append(float(row.max()))
    assert first.logprobs == pytest.approx(expected, abs=1e-4)
    assert len(first.tokens) == 6
    assert first.prompt_tokens == len(_ids(folder, PROMPT))


@pytest.mark.parametrize("tokens", [1, 24])
def test_an_exact_number_of_tokens(generator: LocalGenerator, tokens: int) -> None:
    """What is timed against it generates so many tokens, no fewer."""
    assert len(generator.generate(PROMPT, max_tokens=tokens, exact=True, stop=["a"]).tokens) == tokens


def test_logprob_equals_a_direct_computation(generator: LocalGenerator, folder: Path) -> None:
    """The sum over the continuation's tokens only."""
    continuation = "and won the north"
    before, after = _ids(folder, PROMPT), _ids(folder, continuation)
    table = _direct(folder, [*before, *after])
    expected = sum(float(table[len(before) - 1 + at, token]) for at, token in enumerate(after))
    assert generator.logprob(PROMPT, continuation) == pytest.approx(expected, abs=1e-4)
    assert generator.logprob(PROMPT, "") == 0.0


def test_a_stop_ends_the_text_before_it(generator: LocalGenerator) -> None:
    """And nothing is generated behind it."""
    whole = generator.generate(PROMPT, max_tokens=12, exact=True)
    word = whole.tokens[4]
    cut = generator.generate(PROMPT, max_tokens=12, stop=[word])
    assert cut.stopped
    assert word not in cut.text
    assert whole.text.startswith(cut.text)
    assert len(cut.tokens) <= 5


def test_draws_repeat_with_their_seed_and_leave_others_alone(generator: LocalGenerator) -> None:
    """The same seed gives the same text; the process's own random numbers go on as if nothing had happened."""
    torch.manual_seed(7)
    undisturbed = torch.rand(2).tolist()
    torch.manual_seed(7)
    ahead = torch.rand(1).tolist()
    drawn = [generator.generate(PROMPT, max_tokens=8, temperature=1.5, seed=seed).text for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]
    assert [*ahead, *torch.rand(1).tolist()] == undisturbed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prompt": PROMPT, "max_tokens": 0}, "max_tokens"),
        ({"prompt": "", "max_tokens": 1}, "at least one token"),
        ({"prompt": PROMPT, "max_tokens": 1, "temperature": float("nan")}, "temperature"),
    ],
)
def test_what_cannot_be_generated_is_refused(
    generator: LocalGenerator, options: dict[str, object], message: str
) -> None:
    """A message says what was expected."""
    with pytest.raises(ValueError, match=message):
        generator.generate(**options)  # type: ignore[arg-type]


def test_what_is_too_long_is_told_not_cut(generator: LocalGenerator) -> None:
    """Whichever method reads it: a score of half a prompt is no score of it."""
    long = f"{PROMPT} " * 12
    for read in (
        lambda: generator.generate(PROMPT, max_tokens=64),
        lambda: generator.samples(PROMPT, count=2, max_tokens=64),
        lambda: generator.log_odds(long, ["king"], ["queen"]),
        lambda: generator.mean_logprobs([PROMPT, long], "a king"),
        lambda: generator.logprob(long, "a king"),
    ):
        with pytest.raises(ScoreError, match="at most 64 tokens"):
            read()


def test_a_folder_without_such_a_model_is_a_typed_error(folder: Path, tmp_path: Path) -> None:
    """Also where the tokenizer is what cannot be read."""
    broken = Path(shutil.copytree(folder, tmp_path / "broken"))
    (broken / "tokenizer.json").write_text("{}")
    with pytest.raises(BackboneCorruptError, match="no causal language model"):
        LocalGenerator(find_backbone(str(broken))).load()
