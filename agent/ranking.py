"""The order of the evidence for a reader with room for few passages: chains before lone finds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import Annotated

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError

from retrieval import EvidenceSet, Ranking
from retrieval.fusion import reciprocal_rank_fusion

from .chains import FEATURES, chain_features, chains
from .errors import ConfigError
from .views import Views

LARGEST = 200
"""Passages that are ranked by their links, those of the best fused rank; the others follow in the fused order."""
ALL = "none"
"""In the file, what was left out of the weights that saw all families."""

Weights = Mapping[str, float]
"""What each feature of `chains.FEATURES` is worth."""

_FILE = TypeAdapter(dict[str, dict[str, Annotated[float, Field(allow_inf_nan=False)]]])


def shipped_weights(*, without: str | None = None) -> Weights:
    """The weights that come with the package; `python -m benchmarks retrieval-fit` finds them.

    Args:
        without: A family of datasets that they have not seen: hotpotqa, 2wiki or musique.

    Raises:
        ConfigError: there are none without this family, or the installation is damaged.
    """
    known = _shipped()
    if (without or ALL) not in known:
        families = sorted(known.keys() - {ALL})
        raise ConfigError(f"There are no ranking weights without {without!r}, only without one of {families}.")
    return known[without or ALL]


class ChainRanker:
    """Orders evidence by fused rank and by how passages hang together. A `Ranker` without a model.

    The rank of a passage that completes a chain says little: its query asked for a part of the question. What
    tells is that it is linked with a passage, and what the two cover together. Deterministic and thread-safe;
    blocking, about 2 ms for a passage that it has not seen and 30 ms for a set of 60.

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
        passages = {passage.id: passage for passage in evidence}
        lists = [[key for key in dict.fromkeys(ranking) if key in passages] for ranking in rankings]
        lists = [ranking for ranking in lists if ranking]
        fused = [key for key, _ in reciprocal_rank_fusion(lists)]
        if not fused:
            return Ranking()
        near, rest = fused[:LARGEST], fused[LARGEST:]
        places = {key: place for place, key in enumerate(near)}
        found = chains(question, [self._views.of(passages[key]) for key in near])
        ranks = [[places[key] for key in ranking if key in places] for ranking in lists]
        scores = dict(zip(near, (chain_features(found, ranks) @ self._weights).tolist(), strict=True))
        order = sorted(near, key=lambda key: -scores[key])
        lowest = scores[order[-1]]
        scores |= {key: lowest - place for place, key in enumerate(rest, start=1)}
        return Ranking(ids=(*order, *rest), scores=tuple(scores[key] for key in (*order, *rest)))


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
