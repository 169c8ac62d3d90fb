"""From settings to an agent that is ready to search."""

from __future__ import annotations

from pathlib import Path

from policies.named import build_policy
from retrieval import Tier
from retrieval.index import LocalIndex, LocalTier
from rinse import RinseScorer

from .answer import ExtractiveAnswerer
from .config import Settings, load_settings
from .errors import ConfigError
from .loop import SearchAgent
from .query import GapPlanner


def open_agent(index: Path | str | None = None, *, settings: Settings | None = None) -> SearchAgent:
    """An agent over the local index in the folder `index`, with the default scorer, planner and answerer.

    Blocking: opens the index and loads the backbone (a few seconds the first time).

    Args:
        index: Folder of the index; None = the one that the settings name.
        settings: None = read flags from nowhere, `SUFFICIT_*` and `sufficit.toml`.

    Raises:
        ConfigError: no index is named, or a setting is out of range.
        RetrievalError: the index or the backbone cannot be opened; says what to do.
        PolicyError: the policy cannot be built from the settings.
    """
    settings = settings or load_settings()
    folder = Path(index) if index is not None else settings.index
    if folder is None:
        raise ConfigError(
            'No index is named. Pass --index DIR, set SUFFICIT_INDEX, or write index = "DIR" into sufficit.toml; '
            "build one with: sufficit index build CORPUS --out DIR"
        )
    local = LocalIndex.open(folder)
    local.warm()
    scorer = RinseScorer.small(encoder=local.encoder)
    profile = scorer.profile
    policy = build_policy(
        settings.policy,
        answer_at=profile.answer_at if settings.answer_at is None else settings.answer_at,
        abstain_below=profile.abstain_below if settings.abstain_below is None else settings.abstain_below,
        patience=settings.patience,
    )
    return SearchAgent(
        tiers=[Tier(name="local", retriever=LocalTier(local), k=settings.k)],
        scorer=scorer,
        policy=policy,
        planner=GapPlanner(local.encoder),
        answerer=ExtractiveAnswerer(local.encoder),
        budget=settings.budget,
    )
