"""What a search's scores and stops depend on: thresholds found under one identity mean nothing under another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from policies import Budget
from retrieval import Tier
from retrieval.index import IndexInfo

_BUDGET = TypeAdapter(Budget)


def search_identity(
    *,
    scorer: str,
    tiers: Sequence[Tier],
    budget: Budget,
    queries_per_turn: int,
    planner: str,
    index: IndexInfo | None = None,
) -> Mapping[str, Any]:
    """Plain JSON values; the same for two agents whose searches are exchangeable, whatever machine they run on.

    Limits of time, tokens and price are left out: they end a search, they do not change what it finds before.

    Args:
        scorer: Fingerprint of the scorer.
        tiers: Where is searched, in order.
        budget: Of one search.
        queries_per_turn: Most queries of a turn.
        planner: Its name in the settings.
        index: The local index, if there is one.
    """
    limits = _BUDGET.dump_python(budget, mode="json")
    identity: dict[str, Any] = {
        "scorer": scorer,
        "tiers": [{"name": tier.name, "k": tier.k} for tier in tiers],
        "budget": {name: limits[name] for name in ("max_turns", "max_calls")},
        "queries_per_turn": queries_per_turn,
        "planner": planner,
    }
    if index is not None:
        manifest = index.manifest
        identity |= {
            "corpus": {**manifest.corpus.model_dump(), "changes": index.changes, "updated": index.updated},
            "encoder": manifest.encoder.model_dump(),
            "chunks": manifest.settings.model_dump(),
        }
    return identity
