"""From settings to an agent that is ready to search."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from policies import Budget, StopPolicy, build_policy
from policies.fixed import FixedK
from policies.shipped import shipped_thresholds
from retrieval import Tier
from retrieval.index import LocalIndex, LocalTier
from rinse import RinseScorer

from .answer import ExtractiveAnswerer
from .config import Settings, load_settings
from .errors import ConfigError
from .loop import SearchAgent
from .parts import LoopSettings
from .query import GapPlanner
from .ranking import ChainRanker
from .seams import Answerer, QueryPlanner
from .views import Views

if TYPE_CHECKING:
    from .llm.client import ChatClient


def open_agent(index: Path | str | None = None, *, settings: Settings | None = None) -> SearchAgent:
    """An agent over the local index in the folder `index`, with the default scorer and the parts that are set.

    Blocking: opens the index and loads the backbone (a few seconds the first time). With a planner or an answerer
    "llm" the agent holds connections: use it as `async with open_agent(...) as agent:`, or call `run_sync`.

    Args:
        index: Folder of the index; None = the one that the settings name.
        settings: None = read flags from nowhere, `SUFFICIT_*` and `sufficit.toml`.

    Raises:
        ConfigError: no index is named, a setting is out of range, or a language model is wanted and no endpoint
            set.
        RetrievalError: the index or the backbone cannot be opened; says what to do.
        PolicyError: the policy cannot be built from the settings.
        RinseError: the scorer's profile cannot be read, or belongs to another encoder.
    """
    settings = settings or load_settings()
    folder = Path(index) if index is not None else settings.index
    if folder is None:
        raise ConfigError(
            'No index is named. Pass --index DIR, set SUFFICIT_INDEX, or write index = "DIR" into sufficit.toml; '
            "build one with: sufficit index build CORPUS --out DIR"
        )
    client = _client(settings)  # a fault of the settings shows before the wait
    local = LocalIndex.open(folder)
    local.warm()
    scorer = RinseScorer.small(encoder=local.encoder)
    policy = _policy(settings, scorer.fingerprint)
    views = Views()
    return SearchAgent(
        tiers=[Tier(name="local", retriever=LocalTier(local), k=settings.k)],
        scorer=scorer,
        policy=policy,
        budget=_budget(settings, policy),
        planner=_planner(settings, client, GapPlanner(views=views)),
        answerer=_answerer(settings, client, ExtractiveAnswerer(local.encoder)),
        ranker=ChainRanker(views=views),
        settings=_loop_settings(settings, client),
        connections=[client] if client else [],
    )


def _client(settings: Settings) -> ChatClient | None:
    """The language model, if a part is to use it. httpx is imported only then."""
    if "llm" not in {settings.planner, settings.answerer}:
        return None
    endpoint = settings.llm.endpoint()
    from .llm.client import ChatClient

    return ChatClient(endpoint)


def _planner(settings: Settings, client: ChatClient | None, simple: QueryPlanner) -> QueryPlanner:
    if client is None or settings.planner != "llm":
        return simple
    from .llm_planner import LlmPlanner

    tokens = settings.llm.context_tokens
    return LlmPlanner(client, simple, context_tokens=tokens, max_tokens=settings.llm.max_tokens)


def _answerer(settings: Settings, client: ChatClient | None, simple: Answerer) -> Answerer:
    if client is None or settings.answerer != "llm":
        return simple
    from .llm_answerer import LlmAnswerer

    tokens = settings.llm.context_tokens
    return LlmAnswerer(client, simple, context_tokens=tokens, max_tokens=settings.llm.max_tokens)


def _loop_settings(settings: Settings, client: ChatClient | None) -> LoopSettings:
    """The loop waits longer than the model may take, so that the simpler part has its turn where it fails."""
    usual = LoopSettings(queries_per_turn=settings.queries_per_turn)
    wait = client.endpoint.timeout_seconds if client else 0.0
    return replace(usual, plan_seconds=wait + usual.plan_seconds, answer_seconds=wait + usual.answer_seconds)


def _policy(settings: Settings, scorer: str) -> StopPolicy:
    """The policy that the settings name, with the shipped thresholds where they give none."""
    shipped = shipped_thresholds(scorer)
    given = (settings.answer_at, settings.abstain_below)
    if settings.policy.startswith("fixed-"):  # looks at no score
        return build_policy(settings.policy, answer_at=0.0, abstain_below=0.0)
    if shipped is None and None in given:
        raise ConfigError(
            f"No thresholds were shipped for the scorer {scorer[:12]}. Pass --answer-at and --abstain-below; find "
            "them on your own questions with: python -m benchmarks thresholds --help"
        )
    answer_at, abstain_below = given
    if shipped is not None:
        answer_at = shipped.answer_at if answer_at is None else answer_at
        abstain_below = min(shipped.abstain_below, answer_at) if abstain_below is None else abstain_below
    assert answer_at is not None  # noqa: S101  both were given, or were shipped
    assert abstain_below is not None  # noqa: S101
    return build_policy(
        settings.policy,
        answer_at=answer_at,
        abstain_below=abstain_below,
        min_turns=settings.min_turns or (shipped.min_turns if shipped else 1),
        patience=settings.patience,
    )


def _budget(settings: Settings, policy: StopPolicy) -> Budget:
    """A policy of K calls has a budget of exactly K: a turn of two queries must not pass it by one."""
    budget = settings.budget
    return replace(budget, max_calls=policy.k, max_turns=None) if isinstance(policy, FixedK) else budget
