"""A rival scorer before it is made, and the parts that rivals are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from retrieval.backbones import KNOWN, WEIGHTS, find_backbone
from retrieval.errors import BackboneNotFoundError

from ..local_generator import DEFAULT_GENERATOR, LocalGenerator
from ..sufficiency import SufficiencyScorer
from .answers import AnswerStore, GreedyAnswers
from .entailment import DEFAULT_ENTAILMENT, EntailmentModel

Reads = Literal["evidence", "answer"]
"""Question and evidence alone, or an answer that was generated from them too."""


class Parts:
    """What scorers are made of. A model is loaded once and shared by all scorers that are made of the same parts.

    Args:
        folders: Where weights lie, or what stands in their place, by the name under which a rival `needs` them: a
            folder or a hub id. What is not named here is found by its name.
        answers: Keeps greedy answers that several scorers read; None = each generates its own.
    """

    def __init__(
        self, folders: Mapping[str, str] = MappingProxyType({}), *, answers: AnswerStore | None = None
    ) -> None:
        self._folders = folders
        self._answers = answers

    def where(self, weights: str) -> str:
        """The folder or name under which weights are looked for."""
        return self._folders.get(weights, weights)

    @cached_property
    def model(self) -> LocalGenerator:
        """The causal language model, loaded.

        Raises:
            BackboneNotFoundError, BackboneCorruptError: it cannot be found or read.
        """
        model = LocalGenerator.named(self.where(DEFAULT_GENERATOR))
        model.load()
        return model

    @cached_property
    def answered(self) -> GreedyAnswers:
        """Greedy answers of the causal language model."""
        return GreedyAnswers(self.model, self._answers)

    @cached_property
    def entailment(self) -> EntailmentModel:
        """The entailment model. Raises what `EntailmentModel.named` raises."""
        return EntailmentModel.named(self.where(DEFAULT_ENTAILMENT))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """One way to judge sufficiency, before it is made."""

    name: str
    """As tables print it."""
    title: str
    """For people."""
    source: str
    """Where it comes from."""
    reads: Reads
    needs: tuple[str, ...]
    """Names of the weights that it runs on; empty = none."""
    cost: str
    """Passes and decoded tokens of a record."""
    heavy: bool
    """Whether a record takes seconds on a CPU, so that a benchmark reads a sample with it."""
    build: Callable[[Parts], SufficiencyScorer]

    @property
    def backbone(self) -> str | None:
        """The weights by name; None where it has none."""
        return " + ".join(self.needs) or None

    def make(self, parts: Parts | None = None) -> SufficiencyScorer:
        """The scorer.

        Raises:
            BackboneNotFoundError, BackboneCorruptError: weights are not on this machine, or cannot be read.
        """
        return self.build(parts or Parts())

    def missing(self, parts: Parts | None = None) -> tuple[str, ...]:
        """The names of weights that are not on this machine. Nothing is downloaded to find out.

        Raises:
            BackboneCorruptError: weights are there and cannot be read.
        """
        known = parts or Parts()
        return tuple(name for name in self.needs if not _here(known.where(name)))


def _here(name: str) -> bool:
    try:
        find_backbone(name, allow_hub=False)
    except BackboneNotFoundError:
        return _in_hub_cache(KNOWN[name].hub_id if name in KNOWN else name)
    return True


def _in_hub_cache(hub_id: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return (
        "/" in hub_id
        and not Path(hub_id).is_absolute()
        and isinstance(try_to_load_from_cache(hub_id, WEIGHTS), str)
    )
