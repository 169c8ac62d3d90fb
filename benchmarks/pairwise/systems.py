"""The scorers that a command line names, each with the way to make it in a process of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from retrieval.index.encoder import DEFAULT_ENCODER
from rinse import SufficiencyScorer
from rinse.baselines.catalog import ENTRIES, rival
from rinse.baselines.rival import Parts, Reads, Rival

from ..errors import SettingsError

if TYPE_CHECKING:
    from agent.llm.endpoint import Endpoint

REFERENCE = "rinse-small"
ODDS = "rinse-odds"
"""Ours with the head that compares multi-hop questions; no part of `all`, whose tables compare sets of one."""
SHIPPED = (REFERENCE, *(one.name for one in ENTRIES))
"""Names that `resolve` knows without a module."""
WEIGHTS_NEEDED = frozenset(weights for one in ENTRIES for weights in one.needs)
"""Names under which rivals look for weights."""
ASKED = "sufficient-context"
"""The rival that works with any generator: `sufficient-context@endpoint` asks the model under [llm], and
`sufficient-context@endpoint:MODEL` another one of its server."""
RIVALS = "rivals"
"""Stands for all rivals whose weights are on this machine."""
EVERY = "all"
"""Stands for ours and `RIVALS`."""

MakeScorer = Callable[[], SufficiencyScorer]
Who: TypeAlias = tuple[str, str | None]
"""A system by name, and the family that it was fitted without; None = fitted with everything, or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Where rivals find their weights, and where they keep the answers that they share. Picklable, hashable."""

    folders: tuple[tuple[str, str], ...] = ()
    """Names of weights, each with a folder or a hub id that stands for it."""
    answers: Path | None = None
    """Folder of shared answers; None = each scorer generates its own."""

    def parts(self) -> Parts:
        """What rivals are made of; the same object, with its models, for the same settings in one process."""
        return _parts(self)


NOTHING_GIVEN = Weights()
"""Weights are found by their names, answers are not shared."""


@cache
def _parts(weights: Weights) -> Parts:
    from .answers import FolderAnswers

    answers = FolderAnswers(weights.answers) if weights.answers else None
    return Parts(dict(weights.folders), answers=answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A scorer before it is made."""

    name: str
    """As tables print it."""
    make: Callable[[str | None], SufficiencyScorer]
    """Makes it without what was fitted on a family, None = with everything; picklable by name."""
    fitted: bool = True
    """Whether `make` heeds the family: whether something in it was fitted by us."""
    sampled: bool = False
    """Whether it reads the sample alone, since a side takes it seconds."""
    title: str = ""
    source: str = ""
    reads: Reads = "evidence"
    backbone: str | None = None
    """Weights by name; None = it has none, or does not say."""
    cost: str = ""
    missing: tuple[str, ...] = ()
    """Names of weights that are not on this machine; it cannot run then."""

    def maker(self, without: str | None) -> MakeScorer:
        """Makes it, picklable by name."""
        return partial(self.make, without)

    def who(self, without: str | None) -> Who:
        """Identifies what is made without a family."""
        return self.name, without if self.fitted else None


def resolve(name: str, weights: Weights = NOTHING_GIVEN) -> System:
    """The scorer of this name: one of `SHIPPED`, or `package.module:factory` for one of your own.

    A factory takes no argument, or `without`, the family of datasets that nothing in it may have been fitted on.
    It runs with your rights: name only code that you trust.

    Raises:
        SettingsError: there is no such scorer, or the factory cannot be imported.
        BackboneCorruptError: weights are on this machine and cannot be read.
        ConfigError: no endpoint is set under [llm], or one that cannot work.
    """
    method, at, behind = name.partition("@")
    if at and method == ASKED:
        from ..endpoints import named_endpoint  # the endpoint's client is loaded where one is asked for

        endpoint = named_endpoint(behind)
        if endpoint is not None:
            return _asked_system(name, endpoint)
    for one in ENTRIES:
        if one.name == name:
            return _rival_system(one, weights)
    if name in _OURS:
        title, source, make = _OURS[name]
        return System(
            name=name,
            make=make,
            title=title,
            source=source,
            backbone=DEFAULT_ENCODER,
            cost="one encoder pass for new passages, nothing decoded",
        )
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise SettingsError(
            f"Unknown scorer {name!r}. Known: {ODDS}, {', '.join(SHIPPED)}; {EVERY} or {RIVALS} for those that "
            f"run here; {ASKED}@endpoint for a model behind an endpoint; your own is package.module:factory. "
            "Cues stand in every table and need not be named."
        )
    _factory(module, attribute)
    return System(name=name, make=partial(_make_own, module, attribute), title=name)


