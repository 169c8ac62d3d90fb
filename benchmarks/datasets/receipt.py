"""What an earlier download noted about a file, beside it."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from .archive import Unpacked, sha256_of


class MemberReceipt(BaseModel):
    """A member of an archive, as it was unpacked."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str
    bytes: int
    sha256: str


class Receipt(BaseModel):
    """What was received from where."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    url: str
    sha256: str
    members: list[MemberReceipt] = []

    @classmethod
    def of(cls, url: str, sha256: str, members: Sequence[Unpacked]) -> Self:
        """The receipt of a file and of what was taken out of it."""
        rows = [MemberReceipt(name=each.path.name, bytes=each.bytes, sha256=each.sha256) for each in members]
        return cls(url=url, sha256=sha256, members=rows)

    @classmethod
    def read(cls, path: Path, *, url: str) -> Self | None:
        """The receipt there, if it can be read and speaks of this address."""
        try:
            receipt = cls.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            return None
        return receipt if receipt.url == url else None

    def write(self, path: Path) -> None:
        """Put it there in one step."""
        part = path.with_suffix(".new")
        part.write_text(self.model_dump_json(), encoding="utf-8")
        part.replace(path)

    def still_there(self, folder: Path, globs: Sequence[str]) -> tuple[Unpacked, ...]:
        """The members, if files match every glob and all lie in `folder` as they were unpacked; else none."""
        rows = [
            Unpacked(path=folder / Path(row.name).name, bytes=row.bytes, sha256=row.sha256) for row in self.members
        ]
        complete = all(any(fnmatchcase(row.name, glob) for row in self.members) for glob in globs)
        return tuple(rows) if complete and all(_unchanged(row) for row in rows) else ()


def _unchanged(row: Unpacked) -> bool:
    return row.path.is_file() and row.path.stat().st_size == row.bytes and sha256_of(row.path) == row.sha256
