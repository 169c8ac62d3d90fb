"""The order of the evidence for a reader with room for few passages: chains before lone finds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError

from retrieval import EvidenceSet, Ranking
from retrieval.fusion import reciprocal_rank_fusion

from .chains import FEATURES, chain_features, chains
from .errors import ConfigError
from .views import Views

LARGEST = 200
"""Passages that are ranked by their links, those of the best fused rank; the others follow in the fused order."""
NOVELTY = 8.0
"""What covering all of the question that no passage before covers is worth (docs/decisions/010-ranking.md)."""
ALL = "none"
"""In the file, what was left out of the weights that saw all families."""

Weights = Mapping[str, float]
"""What each feature of `chains.FEATURES` is worth."""

_FILE = TypeAdapter(dict[str, dict[str, Annotated[float, Field(allow_inf_nan=False)]]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A set of passages before they are weighed."""

    near: tuple[str, ...]
    """Ids of those that were compared, in their fused order."""
    rest: tuple[str, ...]
    """Ids of the others, in their fused order."""
    features: NDArray[np.float64]
    """Of `near`, shape `(len(near), len(FEATURES))`, see `chains.chain_features`."""
    covers: NDArray[np.float64]
    """What each of `near` covers of the question's words: the word's share of the question or 0; shape
    `(len(near), words)`."""

    def ranking(self, weights: NDArray[np.float64], *, novelty: float = NOVELTY) -> Ranking:
        """One after the other the passage that is worth most beside those before it; the first of equals.

        A passage is worth the weighted sum of its features, weights of shape `(len(FEATURES),)`, and `novelty`
        times the share of the question that it covers and none before it does. As that only shrinks, scores never
        increase down the ranking.
        """
        own = self.features @ weights
        covered = np.zeros(self.covers.shape[1])
        open_ = np.ones(len(own), dtype=np.bool_)
        order: list[tuple[str, float]] = []
        for _ in self.near:
            worth = np.where(open_, own + novelty * (self.covers - covered).clip(0.0).sum(axis=1), -np.inf)
            best = int(worth.argmax())
            order.append((self.near[best], float(worth[best])))
            covered, open_[best] = np.maximum(covered, self.covers[best]), False
        order += [(key, order[-1][1] - place) for place, key in enumerate(self.rest, start=1)]
        return Ranking(ids=tuple(key for key, _ in order), scores=tuple(score for _, score in order))


def shipped_families() -> frozenset[str]:
    """The families of datasets without which there are weights: those that the shipped weights were fitted on.

    Raises:
        ConfigError: the installation is damaged.
    """
    return frozenset(_shipped().keys() - {ALL})


def shipped_weights(*, without: str | None = None) -> Weights:
    """The weights that come with the package; `python -m benchmarks retrieval-fit` finds them.

    Args:
        without: A family of datasets that they have not seen: hotpotqa, 2wiki or musique.

    Raises:
        ConfigError: there are none without this family, or the installation is damaged.
    """
    known = _shipped()
    if (without or ALL) not in known:
        families = sorted(shipped_families())
        raise ConfigError(f"There are no ranking weights without {without!r}, only without one of {families}.")
    return known[without or ALL]


class ChainRanker:
    """Orders evidence by fused rank and by how passages hang together. A `Ranker` without a model.

    The rank of a passage that completes a chain says little: its query asked for a part of the question. What
    tells is that it is linked with a passage, and what the two cover together. Deterministic and thread-safe;
    blocking, about 2 ms for a passage that it has not seen and 10 ms for a set of 60.

    Args:
        weights: None = `shipped_weights()`.
        views: Shared with a planner, so that no passage is looked at twice.

    Raises:
        ConfigError: the weights name a feature that there is not, leave one out, or hold something else than a
            finite number.
    """

    def __init__(self, weights: Weights | None = None, *, views: Views | None = None) -> None:
        known = weights if weights is not None else shipped_weights()
        if known.keys() != set(FEATURES) or not all(map(math.isfinite, known.values())):
            raise ConfigError(
                f"Ranking weights are {dict(known)}, expected a finite number for each of {FEATURES}."
            )
        self._weights = np.array([known[name] for name in FEATURES])
        self._views = views or Views()

    def rank(self, question: str, evidence: EvidenceSet, rankings: Sequence[Sequence[str]]) -> Ranking:
        """See `Ranker.rank`."""
        return compare(question, evidence, rankings, self._views).ranking(self._weights)


def compare(question: str, evidence: EvidenceSet, rankings: Sequence[Sequence[str]], views: Views) -> Compared:
    """Put passages in the order of their fused rank, and find the features of the first `LARGEST` of them.

    Args:
        question: What was asked.
        evidence: The passages; those that no ranking holds are left out.
        rankings: Ids, best first, one list a call, see `Ranker.rank`.
        views: Where passages are looked at.
    """
    passages = {passage.id: passage for passage in evidence}
    lists = [[key for key in dict.fromkeys(ranking) if key in passages] for ranking in rankings]
    lists = [ranking for ranking in lists if ranking]
    fused = tuple(key for key, _ in reciprocal_rank_fusion(lists))
    near = fused[:LARGEST]
    places = {key: place for place, key in enumerate(near)}
    found = chains(question, [views.of(passages[key]) for key in near])
    ranks = [[places[key] for key in ranking if key in places] for ranking in lists]
    return Compared(
        near=near,
        rest=fused[LARGEST:],
        features=chain_features(found, ranks),
        covers=found.covers * found.weights,
    )


@lru_cache(maxsize=1)
def _shipped() -> Mapping[str, Weights]:
    """By the family that was left out."""
    file = resources.files(__package__).joinpath("weights", "ranking.json")
    try:
        return _FILE.validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise ConfigError(
            f"The ranking weights of this installation cannot be read: {error}. Install sufficit again."
        ) from error
