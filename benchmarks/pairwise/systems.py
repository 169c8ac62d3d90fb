"""The scorers that a command line names, each with the way to make it in a process of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module

from rinse import SufficiencyScorer

from ..errors import SettingsError

SHIPPED = ("rinse-small", "minilm-cosine")
"""Names that `resolve` knows without a module."""

MakeScorer = Callable[[], SufficiencyScorer]


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A scorer before it is made."""

    name: str
    """As tables print it."""
    make: Callable[[str | None], SufficiencyScorer]
    """Makes it without what was fitted on a family, None = with everything; picklable by name."""

    def maker(self, without: str | None) -> MakeScorer:
        """Makes it, picklable by name."""
        return partial(self.make, without)


def resolve(name: str) -> System:
    """The scorer of this name: one of `SHIPPED`, or `package.module:factory` for one of your own.

    A factory takes no argument, or `without`, the family of datasets that nothing in it may have been fitted on.
    It runs with your rights: name only code that you trust.

    Raises:
        SettingsError: there is no such scorer, or the factory cannot be imported.
    """
    if name in SHIPPED:
        return System(name=name, make=partial(_make_shipped, name))
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise SettingsError(
            f"Unknown scorer {name!r}. Known: {', '.join(SHIPPED)}; a scorer of your own is named "
            "package.module:factory. Cues stand in every table and need not be named."
        )
    _factory(module, attribute)
    return System(name=name, make=partial(_make_own, module, attribute))


def _make_shipped(name: str, without: str | None) -> SufficiencyScorer:
    if name == "rinse-small":
        from rinse.scorer import RinseScorer

        return RinseScorer.small(without=without)
    from rinse.baselines.cosine import CosineScorer

    return CosineScorer.minilm()


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
