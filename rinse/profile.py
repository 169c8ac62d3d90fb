"""A profile: which backbone, which settings, and everything that was fitted for them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from .errors import ProfileError, ProfileMismatchError
from .size import SizeCorrection

MAX_JSON_BYTES = 2**20
MAX_IDF_BYTES = 16 * 2**20

FITTED = frozenset({"2wiki", "hotpotqa", "musique", "nq", "other", "squad"})
"""Families of datasets whose files for fitting the profile `small` has seen."""
FOLDS = ("2wiki", "hotpotqa", "musique", "squad")
"""Families for which there is a profile that has not seen them, nor what their questions were composed from."""

SHIPPED = Path(str(resources.files("rinse") / "weights"))
"""Folder of what comes with the package."""
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def fold_name(family: str) -> str:
    """Name of the profile that has not seen a family."""
    return f"small-without-{family}"


def small_name(without: str | None) -> str:
    """Name of the shipped profile that has not seen a family; see `Profile.small`.

    Raises:
        ProfileError: the family took part, and no profile without it was fitted.
    """
    if without in FITTED and without not in FOLDS:
        raise ProfileError(
            f"No profile was fitted without {without!r}; there is one without each of {', '.join(FOLDS)}."
        )
    return fold_name(without) if without in FOLDS else "small"


def shipped_file(name: str) -> Path:
    """Where the file of this name lies that comes with the package."""
    return SHIPPED / f"{name}.json"


class Strict(BaseModel):
    """A part of a file of fitted numbers, in which unknown keys and numbers that are not finite are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class WindowSettings(Strict):
    """Overlapping windows of question tokens."""

    size: Annotated[int, Field(ge=1, le=64)]
    stride: Annotated[int, Field(ge=1, le=64)]

    @model_validator(mode="after")
    def _no_token_is_skipped(self) -> Self:
        if self.stride > self.size:
            raise ValueError(f"the stride {self.stride} skips tokens of windows of {self.size}")
        return self


class ReaderStatistics(Strict):
    """A reader's size trend and scale; see `rinse.size.SizeCorrection`."""

    alpha: float
    beta: float
    mu: float
    sigma: Annotated[float, Field(gt=0)]


class FittedReader(ReaderStatistics):
    """What was fitted of one reader of `small`: its conditional-logistic head, size trend and scale."""

    head: Annotated[dict[str, float], Field(min_length=1)]
    """Weight of each of its features, by name; the raw score is their weighted sum."""
    limit: Annotated[int, Field(ge=0)] | None = None
    knots: tuple[float, ...] = ()
    values: tuple[float, ...] = ()

    @model_validator(mode="after")
    def _trend_is_one(self) -> Self:
        _ = self.correction  # raises ValueError where the parts contradict each other
        return self

    @property
    def correction(self) -> SizeCorrection:
        """Size trend and scale as a function of raw score and size, see `rinse.size.SizeCorrection`."""
        return SizeCorrection(
            alpha=self.alpha,
            beta=self.beta,
            mu=self.mu,
            sigma=self.sigma,
            limit=self.limit,
            knots=self.knots,
            values=self.values,
        )


class Origin(Strict):
    """What the statistics were estimated on."""

    note: str
    """What is fitted and what is not, in a sentence for people."""
    files: tuple[str, ...]
    """Data files that were read."""
    records: Annotated[int, Field(ge=0)]
    """Questions among them."""
    seed: int
    versions: dict[str, str]
    """Libraries that took part."""


