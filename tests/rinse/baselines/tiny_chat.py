"""A tiny causal language model with a chat template, and scripted doubles at the public seams."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rinse.baselines.answers import SharedAnswer
from rinse.generator import Generated
from tests.tiny_llama import write_llama_for

TEMPLATE = (
    "{% for message in messages %}{{ '[CLS] ' + message['role'] + ' ' + message['content'] + ' [SEP] ' }}"
    "{% endfor %}{% if add_generation_prompt %}[CLS] they {% endif %}"
)


def build_tiny_chat(folder: Path, backbone: Path, *, positions: int = 1024, seed: int = 3) -> Path:
    """A Llama with seeded random weights over the vocabulary of the tiny BERT in `backbone`."""
    from tokenizers import Tokenizer
    from tokenizers.processors import TemplateProcessing

    tokenizer = Tokenizer.from_file(str(backbone / "tokenizer.json"))
    tokenizer.post_processor = TemplateProcessing(single="$A", pair="$A $B")
    write_llama_for(tokenizer, folder, reads=positions, seed=seed)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    return folder


class Replies:
    """A `Generator` that gives one reply, and remembers what it was asked."""

    def __init__(self, reply: str) -> None:
        self.name = "replies"
        self.reply = reply
        self.prompts: list[str] = []

    def generate(
        self, prompt: str, *, max_tokens: int, temperature: float = 0.0, seed: int = 0, stop: Sequence[str] = ()
    ) -> Generated:
        del max_tokens, temperature, seed
        self.prompts.append(prompt)
        text = self.reply
        for end in stop:
            text = text.split(end)[0]
        return Generated(text=text)

    def logprob(self, prompt: str, continuation: str) -> float:
        raise NotImplementedError(prompt + continuation)


class SameWords:
    """An `Entailment`: certain where every word of the hypothesis stands in the premise."""

    fingerprint = "same words"

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []

    def entails(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.pairs += pairs
        return [float(set(hypothesis.split()) <= set(premise.split())) for premise, hypothesis in pairs]


class Kept(dict[str, SharedAnswer]):
    """An `AnswerStore` in memory."""

    def put(self, key: str, answer: SharedAnswer) -> None:
        self[key] = answer
