"""Official files of a dataset, brought to a folder: whole and as expected, or not under their names at all.

A file grows as `NAME.part` with a side file beside it; a download that was stopped, in whatever way, goes on where
it ended. It gets its name when size and sha256 are right. `NAME.receipt.json` then says what was received.
"""

from __future__ import annotations

import os
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

import httpx
from filelock import FileLock, Timeout

from ..errors import DiskError, SourceChangedError, SourceUnavailableError, UnsafeSourceError
from .archive import Unpacked, sha256_of, unpack
from .receipt import Receipt
from .sources import Source, SourceFile
from .transfer import BeginAgain, Retry, discard, looks_like, receive

Say: TypeAlias = Callable[[str], None]
FileProgress: TypeAlias = Callable[[str, int, int | None], None]
"""Name of a file, bytes that are here, and how many there will be; None = unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a server is waited for."""

    stall_seconds: float = 60.0
    """Without a byte for so long, a request has failed."""
    waits: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 15.0)
    """Seconds before each further request for a file; when they are used up the download stops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A file that is here, whole."""

    path: Path
    url: str
    bytes: int
    sha256: str
    resumed_from: int | None
    """Bytes of it that earlier commands had brought, 0 = none; None: all of it was here, nothing was fetched."""
    recorded: bool
    """The manifest knows no sha256: this one was seen and noted, later downloads must match it."""
    members: tuple[Unpacked, ...]
    """What was taken out of it, if it is an archive."""

    @property
    def data(self) -> tuple[Path, ...]:
        """What a loader reads."""
        return tuple(member.path for member in self.members) or (self.path,)


