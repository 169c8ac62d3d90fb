"""The folder of a fit: who works in it, what it is after, and whether it is done."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from .errors import FolderError

MAX_STATE_BYTES = 2**22
LOCK = "lock"
"""In a folder in which a process works."""
_WORK, _STATE, _PROFILE = "work", "fit.json", "paper.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class FitState:
    """What `fit.json` says."""

    plan: Mapping[str, object]
    """JSON values: everything that the result depends on."""
    done: Mapping[str, str] | None = None
    """Fingerprint of each finished profile by its folder inside the fit's folder; None = not finished."""

    def changed(self, plan: Mapping[str, object]) -> tuple[str, ...]:
        """Names of the settings in which another plan differs."""
        names = sorted({*self.plan, *plan})
        return tuple(name for name in names if self.plan.get(name) != plan.get(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class FitFolder:
    """Paths of a fit's folder."""

    out: Path

    @property
    def readings(self) -> Path:
        """What the readers said."""
        return self.out / _WORK / "readings.jsonl"

    @property
    def checkpoint(self) -> Path:
        """Of the span reader's training."""
        return self.out / _WORK / "span.safetensors"

    def state(self) -> FitState | None:
        """What was written last; None if nothing was, or it cannot be read."""
        path = self.out / _WORK / _STATE
        try:
            with path.open("rb") as file:
                found = json.loads(file.read(MAX_STATE_BYTES))
            done = found["done"]
            return FitState(plan=dict(found["plan"]), done=None if done is None else dict(done))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def write(self, state: FitState) -> None:
        """Replace what was written last."""
        path = self.out / _WORK / _STATE
        part = path.with_suffix(".part")
        text = json.dumps({"plan": state.plan, "done": state.done}, indent=1, allow_nan=False)
        part.write_text(text + "\n", encoding="utf-8")
        part.replace(path)


@contextmanager
def fit_folder(out: Path) -> Iterator[FitFolder]:
    """Hold the folder; the system releases it when the process ends, however it ends.

    Raises:
        FolderError: it is a file, holds something else, cannot be written, or another process works in it.
    """
    if out.exists() and not out.is_dir():
        raise FolderError(f"{out} is a file. Name a folder for the profile with --out.")
    if out.exists() and not _is_ours(out):
        raise FolderError(f"{out} is not empty and holds no fit. Name another folder, or empty this one.")
    with locked(out, made=out / _WORK):
        yield FitFolder(out=out)


def _is_ours(out: Path) -> bool:
    """Whether a folder holds a fit, or nothing but what a fit makes first; others have a folder `work` too."""
    begun = {path.name for path in out.iterdir()} <= {_WORK, LOCK}
    return begun or (out / _PROFILE).exists() or (out / _WORK / _STATE).exists()


@contextmanager
def locked(folder: Path, *, made: Path | None = None) -> Iterator[None]:
    """Hold a folder, which is made; `made` is another one, inside it, that is made too.

    Raises:
        FolderError: it cannot be written, or another process works in it.
    """
    try:
        (made or folder).mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK, timeout=0)
        lock.acquire()
    except Timeout as error:
        raise FolderError(f"Another process fits in {folder}. Wait for it, or stop it and start again.") from error
    except OSError as error:
        raise FolderError(f"{folder} cannot be written ({error.strerror}). Name another folder.") from error
    try:
        yield
    finally:
        lock.release()
