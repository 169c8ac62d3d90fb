"""What a fit saves and the scorer loads: settings as JSON, everything larger in one safetensors file beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, model_validator

from ..errors import ProfileError, ProfileMismatchError
from ..profile import Origin, ReaderStatistics, Strict
from ..size import SizeCorrection
from .settings import ReaderSettings
from .storage import Tensors, pack, read_file, read_tensors, replace_file

READERS = ("content", "span", "latent")
ROLES = ("words", "reranker", "span", "latent")
FILE = "paper.json"
MAX_JSON_BYTES = 2**20
MAX_TENSOR_BYTES = 64 * 2**20

_Text = Annotated[str, Field(min_length=1, max_length=4096)]
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class BackboneEntry(Strict):
    """A model that the statistics belong to."""

    name: _Text
    """A hub id, a short name, or a folder inside the profile's folder."""
    fingerprint: _Sha256
    """Of its content; of `words` that of `tokenizer.json` alone."""


class PaperSettings(Strict):
    """What a profile was fitted for and on."""

    name: _Text
    backbones: dict[str, BackboneEntry]
    """By role: `words`, `reranker`, `span`, `latent`."""
    settings: ReaderSettings
    average_tokens: Annotated[float, Field(gt=0)]
    """WordPieces of an average passage, for the canonical order."""
    held_out: tuple[_Text, ...] = ()
    """Families of datasets that nothing here has seen."""
    origin: Origin

    @model_validator(mode="after")
    def _each_role_has_a_backbone(self) -> Self:
        if set(self.backbones) != set(ROLES):
            raise ValueError(f"backbones must be exactly {', '.join(ROLES)}, they are {sorted(self.backbones)}")
        return self


class _Statistics(ReaderStatistics):
    """Size trend and scale of one reader; knots and values of its curve are tensors."""

    limit: Annotated[int, Field(ge=0)] | None


