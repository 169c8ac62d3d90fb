"""`sufficit fit`, parsed: which profile, and what each option means for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from .errors import ConfigError

if TYPE_CHECKING:
    from rinse.fit.report import FitProgress, FitReport

ONLY: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "small": frozenset({"name", "work", "lineage"}),
        "paper": frozenset(
            {"words", "reranker", "span", "latent", "layer", "shared", "span_epochs", "train_span", "device"}
        ),
    }
)
"""Options that one profile has and the other has not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitRequest:
    """The command line; a name of a model that is None is the profile's own."""

    pairs: tuple[Path, ...]
    out: Path
    name: str | None
    work: Path | None
    lineage: Mapping[str, tuple[str, ...]]
    words: str | None
    reranker: str | None
    span: str | None
    latent: str | None
    layer: int | None
    without: tuple[str, ...]
    families: Mapping[str, str]
    shared: tuple[str, ...]
    folds: bool
    padding: tuple[int, ...] | None
    limit: int | None
    span_epochs: int
    train_span: bool
    device: str
    seed: int


Fitter: TypeAlias = "Callable[[FitRequest, Callable[[FitProgress], None]], FitReport]"


def check_options(profile: str, given: Mapping[str, str]) -> None:
    """Make sure that the profile is known and has all options that were given.

    Args:
        profile: Its name.
        given: By option, as `ONLY` names it, what a person wrote for it: `train_span` may be `--no-train-span`.

    Raises:
        ConfigError: it is not, or an option belongs to another profile.
    """
    if profile not in FITTERS:
        raise ConfigError(f"--profile {profile}: there are {', '.join(sorted(FITTERS))}.")
    for owner, options in ONLY.items():
        strange = [flag for option, flag in given.items() if option in options and owner != profile]
        if strange:
            verb = "belongs" if len(strange) == 1 else "belong"
            raise ConfigError(
                f"{', '.join(strange)} {verb} to --profile {owner}, this fits the profile {profile}. "
                f"Leave out what belongs to the other, or say --profile {owner}."
            )


def _fit_small(request: FitRequest, progress: Callable[[FitProgress], None]) -> FitReport:
    from rinse.fit.small import PADDING, SmallFit
    from rinse.fit.small_job import fit_small

    made = SmallFit(
        pairs=request.pairs,
        out=request.out,
        name=request.name,
        work=request.work,
        without=request.without,
        families=request.families,
        lineage=request.lineage,
        folds=request.folds,
        padding=PADDING if request.padding is None else request.padding,
        limit=request.limit,
        seed=request.seed,
    )
    return fit_small(made, progress=progress)


def _fit_paper(request: FitRequest, progress: Callable[[FitProgress], None]) -> FitReport:
    from rinse.fit.job import fit_paper
    from rinse.fit.paper import PADDING, PaperFit
    from rinse.fit.span_training import SpanTraining
    from rinse.paper.settings import ReaderSettings

    names = {role: getattr(request, role) for role in ("words", "reranker", "span", "latent")}
    training = SpanTraining(epochs=request.span_epochs, seed=request.seed, device=request.device)
    made = PaperFit(
        pairs=request.pairs,
        out=request.out,
        settings=ReaderSettings() if request.layer is None else ReaderSettings(layer=request.layer),
        training=training if request.train_span else None,
        without=request.without,
        families=request.families,
        shared=request.shared,
        folds=request.folds,
        padding=PADDING if request.padding is None else request.padding,
        limit=request.limit,
        seed=request.seed,
        device=request.device,
        **{role: name for role, name in names.items() if name is not None},
    )
    return fit_paper(made, progress=progress)


FITTERS: Mapping[str, Fitter] = MappingProxyType({"small": _fit_small, "paper": _fit_paper})
"""How each profile is fitted."""