def download(
    source: Source,
    to: Path,
    *,
    patience: Patience | None = None,
    progress: FileProgress = lambda _name, _have, _total: None,
    say: Say = lambda _text: None,
) -> tuple[Fetched, ...]:
    """Bring all files of `source` into the folder `to`. What is there and right is not fetched again.

    Args:
        source: An entry of the manifest.
        to: The folder; it is made.
        patience: How long to wait for the server.
        progress: Told how far a file is.
        say: Told, for people, why something takes longer.

    Raises:
        SourceUnavailableError: the server did not give a file; what arrived is kept for the next time.
        SourceChangedError: what it gives is not what the manifest or an earlier download says.
        UnsafeSourceError: it leads to an address, or sends an amount, that is refused.
        ArchiveError: an archive cannot be unpacked as the manifest says.
        DiskError: a file cannot be written.
    """
    patience = patience or Patience()
    with _on_disk(to):
        to.mkdir(parents=True, exist_ok=True)
    timeout = httpx.Timeout(patience.stall_seconds, connect=min(patience.stall_seconds, 30.0))
    headers = {"Accept-Encoding": "identity", "User-Agent": "sufficit-benchmarks"}
    with httpx.Client(timeout=timeout, headers=headers, follow_redirects=False, verify=_trusted()) as client:
        return tuple(
            _Job(
                file=file, path=to / file.name, client=client, patience=patience, progress=progress, say=say
            ).run()
            for file in source.files
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """One file."""

    file: SourceFile
    path: Path
    client: httpx.Client
    patience: Patience
    progress: FileProgress
    say: Say

    def run(self) -> Fetched:
        with self._alone():
            receipt = Receipt.read(self._receipt_path, url=self.file.url)
            expected = self.file.sha256 or (receipt.sha256 if receipt else None)
            resumed_from: int | None = None
            digest = self._here(expected)
            if digest is None:
                digest, resumed_from = self._explained(expected)
            members = self._members(receipt, digest)
            return Fetched(
                path=self.path,
                url=self.file.url,
                bytes=self.path.stat().st_size,
                sha256=digest,
                resumed_from=resumed_from,
                recorded=self.file.sha256 is None,
                members=members,
            )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the file's lock; the system releases it when the process ends, however it ends."""
        lock = FileLock(self.path.with_name(f".{self.path.name}.lock"))
        with _on_disk(self.path):
            try:
                lock.acquire(timeout=0)
            except Timeout:
                self.say(f"{self.path.name} is being downloaded by another process; waiting for it.")
                lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _here(self, expected: str | None) -> str | None:
        """The sha256 of the file that is here, if it is the right one, by whatever way it came."""
        if not self.path.is_file():
            return None
        with _on_disk(self.path), self.path.open("rb") as file:
            right = self._size_fits(self.path) and looks_like(self.file, file.read(16))
        digest = _sha256(self.path) if right else None
        if digest is not None and digest == (expected or digest):
            return digest
        self.say(f"{self.path} is not the file that is expected; it is fetched again.")
        return None

    def _explained(self, expected: str | None) -> tuple[str, int]:
        """`_fetch`, with errors that name the file and what a person can do."""
        part = self.path.with_name(f"{self.path.name}.part")
        try:
            return self._fetch(part, expected)
        except (SourceChangedError, UnsafeSourceError, SourceUnavailableError) as error:
            if not isinstance(error, SourceUnavailableError):
                discard(part)
            manual = self.file.manual.replace("{path}", str(self.path))
            raise type(error)(f"{self.file.name} from {self.file.url}: {error} {manual}".rstrip()) from error

    def _fetch(self, part: Path, expected: str | None) -> tuple[str, int]:
        """Ask until the file is whole; its sha256, and how much of it was here before."""
        starts: list[int] = []
        for wait in (*self.patience.waits, None):
            try:
                self._receive(part, starts)
                digest = self._verified(part, expected, mixed=starts[-1] > 0)
            except Retry as retry:
                if isinstance(retry, BeginAgain):
                    discard(part)
                self._wait(wait, retry)
            else:
                with _on_disk(self.path):
                    part.replace(self.path)
                discard(part)
                return digest, min(starts)
        raise AssertionError("the last round returns or raises")

    def _wait(self, seconds: float | None, retry: Retry) -> None:
        if seconds is None:
            raise SourceUnavailableError(
                f"Gave up after {len(self.patience.waits) + 1} requests; of the last one: {retry}. Run the same "
                "command again, it goes on with what has arrived."
            ) from retry
        self.say(f"{self.file.name}: {retry}; asking again in {seconds:g} s.")
        time.sleep(seconds)

    def _receive(self, part: Path, starts: list[int]) -> None:
        def progress(have: int, total: int | None) -> None:
            self.progress(self.file.name, have, total)

        receive(self.client, self.file, part, started=starts.append, progress=progress)

    def _verified(self, part: Path, expected: str | None, *, mixed: bool) -> str:
        """The sha256 of what arrived, once it is on the disk and as expected."""
        with _on_disk(part), part.open("rb+") as file:
            os.fsync(file.fileno())
        digest = _sha256(part)
        if self._size_fits(part) and digest == (expected or digest):
            return digest
        if mixed:
            raise BeginAgain("what arrived in several requests does not fit together")
        size = part.stat().st_size
        if self.file.sha256 is not None:
            known = "the manifest"
        else:
            known = f"an earlier download ({self._receipt_path}, delete it to accept another file)"
        raise SourceChangedError(
            f"It has {size} bytes and the sha256 {digest}; expected are {self.file.bytes or 'any number of'} "
            f"bytes and {expected or 'any sha256'}, by {known}. It was not kept."
        )

    def _size_fits(self, path: Path) -> bool:
        size = path.stat().st_size
        return size == self.file.bytes if self.file.bytes is not None else 0 < size <= self.file.limit

    def _members(self, receipt: Receipt | None, digest: str) -> tuple[Unpacked, ...]:
        """The archive's members, unpacked unless they lie there as they were; notes all in the receipt."""
        members: tuple[Unpacked, ...] = ()
        folder, form = self.path.parent, self.file.format
        if form in ("zip", "tgz"):
            if receipt is not None and receipt.sha256 == digest:
                with _on_disk(folder):
                    members = receipt.still_there(folder, self.file.members)
            limit = self.file.max_unpacked_bytes or self.file.limit
            members = members or unpack(
                self.path, form=form, members=self.file.members, to=folder, max_bytes=limit
            )
        fresh = Receipt.of(self.file.url, digest, members)
        if fresh != receipt:
            with _on_disk(self._receipt_path):
                fresh.write(self._receipt_path)
        return members

    @property
    def _receipt_path(self) -> Path:
        return self.path.with_name(f"{self.path.name}.receipt.json")


@cache
def _trusted() -> ssl.SSLContext:
    """Reading the certificates takes longer than asking whether a small file is complete."""
    return httpx.create_ssl_context()


def _sha256(path: Path) -> str:
    with _on_disk(path):
        return sha256_of(path)


@contextmanager
def _on_disk(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DiskError(
            f"{path}: {error.strerror or error}. Make room, or name another folder with --to."
        ) from error
