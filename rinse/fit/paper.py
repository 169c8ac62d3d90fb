"""What a fit of the profile `paper` is asked for, and the profile made from its parts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path

from retrieval.index.encoder import DEFAULT_ENCODER

from ..paper.lexicon import Lexicon
from ..paper.outputs import DEFAULT_LATENT, DEFAULT_RERANKER, DEFAULT_SPAN_BASE, PaperBackbones
from ..paper.profile import BackboneEntry, PaperProfile, PaperSettings
from ..paper.settings import ReaderSettings
from ..profile import Origin
from .folds import PENALTY, LightParts
from .groups import TrainingGroup
from .report import count_families, warnings_of
from .selection import Selection
from .span_training import SpanTraining

PADDING = (5, 20, 50, 100)
"""Passages added to records; the paper pads by 5 to 100 (section 4)."""
_LIBRARIES = ("numpy", "safetensors", "scipy", "tokenizers", "torch", "transformers")


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFit:
    """Everything that decides what is fitted; the defaults are the paper's."""

    pairs: tuple[Path, ...]
    """Files of `stream_pairs`."""
    out: Path
    """Folder of the profile."""
    words: str = DEFAULT_ENCODER
    """Whose WordPieces make the windows."""
    reranker: str = DEFAULT_RERANKER
    span: str = DEFAULT_SPAN_BASE
    """What the span reader's training begins with; without training the reader itself."""
    latent: str = DEFAULT_LATENT
    settings: ReaderSettings = field(default_factory=ReaderSettings)
    """How the readers read."""
    training: SpanTraining | None = field(default_factory=SpanTraining)
    """How the span reader is trained; None = not at all."""
    without: tuple[str, ...] = ()
    """Families that nothing sees."""
    families: Mapping[str, str] = field(default_factory=dict)
    """Another family for some: the names of datasets made those of families."""
    shared: tuple[str, ...] = ()
    """Families that make what all folds share, span reader and IDF; empty = all that are not left out."""
    folds: bool = False
    """Whether to fit a profile without each family too."""
    padding: tuple[int, ...] = PADDING
    """How many passages of other questions are added to each record; a copy each."""
    limit: int | None = None
    """Most groups of a construction of a family, drawn by their content; None = all."""
    penalty: float = PENALTY
    """See `folds.PENALTY`."""
    seed: int = 0
    device: str = "cpu"

    @property
    def selection(self) -> Selection:
        """Which groups are read."""
        return Selection(
            pairs=self.pairs,
            families=self.families,
            without=frozenset(self.without),
            named={"--without": self.without, "--shared": self.shared},
            limit=self.limit,
            folds=self.folds,
        )

    def plan(self, backbones: Mapping[str, tuple[str, str]]) -> dict[str, object]:
        """All of it but the places of files, with their content, as JSON values."""
        return {
            "files": [[path.name, _sha256(path)] for path in self.pairs],
            "backbones": {role: list(found) for role, found in backbones.items()},
            "settings": self.settings.model_dump(mode="json"),
            "training": None if self.training is None else asdict(self.training),
            "without": sorted(self.without),
            "families": dict(sorted(self.families.items())),
            "shared": sorted(self.shared),
            "folds": self.folds,
            "padding": sorted(set(self.padding)),
            "limit": self.limit,
            "penalty": self.penalty,
            "seed": self.seed,
            "device": self.device,
            "versions": versions(),
        }


def versions() -> dict[str, str]:
    """Of the libraries that take part."""
    return {name: metadata.version(name) for name in _LIBRARIES}


def readers_key(backbones: PaperBackbones, lexicon: Lexicon, settings: ReaderSettings, device: str) -> str:
    """sha256 (hex) of all that a reading depends on besides question and passages."""
    parts = [
        backbones.fingerprints(),
        settings.model_dump(mode="json"),
        hashlib.sha256(lexicon.idf.tobytes()).hexdigest(),
        lexicon.average_tokens,
        device,
        versions(),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def make_profile(
    fit: PaperFit,
    parts: LightParts,
    *,
    backbones: PaperBackbones,
    names: Mapping[str, str],
    lexicon: Lexicon,
    without: Sequence[str],
    held_out: Sequence[str],
    kept: Sequence[TrainingGroup],
) -> PaperProfile:
    """The profile of one fold.

    Args:
        fit: What was asked for.
        parts: What was fitted.
        backbones: What the statistics belong to.
        names: By role, under which the scorer will find them.
        lexicon: With the IDF that all folds share.
        without: Families that the light parts have not seen.
        held_out: Families that nothing has seen, the shared parts included.
        kept: Groups that the light parts were fitted on.
    """
    unclean = sorted(set(without) - set(held_out))
    note = (
        f"Head, direction and size corrections fitted on {parts.pairs} pairs in {parts.groups} groups of "
        f"{', '.join(name for name, _ in count_families(kept))}. Equal weights; the backbones are frozen"
        + (", the span reader's training aside." if fit.training is not None else ".")
        + (f" Span reader and IDF have seen {', '.join(unclean)}." if unclean else "")
    )
    note = " ".join((note, *warnings_of(kept)))
    entries = {
        role: BackboneEntry(name=names[role], fingerprint=fingerprint)
        for role, (_, fingerprint) in backbones.fingerprints().items()
    }
    return PaperProfile(
        settings=PaperSettings(
            name="-".join(["paper", *(["without", *sorted(without)] if without else [])]),
            backbones=entries,
            settings=fit.settings,
            average_tokens=lexicon.average_tokens,
            held_out=tuple(sorted(held_out)),
            origin=Origin(
                note=note,
                files=tuple(path.name for path in fit.pairs),
                records=parts.groups,
                seed=fit.seed,
                versions=versions(),
            ),
        ),
        idf=lexicon.idf,
        head=parts.head,
        direction=parts.direction,
        corrections=parts.corrections,
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
