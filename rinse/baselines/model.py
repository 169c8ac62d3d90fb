"""The seam of every scorer that prompts a causal language model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import takewhile
from typing import Protocol, runtime_checkable

from ..generator import Generated, Generator


@runtime_checkable
class ChatModel(Generator, Protocol):
    """A causal language model that a scorer reads. `rinse.local_generator.LocalGenerator` fulfils it.

    Contract: beside what a `Generator` promises, every method is a function of its arguments alone (the process's
    random numbers are neither read nor moved). A prompt that the model cannot read whole, and logits that are not
    finite, are a `rinse.ScoreError`; nothing is cut silently.

    A prompt may come with its `head`: a beginning that other prompts share. It is read by itself, and kept until
    another head is read, so that the next prompt with this head costs its remainder only. What is kept never shows
    in a result, to the last bit.
    """

    @property
    def fingerprint(self) -> str:
        """Identifies weights, tokenizer and chat template by content."""
        ...

    @property
    def spared_seconds(self) -> float:
        """What the last call would have spent on reading its head, had the head not been kept."""
        ...

    def chat(self, user: str) -> str:
        """The prompt of one user turn in the model's own chat template, with the assistant's turn opened."""
        ...

    def generate(
        self,
        prompt: str,
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
        head: str = "",
    ) -> Generated:
        """See `Generator.generate`."""
        ...

    def samples(
        self,
        prompt: str,
        *,
        count: int,
        max_tokens: int,
        temperature: float = 1.0,
        seed: int = 0,
        stop: Sequence[str] = (),
        head: str = "",
    ) -> tuple[Generated, ...]:
        """So many completions drawn at once; the one at place i is drawn with `seed + i`."""
        ...

    def log_odds(self, prompt: str, yes: Sequence[str], no: Sequence[str], *, head: str = "") -> float:
        """Log of P(a first token of `yes`) minus log of P(a first token of `no`) as the prompt's next token."""
        ...

    def mean_logprobs(self, prompts: Sequence[str], continuation: str) -> list[float]:
        """Mean log-probability of the continuation's tokens after each of the prompts, not above 0."""
        ...


def identity(*parts: str) -> str:
    """The fingerprint of a scorer that is made of these: name, fingerprints, prompts, settings."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def prompt_and_head(model: ChatModel, begin: str, task: str) -> tuple[str, str]:
    """The prompt of one user turn, `begin` and then `task`, and the head that all prompts share which begin so."""
    prompt, other = model.chat(f"{begin}\n\n{task}"), model.chat(begin)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(prompt, other, strict=False)))
    return prompt, prompt[:same]
