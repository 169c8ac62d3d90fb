"""From settings to an agent that is ready to search."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from policies import StopPolicy
from rinse import RinseScorer

from .answer import ExtractiveAnswerer
from .config import Settings, load_settings
from .identity import search_identity
from .loop import SearchAgent
from .observe import ProbeObserver
from .opening import open_tiers
from .parts import LoopSettings
from .policy import budget_of, certificate_of, choose_policy
from .query import GapPlanner
from .ranking import ChainRanker
from .seams import Answerer, Observer, QueryPlanner, Ranker
from .views import Views
from .watch import watch_of

if TYPE_CHECKING:
    from .llm.client import ChatClient


def open_agent(index: Path | str | None = None, *, settings: Settings | None = None) -> SearchAgent:
    """An agent over the tiers that are set, the local index alone by default, with the default scorer.

    Blocking: opens the tiers and loads the backbone (a few seconds the first time). With the tier "web", and with
    a planner or an answerer "llm", the agent holds connections: use it as `async with open_agent(...) as agent:`,
    or call `run_sync`. With a cache `aclose` lets its files go, too.

    Args:
        index: Folder of the index; None = the one that the settings name.
        settings: None = read flags from nowhere, `SUFFICIT_*` and `sufficit.toml`.

    Raises:
        ConfigError: a tier lacks what it needs, as an index that is not named; a setting is out of range; or a
            language model is wanted and no endpoint set.
        RetrievalError: the index, the cache or the backbone cannot be opened; says what to do.
        PolicyError: the policy cannot be built from the settings.
        CertificateError: the certificate cannot be read, or belongs to other searches.
        RinseError: the scorer's profile cannot be read, or belongs to another encoder.
    """
    settings = settings or load_settings()
    folder = Path(index) if index is not None else settings.index
    client = _client(settings)  # a fault of the settings shows before the wait
    opened = open_tiers(settings, folder)
    scorer = RinseScorer.small(encoder=opened.encoder)
    identity = search_identity(
        scorer=scorer.fingerprint,
        tiers=opened.tiers,
        budget=settings.budget,
        queries_per_turn=settings.queries_per_turn,
        planner=settings.planner,
        index=opened.index.info if opened.index else None,
    )
    certificate = certificate_of(settings, identity)
    policy = choose_policy(settings, identity, certificate)
    views = Views()
    ranker, answerer = ChainRanker(views=views), ExtractiveAnswerer(opened.encoder)
    return SearchAgent(
        tiers=opened.tiers,
        scorer=scorer,
        policy=policy,
        budget=budget_of(settings, policy),
        planner=_planner(settings, client, GapPlanner(views=views)),
        answerer=_answerer(settings, client, answerer),
        observers=_observers(settings, policy, client, ProbeObserver(answerer, ranker), ranker),
        ranker=ranker,
        settings=_loop_settings(settings, client),
        watch=watch_of(certificate),
        identity=identity,
        connections=[*opened.connections, *([client] if client else [])],
    )


def _client(settings: Settings) -> ChatClient | None:
    """The language model, if a part is to use it. httpx is imported only then."""
    asks = (settings.policy or "").startswith("llm-")
    if "llm" not in {settings.planner, settings.answerer} and not asks:
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


def _observers(
    settings: Settings, policy: StopPolicy, client: ChatClient | None, probe: Observer, ranker: Ranker
) -> list[Observer]:
    """Those that the policy requires and that there are."""
    observers = [probe]
    if client is not None and policy.requires & {"llm_stop", "llm_sufficient"}:
        from .llm_observers import LlmStopObserver, LlmSufficientObserver

        tokens = settings.llm.context_tokens
        observers += [
            kind(client, ranker, context_tokens=tokens, max_tokens=settings.llm.max_tokens)
            for kind in (LlmStopObserver, LlmSufficientObserver)
        ]
    return [observer for observer in observers if observer.name in policy.requires]


def _loop_settings(settings: Settings, client: ChatClient | None) -> LoopSettings:
    """The loop waits longer than the model may take, so that the simpler part has its turn where it fails."""
    usual = LoopSettings(
        queries_per_turn=settings.queries_per_turn, max_age=settings.max_age, tenant=settings.tenant
    )
    wait = client.endpoint.timeout_seconds if client else 0.0
    return replace(
        usual,
        plan_seconds=wait + usual.plan_seconds,
        observe_seconds=wait + usual.observe_seconds,
        answer_seconds=wait + usual.answer_seconds,
    )