def resolve_all(names: Iterable[str], weights: Weights) -> tuple[list[System], list[System]]:
    """The scorers of these names, and those that `all` or `rivals` would hold if their weights were here.

    Raises:
        SettingsError: see `resolve`; a scorer twice; or weights of a scorer that was named itself are not here.
    """
    run: list[System] = []
    absent: list[System] = []
    for name in names:
        named = {EVERY: SHIPPED, RIVALS: SHIPPED[1:]}.get(name)
        for system in [resolve(one, weights) for one in named or (name,)]:
            if system.missing and named is None:
                raise SettingsError(_unavailable(system))
            if not any(system.name == other.name for other in (*run, *absent)):
                (absent if system.missing else run).append(system)
            elif named is None:
                raise SettingsError(f"Every scorer once, got {name} twice.")
    return run, absent


def _unavailable(system: System) -> str:
    names = ", ".join(system.missing)
    return (
        f"The scorer {system.name} needs {names}, not on this machine. Give --weights NAME=FOLDER, a folder that "
        f"holds config.json, tokenizer.json and model.safetensors, or --scorer {EVERY} for what runs here."
    )


def _rival_system(one: Rival, weights: Weights) -> System:
    parts = Parts(dict(weights.folders))
    return System(
        name=one.name,
        make=partial(_make_rival, one.name, weights),
        fitted=False,
        sampled=one.heavy,
        title=one.title,
        source=one.source,
        reads=one.reads,
        backbone=" + ".join(Path(parts.where(name)).name for name in one.needs) or None,
        cost=one.cost,
        missing=one.missing(parts),
    )


def _asked_system(name: str, endpoint: Endpoint) -> System:
    about = rival(ASKED)
    return System(
        name=name,
        make=partial(_make_asked, endpoint),
        fitted=False,
        sampled=True,
        title=about.title,
        source=about.source,
        backbone=endpoint.model,
        cost="one call of the endpoint, up to 12 tokens decoded",
    )


def _make_asked(endpoint: Endpoint, _: str | None) -> SufficiencyScorer:
    from agent.llm.chat_generator import ChatGenerator
    from rinse.baselines.sufficient_context import SufficientContextScorer

    return SufficientContextScorer(ChatGenerator(endpoint))


def _make_rival(name: str, weights: Weights, _: str | None) -> SufficiencyScorer:
    return rival(name).make(weights.parts())


def _make_small(without: str | None) -> SufficiencyScorer:
    from rinse.scorer import RinseScorer

    return RinseScorer.small(without=without)


def _make_odds(without: str | None) -> SufficiencyScorer:
    from rinse.odds import OddsScorer

    return OddsScorer.small(without=without)


_OURS = {
    REFERENCE: ("RINSE, profile small", "RINSE 2026; this framework", _make_small),
    ODDS: ("RINSE, log-odds over questions", "this framework", _make_odds),
}
"""Titles, sources and makers of what shares MiniLM's readings."""


def _make_own(module: str, attribute: str, without: str | None) -> SufficiencyScorer:
    factory = _factory(module, attribute)
    if without is None:
        made: SufficiencyScorer = factory()
        return made
    if "without" not in inspect.signature(factory).parameters:
        raise SettingsError(
            f"{module}:{attribute} takes no argument `without`, so it cannot be held out from {without!r}. Leave "
            "--held-out out, or give the factory that argument."
        )
    held_out: SufficiencyScorer = factory(without=without)
    return held_out


def _factory(module: str, attribute: str) -> Callable[..., SufficiencyScorer]:
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SettingsError(
            f"Cannot import the scorer {module}:{attribute}: {error}. The module must be importable from the "
            "current folder."
        ) from error
    if not callable(found):
        raise SettingsError(f"{module}:{attribute} is a {type(found).__name__}. Expected a function or a class.")
    factory: Callable[..., SufficiencyScorer] = found
    return factory
