"""Results by key: JSON lines, one a result, appended as it is computed, so that a run can be taken up again."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from filelock import FileLock, Timeout

from .errors import RunFileError


class KeyedStore:
    """Results of one computation by key, in a file of JSON lines `{"key": ..., ...}`.

    What the computation depends on must be in the file's name or in the keys. The first line of a key counts. A
    last line without its end, as a killed process leaves it, is taken away; another line that cannot be read is
    left alone and computed again. One process at a time.

    Raises:
        RunFileError: another process has it, or it cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, dict[str, Any]] = {}
        self._lock = FileLock(f"{path}.lock")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
            self._take_up()
        except Timeout as error:
            raise RunFileError(
                f"Another run is writing {path}. Wait until it ends; --scores keeps scores elsewhere."
            ) from error
        except OSError as error:
            self._lock.release()
            raise RunFileError(f"Cannot use {path} to keep results: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def __contains__(self, key: object) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> Mapping[str, Any]:
        return self._known[key]

    def put(self, key: str, values: Mapping[str, Any]) -> None:
        """Append one result; it is handed to the operating system before this returns.

        Raises:
            RunFileError: the disk is full, or the file went away.
            ValueError: a value is NaN or infinite.
        """
        if key in self._known:
            return
        line = json.dumps({"key": key, **values}, ensure_ascii=False, allow_nan=False)
        try:
            with self.path.open("ab") as file:
                file.write(line.encode("utf-8", "replace") + b"\n")
        except OSError as error:
            raise RunFileError(f"Cannot append to {self.path}: {error}") from error
        self._known[key] = dict(values)

    def _take_up(self) -> None:
        if not self.path.exists():
            return
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole != len(content):
            os.truncate(self.path, whole)
        for line in content[:whole].splitlines():
            found = _parsed(line)
            if found is not None:
                self._known.setdefault(found.pop("key"), found)


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("key"), str) else None
