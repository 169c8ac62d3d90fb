"""Where a build works inside the index folder: its lock, its plan, the data that is not published yet."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from filelock import BaseFileLock, FileLock, Timeout

from ..errors import IndexBusyError, IndexCorruptError, IndexFolderError

if sys.platform != "win32":
    import fcntl

from .manifest import DATA_NAME, MANIFEST, read_manifest

_WORK, _LOCK, _PLAN = "building", "lock", "plan.json"


@contextmanager
def only_builder(out: Path) -> Iterator[None]:
    """Hold the folder's lock; the system releases it when the process ends, however it ends.

    Raises:
        IndexBusyError: another process holds it.
        IndexFolderError: it is no folder for an index, or cannot be made or written.
    """
    lock = _acquired(out)
    try:
        yield
    finally:
        lock.release()


def _acquired(out: Path) -> BaseFileLock:
    lock = FileLock(out / _LOCK, timeout=0)
    try:
        _make(out)
        lock.acquire()
    except Timeout as error:
        raise IndexBusyError(
            f"Another process is building or changing the index in {out}. Wait for it, or stop it and start again."
        ) from error
    except OSError as error:
        raise IndexFolderError(
            f"{out} cannot be used: {error.strerror or error}. Name a folder that can be made and written."
        ) from error
    return lock


def _make(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise IndexFolderError(f"{out} is a file. Name a folder for the index.")
    ours = (MANIFEST, _WORK, _LOCK)
    if out.exists() and any(out.iterdir()) and not any((out / name).exists() for name in ours):
        raise IndexFolderError(f"{out} is not empty and holds no index. Name another folder, or empty this one.")
    out.mkdir(parents=True, exist_ok=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Where a build writes."""

    folder: Path
    """The plan and what marks a phase as done; removed at the end."""
    data: Path
    """The data folder of the new index. It is an index only when the manifest names it."""

    def discard(self) -> None:
        """Forget the work: the next build begins again."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.data, ignore_errors=True)


def workplace(out: Path, plan: Mapping[str, object]) -> Work:
    """The work that is there if it is after the same plan and unfinished, otherwise new work.

    Args:
        out: The index folder; the caller holds its lock.
        plan: JSON values; what must be the same for one build to go on where another stopped.
    """
    folder, published = out / _WORK, _published(out)
    begun = _begun(folder)
    name = str(begun.get("data"))
    unfinished = name != published and re.fullmatch(DATA_NAME, name) is not None and (out / name).is_dir()
    if unfinished and begun.get("plan") == plan:
        return Work(folder=folder, data=out / name)
    if unfinished:
        shutil.rmtree(out / name)
    shutil.rmtree(folder, ignore_errors=True)
    work = Work(folder=folder, data=out / f"data-{uuid4().hex[:12]}")
    work.data.mkdir()
    folder.mkdir()
    (folder / _PLAN).write_text(json.dumps({"data": work.data.name, "plan": plan}), encoding="utf-8")
    return work


def _begun(folder: Path) -> dict[str, object]:
    """The plan file of a build that did not end."""
    try:
        begun = json.loads((folder / _PLAN).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return begun if isinstance(begun, dict) else {}


def _published(out: Path) -> str | None:
    try:
        return read_manifest(out).data
    except IndexFolderError:
        return None


def claim(data: Path) -> int:
    """Keep a data folder from being swept; returns the handle to `os.close` when it is no longer needed.

    A shared lock of the operating system, which needs no right to write and ends with the process.

    Raises:
        IndexCorruptError: there is no such folder.
    """
    try:
        handle = os.open(data, os.O_RDONLY)
    except OSError as error:
        raise IndexCorruptError(f"The folder {data} of the index is missing: {error.strerror}.") from error
    if sys.platform != "win32":
        with contextlib.suppress(OSError):  # a file system without locks: then nothing can be promised
            fcntl.flock(handle, fcntl.LOCK_SH)
    return handle


def sweep(out: Path, *, keep: str) -> None:
    """Remove the data folders that the manifest does not name, unless a reader has claimed them.

    What is left is removed after the next build.
    """
    for folder in out.glob("data-*"):
        if folder.name != keep and _is_free(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_free(data: Path) -> bool:
    if sys.platform == "win32":
        return True  # there the system itself keeps open files from being removed
    handle = os.open(data, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
