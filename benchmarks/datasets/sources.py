"""Where the official files of the datasets are: a manifest with sizes, checksums and licences."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from ..errors import DatasetError, SettingsError

SOURCES = Path(__file__).resolve().parent.parent / "data" / "sources.json"
"""The manifest that is shipped: a JSON list of `Source`."""

MAX_BYTES = 8 * 2**30
"""Most bytes that a manifest may declare for one file, packed or unpacked."""

Format: TypeAlias = Literal["json", "jsonl", "zip", "tgz"]
_STRICT = ConfigDict(frozen=True, extra="forbid", strict=True)
_PLAIN_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


class SourceFile(BaseModel):
    """One official file."""

    model_config = _STRICT

    name: str = Field(pattern=_PLAIN_NAME)
    """What it is called on this disk."""
    url: str = Field(pattern=r"^https?://\S+$")
    format: Format
    bytes: int | None = Field(default=None, ge=1, le=MAX_BYTES)
    """Its exact size; None: unknown, then `max_bytes` bounds it."""
    max_bytes: int | None = Field(default=None, ge=1, le=MAX_BYTES)
    """The most that is fetched where the size is unknown."""
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    """None: unknown, then the first download records what it saw and later ones must match it."""
    checked: str = ""
    """Who says that size and sha256 are these."""
    members: list[str] = []
    """Of an archive: globs over base names, each of which must be found; all else is left."""
    max_unpacked_bytes: int | None = Field(default=None, ge=1, le=MAX_BYTES)
    """Of an archive: the most that its members may hold together."""
    manual: str = ""
    """What a person can do where the host serves a page instead of the file; `{path}` is where the file goes."""

    @property
    def limit(self) -> int:
        """Bytes after which a download is stopped."""
        return self.bytes or self.max_bytes or MAX_BYTES

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.bytes is None and self.max_bytes is None:
            raise ValueError("give bytes, or max_bytes where the size is unknown")
        archive = self.format in {"zip", "tgz"}
        if archive != bool(self.members) or archive != (self.max_unpacked_bytes is not None):
            raise ValueError("an archive, and nothing else, has members and max_unpacked_bytes")
        return self


class Source(BaseModel):
    """What one name on the command line brings."""

    model_config = _STRICT

    name: str = Field(pattern=_PLAIN_NAME)
    title: str = Field(min_length=1)
    licence: str = Field(min_length=1)
    """SPDX identifier, or the dataset's own statement."""
    homepage: str = Field(pattern=r"^https?://\S+$")
    citation: str = Field(min_length=1)
    """Key and paper."""
    files: list[SourceFile] = Field(min_length=1)

    @property
    def bytes(self) -> int | None:
        """What has to be fetched in all; None if a size is unknown."""
        sizes = [file.bytes for file in self.files]
        return None if None in sizes else sum(size for size in sizes if size is not None)


def load_sources(path: Path = SOURCES) -> dict[str, Source]:
    """The manifest's entries by name, in its order.

    Raises:
        DatasetError: it cannot be read, breaks its form, or repeats a name.
    """
    try:
        sources = TypeAdapter(list[Source]).validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise DatasetError(f"{path} is no manifest of datasets: {error}") from error
    by_name = {source.name: source for source in sources}
    if len(by_name) < len(sources):
        raise DatasetError(f"{path} repeats a name. Each dataset may stand there once.")
    return by_name


def find_source(sources: Mapping[str, Source], name: str) -> Source:
    """The entry of that name.

    Raises:
        SettingsError: there is none; the message lists those there are.
    """
    if name not in sources:
        raise SettingsError(f"There is no dataset {name!r}. Name one of: {', '.join(sources)}.")
    return sources[name]
