"""Read corpus files: compressed or not, with progress, and their hash."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

from .tally import Tally

DAMAGED = (EOFError, OSError, zlib.error)
"""What reading a damaged compressed stream raises."""

_BUFFER = 1 << 16


class _Counted(io.RawIOBase):
    """A file that reports the bytes read from disk, compressed as they are."""

    def __init__(self, path: Path, tally: Tally) -> None:
        self._file = path.open("rb", buffering=0)
        self._tally = tally

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # a buffer protocol object
        read = self._file.readinto(buffer)
        self._tally.advance(read)
        return read

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def open_bytes(path: Path, tally: Tally) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked if it begins like gzip or bzip2 (its name does not matter).

    Raises:
        OSError: it cannot be opened. Reading raises one of `DAMAGED` where a compressed stream is broken.
    """
    with ExitStack() as stack:
        raw = stack.enter_context(io.BufferedReader(_Counted(path, tally), _BUFFER))
        magic = raw.peek(3)[:3]
        if magic[:2] == b"\x1f\x8b":
            yield cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=raw)))
        elif magic == b"BZh":
            yield cast(BinaryIO, stack.enter_context(bz2.BZ2File(cast(IO[bytes], raw))))
        else:
            yield raw


def sha256_of_file(path: Path) -> str:
    """sha256 (hex) of a file's bytes, as `sha256sum` prints it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of_files(folder: Path, names: Iterable[str]) -> str:
    """sha256 (hex) over name and content hash of each file, in the order given; names are relative to `folder`."""
    total = hashlib.sha256()
    for name in names:
        total.update(f"{name}\0{sha256_of_file(folder / name)}\n".encode("utf-8", "surrogateescape"))
    return total.hexdigest()
