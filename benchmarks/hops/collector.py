"""The search that is measured: the product's parts, run to the end of its turns, without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rinse.sufficiency import Sufficiency

from ..pairwise.systems import resolve

if TYPE_CHECKING:
    from agent import SearchAgent
    from retrieval import EvidenceSet
    from retrieval.index import LocalIndex, TransformerEncoder
    from rinse import SufficiencyScorer

QUERIES = 2
"""Most queries of a turn, see `agent.seams.Plan`."""
UNSCORED = "none"
"""The name of `Unscored` on the command line."""


class Unscored:
    """A scorer that looks at nothing and names no gap. Compared with it, a scorer shows what it gives."""

    fingerprint: ClassVar[str] = "unscored"

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Zero for every set."""
        del question
        return Sufficiency(score=0.0, passages=len(evidence))


def collector(
    index: LocalIndex[TransformerEncoder], *, scorer: str, turns: int, k: int, without: str | None = None
) -> SearchAgent:
    """An agent that collects evidence for `turns` turns, or until nothing is left to ask.

    It looks at no score when it decides; the scorer runs because the planner asks for the gaps that it names.

    Args:
        index: What is searched.
        scorer: `UNSCORED`, or a name as `pairwise.systems.resolve` takes it.
        turns: At least 1.
        k: Passages that one call asks for.
        without: A family of datasets that the weights of the ranking must not have seen.

    Raises:
        SettingsError: there is no such scorer.
    """
    from agent import SearchAgent
    from agent.query import GapPlanner
    from agent.ranking import ChainRanker, shipped_weights
    from agent.views import Views
    from policies import Budget
    from policies.fixed import FixedK
    from retrieval import Tier
    from retrieval.index import LocalTier

    weights, views = shipped_weights(without=without), Views()
    made: SufficiencyScorer = Unscored() if scorer == UNSCORED else resolve(scorer).maker(None)()
    return SearchAgent(
        tiers=[Tier(name="local", retriever=LocalTier(index), k=k)],
        scorer=made,
        policy=FixedK(QUERIES * turns),  # out of reach: the first turn asks one query
        planner=GapPlanner(weights, views=views),
        ranker=ChainRanker(weights, views=views),
        budget=Budget(max_turns=turns, max_calls=None, max_seconds=None),
    )