class ProfileSettings(Strict):
    """The JSON file of a profile."""

    format: Literal[2]
    name: Annotated[str, Field(min_length=1)]
    encoder: Annotated[str, Field(min_length=1)]
    """Name of the backbone, for `find_backbone`."""
    encoder_fingerprint: Annotated[str, Field(min_length=1)]
    """Content of the backbone, pooling and longest input that all statistics belong to."""
    idf_file: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+\.safetensors$")]
    """Beside the JSON file: tensor `idf`, one weight a vocabulary id."""
    idf_sha256: _Sha256
    average_passage_tokens: Annotated[float, Field(gt=0)]
    """Tokens of an average passage, for BM25."""
    unknown_id: Annotated[int, Field(ge=0)]
    """Vocabulary id of a sign that the backbone cannot read; it never counts as covered."""
    window: WindowSettings
    """The local parts of a question by which its tokens' coverage is shown; gaps are runs of these."""
    phrase: WindowSettings
    """The parts of a question that are compared with whole sentences."""
    gap_threshold: Annotated[float, Field(ge=0, le=1)]
    """A window whose coverage is below it is part of a gap."""
    function_idf: Annotated[float, Field(ge=0)]
    """A token that weighs less is a function word or a sign: it neither makes a gap nor ends a gap's text."""
    readers: Annotated[dict[str, FittedReader], Field(min_length=1)]
    """By name; the score is the sum of their corrected values."""
    origin: Origin
    held_out: tuple[str, ...] = ()
    """Families of datasets that nothing in the profile has seen, the IDF table included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Settings and statistics of one backbone. It refuses another backbone's (case S03)."""

    settings: ProfileSettings
    idf: NDArray[np.float32]
    """Inverse document frequency by vocabulary id, not below 0; the only one there is: it is never computed
    again from the evidence."""

    def __post_init__(self) -> None:
        idf = self.idf
        if idf.ndim != 1 or not idf.size or not np.isfinite(idf).all() or bool((idf < 0).any()):
            raise ProfileError(
                f"Profile {self.settings.name!r}: the IDF table must be one row of finite numbers not below 0, "
                f"its shape is {idf.shape}. Count it again with: python -m benchmarks.idf"
            )

    @classmethod
    def load(cls, file: Path) -> Profile:
        """Read a profile's JSON file and the IDF table beside it.

        Raises:
            ProfileError: a file is missing, too large, not the expected one, or does not hold what it should.
        """
        try:
            settings = ProfileSettings.model_validate_json(read_capped(file, MAX_JSON_BYTES))
        except ValidationError as error:
            raise ProfileError(f"{file} is no profile: {error}") from error
        return cls(settings=settings, idf=_read_idf(file.parent / settings.idf_file, settings.idf_sha256))

    @classmethod
    def small(cls, *, without: str | None = None) -> Profile:
        """The default profile: all-MiniLM-L6-v2, made for a laptop's CPU. English.

        Args:
            without: A family of datasets that no statistics may have seen, for figures that are held out; None =
                use everything. A family that took no part in any fit needs no profile of its own.

        Raises:
            ProfileError: the family took part, and no profile without it was fitted.
        """
        return cls.load(shipped_file(small_name(without)))

    @property
    def fingerprint(self) -> str:
        """sha256 (hex) of all settings and statistics, the IDF table's hash among them."""
        return hashlib.sha256(self.settings.model_dump_json().encode()).hexdigest()

    def check_encoder(self, name: str, fingerprint: str) -> None:
        """Make sure that the statistics belong to this encoder.

        Raises:
            ProfileMismatchError: they belong to another one.
        """
        expected = self.settings.encoder_fingerprint
        if fingerprint != expected:
            raise ProfileMismatchError(
                f"Profile {self.settings.name!r} was made for {self.settings.encoder} ({_short(expected)}), the "
                f"encoder is {name} ({_short(fingerprint)}). Use that encoder, or a profile made for this one."
            )


def _short(fingerprint: str) -> str:
    head, _, rest = fingerprint.partition(":")
    return f"{head[:8]}...{':' + rest if rest else ''}"


def read_capped(file: Path, limit: int) -> bytes:
    """A file that comes with the package or with a profile.

    Raises:
        ProfileError: it is missing or larger than `limit`.
    """
    try:
        size = file.stat().st_size
        if size > limit:
            raise ProfileError(
                f"{file} has {size} bytes, a profile's file has at most {limit}. Is it another file?"
            )
        return file.read_bytes()
    except OSError as error:
        raise ProfileError(f"The profile's file {file} cannot be read ({error}). {_whose(file)}") from error


def _whose(file: Path) -> str:
    """What to do about a file, by who wrote it."""
    if file.parent == SHIPPED:
        return "Install the package again."
    return "Name a file that `sufficit fit` wrote, with its IDF table beside it."


def _read_idf(file: Path, sha256: str) -> NDArray[np.float32]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    content = read_capped(file, MAX_IDF_BYTES)
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ProfileError(
            f"{file} has the sha256 {found}, the profile names {sha256}. Install the package again."
        )
    try:
        return np.asarray(load(content)["idf"], dtype=np.float32)
    except (KeyError, SafetensorError) as error:
        raise ProfileError(f"{file} holds no tensor 'idf' ({error}). Install the package again.") from error
