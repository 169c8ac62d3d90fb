"""The search that is measured: the product's parts, run to the end of its turns, without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent import SearchAgent
    from retrieval.index import LocalIndex, TransformerEncoder

QUERIES = 2
"""Most queries of a turn, see `agent.seams.Plan`."""


def collector(index: LocalIndex[TransformerEncoder], *, turns: int, k: int) -> SearchAgent:
    """An agent that collects evidence for `turns` turns, or until nothing is left to ask.

    It looks at no score when it decides; the scorer runs because its gaps are what the planner asks for.

    Args:
        index: What is searched; its encoder serves scorer and planner.
        turns: At least 1.
        k: Passages that one call asks for.
    """
    from agent import SearchAgent
    from agent.query import GapPlanner
    from policies import Budget
    from policies.fixed import FixedK
    from retrieval import Tier
    from retrieval.index import LocalTier
    from rinse import RinseScorer

    return SearchAgent(
        tiers=[Tier(name="local", retriever=LocalTier(index), k=k)],
        scorer=RinseScorer.small(encoder=index.encoder),
        policy=FixedK(QUERIES * turns),  # out of reach: the first turn asks one query
        planner=GapPlanner(index.encoder),
        budget=Budget(max_turns=turns, max_calls=None, max_seconds=None),
    )
