"""The seam for whatever needs text or probabilities from a causal language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """A completion."""

    text: str
    tokens: tuple[str, ...] = ()
    """The completion's tokens."""
    logprobs: tuple[float, ...] = ()
    """Natural logarithm of each token's probability, not above 0; empty if the backend gives none."""
    prompt_tokens: int = 0
    stopped: bool = True
    """False if the limit on tokens cut the text."""


@runtime_checkable
class Generator(Protocol):
    """One causal language model, local or behind an endpoint.

    Contract: greedy where `temperature` is 0, then deterministic; `logprob` is the sum over the tokens of
    `continuation` given `prompt`; blocking (an endpoint client offers it through a worker thread).
    """

    @property
    def name(self) -> str:
        """For tables and traces."""
        ...

    def generate(
        self,
        prompt: str,
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
    ) -> Generated:
        """Complete the prompt by at most `max_tokens` tokens."""
        ...

    def logprob(self, prompt: str, continuation: str) -> float:
        """Sum of the log-probabilities of the continuation's tokens."""
        ...
