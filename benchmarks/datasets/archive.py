"""Named members of an archive that came from outside, as files. Nothing that an archive says is trusted.

Of a member's path only the base name is used; links, devices and encrypted members are never taken; what is
unpacked is counted while it streams, so that a few bytes cannot become a full disk.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Literal, TypeAlias, cast

from ..errors import ArchiveError, DiskError

CHUNK = 2**20
MAX_MEMBERS = 10_000
"""Most entries of an archive that are looked at."""

Member: TypeAlias = tuple[str, IO[bytes]]
"""Base name, and what reads the content."""
# NotImplementedError: what zipfile raises at a compression that it does not know
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, NotImplementedError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    """A member that is now a file."""

    path: Path
    bytes: int
    sha256: str


def unpack(
    archive: Path, *, form: Literal["zip", "tgz"], members: Sequence[str], to: Path, max_bytes: int
) -> tuple[Unpacked, ...]:
    """Write the members whose base names match the globs into the folder `to`, in the archive's order.

    No file gets its name before the whole archive was read without a fault.

    Args:
        archive: The archive.
        form: How to read it.
        members: Globs over base names, as `fnmatch` knows them; each must match.
        to: A folder that exists.
        max_bytes: The most that the members may hold together; of a tgz, all that it holds.

    Raises:
        ArchiveError: it is damaged, holds too much, lacks a member, or holds two of one name.
        DiskError: a file cannot be written.
    """
    parts: dict[str, Path] = {}
    done: list[Unpacked] = []
    try:
        with _reading(archive), _members(archive, form=form, globs=members, max_bytes=max_bytes) as found:
            for name, content in found:
                if name in parts:
                    raise ArchiveError(f"{archive} holds two members named {name}; which one is meant is unknown.")
                parts[name] = to / f"{name}.{os.getpid()}.part"
                left = max_bytes - sum(each.bytes for each in done)
                done.append(_write(content, parts[name], name=name, left=left, archive=archive))
        _all_found(archive, members, list(parts))
        _publish(done, parts)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    return tuple(done)


def sha256_of(path: Path) -> str:
    """Hexadecimal sha256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _members(archive: Path, *, form: str, globs: Sequence[str], max_bytes: int) -> Iterator[Iterator[Member]]:
    if form == "zip":
        with zipfile.ZipFile(archive) as opened:
            yield _of_zip(opened, globs)
        return
    with gzip.open(archive, "rb") as plain:
        capped = _Capped(cast("IO[bytes]", plain), left=max_bytes, archive=archive)
        with tarfile.open(fileobj=cast("IO[bytes]", capped), mode="r|") as opened_tar:
            yield _of_tar(opened_tar, globs)
        while capped.read(CHUNK):
            pass  # the checksum of gzip stands at its end


def _of_zip(archive: zipfile.ZipFile, globs: Sequence[str]) -> Iterator[Member]:
    infos = archive.infolist()
    _not_too_many(len(infos))
    for info in infos:
        mode = info.external_attr >> 16
        plain = stat.S_IFMT(mode) in {0, stat.S_IFREG} and not info.is_dir()
        name = _wanted(info.filename, globs) if plain else None
        if name is None:
            continue
        if info.flag_bits & 1:
            raise ArchiveError(
                f"The member {name} is encrypted. Expected one that can be read without a password."
            )
        with archive.open(info) as content:
            yield name, content


def _of_tar(archive: tarfile.TarFile, globs: Sequence[str]) -> Iterator[Member]:
    for number, info in enumerate(archive, start=1):
        _not_too_many(number)
        name = _wanted(info.name, globs) if info.isreg() else None
        content = archive.extractfile(info) if name is not None else None
        if name is not None and content is not None:
            yield name, content


def _wanted(path: str, globs: Sequence[str]) -> str | None:
    """The member's base name if a glob asks for it."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    usable = name not in {"", ".", ".."} and name.isprintable()
    return name if usable and any(fnmatchcase(name, glob) for glob in globs) else None


def _write(content: IO[bytes], part: Path, *, name: str, left: int, archive: Path) -> Unpacked:
    digest = hashlib.sha256()
    size = 0
    with _writing(part), part.open("wb") as file:
        while chunk := _read(content, archive):
            size += len(chunk)
            if size > left:
                raise ArchiveError(
                    f"{archive} unpacks to more than was declared: {name} passes the {left} bytes that are left "
                    "for it. Nothing of it was kept."
                )
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    return Unpacked(path=part.with_name(name), bytes=size, sha256=digest.hexdigest())


def _read(content: IO[bytes], archive: Path) -> bytes:
    with _reading(archive):
        return content.read(CHUNK)


def _publish(done: Sequence[Unpacked], parts: dict[str, Path]) -> None:
    for each in done:
        with _writing(each.path):
            parts[each.path.name].replace(each.path)


def _all_found(archive: Path, globs: Sequence[str], names: Sequence[str]) -> None:
    missing = [glob for glob in globs if not any(fnmatchcase(name, glob) for name in names)]
    if missing:
        raise ArchiveError(
            f"{archive} holds no member {', '.join(missing)}. Is it another version of the dataset?"
        )


def _not_too_many(number: int) -> None:
    if number > MAX_MEMBERS:
        raise ArchiveError(f"The archive has more than {MAX_MEMBERS} members. Nothing of it was kept.")


@contextmanager
def _reading(archive: Path) -> Iterator[None]:
    try:
        yield
    except _DAMAGED as error:
        raise ArchiveError(f"{archive} cannot be unpacked: {error}. Delete it and download it again.") from error


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DiskError(
            f"{path} cannot be written: {error.strerror}. Make room, or name another folder."
        ) from error


class _Capped:
    """A reader that refuses to give more than a number of bytes, for `tarfile`, which reads headers on its own."""

    def __init__(self, file: IO[bytes], *, left: int, archive: Path) -> None:
        self._file, self._archive = file, archive
        self._left = left + MAX_MEMBERS * tarfile.BLOCKSIZE  # headers and padding are no content

    def read(self, size: int) -> bytes:
        """At most `size` bytes."""
        data = self._file.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise ArchiveError(f"{self._archive} unpacks to more than was declared. Nothing of it was kept.")
        return data