class _File(Strict):
    """The JSON file."""

    format: Literal[1] = 1
    kind: Literal["paper"] = "paper"
    fitted: PaperSettings
    readers: dict[str, _Statistics]
    tensors_sha256: _Sha256
    """Content of the safetensors file, whose name holds the first 16 digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperProfile:
    """Settings, statistics and everything fitted for one combination of backbones.

    Raises:
        ProfileError: a part has the wrong shape or holds a value that is not finite.
        ProfileMismatchError: the size corrections are not exactly those of the three readers (case S03).
    """

    settings: PaperSettings
    idf: NDArray[np.float32]
    """By WordPiece id, shape `(vocabulary,)`."""
    head: NDArray[np.float64]
    """Weights of the content features, shape `(n_features,)`; raw content is their product."""
    direction: NDArray[np.float32]
    """Sufficient minus insufficient, shape `(dims,)`; raw latent is its product with the state."""
    corrections: Mapping[str, SizeCorrection]
    """By reader: `content`, `span`, `latent`. Only the last two may have a curve."""

    def __post_init__(self) -> None:
        features = 2 * len(self.settings.settings.quantiles)
        if self.head.shape != (features,):
            raise self._bad(f"the head must weigh {features} features, its shape is {self.head.shape}")
        for name, values in (("idf", self.idf), ("head", self.head), ("direction", self.direction)):
            if values.ndim != 1 or not values.size or not np.isfinite(values).all():
                raise self._bad(f"{name} must be one row of finite numbers, its shape is {values.shape}")
        if set(self.corrections) != set(READERS):
            raise ProfileMismatchError(
                f"Profile {self.settings.name!r} has statistics of {', '.join(sorted(self.corrections))}, the "
                f"readers are {', '.join(READERS)}. Scores of one reader cannot be put on the scale of another: "
                "fit a profile for these readers."
            )
        if self.corrections["content"].limit is not None:
            raise self._bad("content has no size curve, its trend holds for every size, but there is a limit")

    def _bad(self, what: str) -> ProfileError:
        return ProfileError(f"Profile {self.settings.name!r}: {what}. Fit it again with: sufficit fit")

    @property
    def fingerprint(self) -> str:
        """sha256 (hex) of all settings, statistics and tensors."""
        return hashlib.sha256(self._json(pack(self._tensors()))).hexdigest()

    def check_backbones(self, found: Mapping[str, tuple[str, str]]) -> None:
        """Make sure that the statistics belong to these models.

        Args:
            found: Name and fingerprint by role, as `PaperBackbones.fingerprints` gives them.

        Raises:
            ProfileMismatchError: one is another model; says which (case S03).
        """
        for role in ROLES:
            expected, (name, fingerprint) = self.settings.backbones[role], found[role]
            if fingerprint != expected.fingerprint:
                raise ProfileMismatchError(
                    f"Profile {self.settings.name!r} was fitted with {expected.name} "
                    f"({expected.fingerprint[:8]}...) as {role}, this is {name} ({fingerprint[:8]}...). "
                    "Use that model, or fit a profile for this one."
                )

    def save(self, folder: Path) -> None:
        """Write the profile: whole, or nothing that `load` would take for one.

        The tensors get a name that holds their hash, then the JSON file that names them replaces the former one; a
        profile that was there before stays readable until that moment.

        Raises:
            ProfileError: the folder cannot be written.
        """
        tensors = pack(self._tensors())
        name = _tensor_name(hashlib.sha256(tensors).hexdigest())
        try:
            folder.mkdir(parents=True, exist_ok=True)
            replace_file(folder / name, tensors)
            replace_file(folder / FILE, self._json(tensors))
            for old in set(folder.glob("paper-*.safetensors")) - {folder / name}:
                old.unlink()
        except OSError as error:
            raise ProfileError(
                f"The profile cannot be written to {folder}: {error}. Name another folder."
            ) from error

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote.

        Raises:
            ProfileError: a file is missing, too large, not the expected one, or does not hold what it should.
            ProfileMismatchError: it holds statistics of other readers.
        """
        path = folder / FILE
        try:
            file = _File.model_validate_json(read_file(path, MAX_JSON_BYTES))
        except ValidationError as error:
            raise ProfileError(f"{path} is no profile: {error}") from error
        sha256 = file.tensors_sha256
        tensors = read_tensors(folder / _tensor_name(sha256), sha256, MAX_TENSOR_BYTES)
        try:
            return cls(
                settings=file.fitted,
                idf=tensors["idf"].astype(np.float32),
                head=tensors["head"].astype(np.float64),
                direction=tensors["direction"].astype(np.float32),
                corrections={name: _correction(name, values, tensors) for name, values in file.readers.items()},
            )
        except KeyError as error:
            raise ProfileError(f"{folder}: there is no tensor {error}. Fit the profile again.") from error
        except ValueError as error:
            raise ProfileError(f"{folder}: a size correction contradicts itself. {error}") from error

    def _json(self, tensors: bytes) -> bytes:
        readers = {
            name: _Statistics(alpha=it.alpha, beta=it.beta, mu=it.mu, sigma=it.sigma, limit=it.limit)
            for name, it in sorted(self.corrections.items())
        }
        sha256 = hashlib.sha256(tensors).hexdigest()
        file = _File(fitted=self.settings, readers=readers, tensors_sha256=sha256)
        return file.model_dump_json(indent=2).encode() + b"\n"

    def _tensors(self) -> Tensors:
        curves = {name: it for name, it in self.corrections.items() if it.knots}
        return {
            "idf": self.idf,
            "head": self.head,
            "direction": self.direction,
            **{f"{name}.knots": np.array(it.knots) for name, it in curves.items()},
            **{f"{name}.values": np.array(it.values) for name, it in curves.items()},
        }


def _correction(name: str, statistics: _Statistics, tensors: Mapping[str, NDArray[Any]]) -> SizeCorrection:
    has_curve = f"{name}.knots" in tensors
    return SizeCorrection(
        alpha=statistics.alpha,
        beta=statistics.beta,
        mu=statistics.mu,
        sigma=statistics.sigma,
        limit=statistics.limit,
        knots=tuple(tensors[f"{name}.knots"].tolist()) if has_curve else (),
        values=tuple(tensors[f"{name}.values"].tolist()) if has_curve else (),
    )


def _tensor_name(sha256: str) -> str:
    return f"paper-{sha256[:16]}.safetensors"
