"""Processes that share one cache and are killed at random: is the cache whole, is an acknowledged write lost?

Each process writes pages of its own, one operation after the other: page after page is stored, replaced and, every
seventh time, removed. What an operation was is a function of its number, so what the cache must hold is known. A
process notes an operation's number in a file after the call has returned: that write is acknowledged. Now and then
it makes the index follow. All of them also replace one page that they share.
"""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval import Passage
from retrieval.cache.freshness import Exchange
from retrieval.cache.records import StoredPage
from retrieval.cache.rooms import Rooms
from retrieval.cache.store import PageStore
from retrieval.cache.verify import verify
from retrieval.corpora.document import Section
from retrieval.web.extract import Page

from .hops.filler import random_unit
from .output import Report, Row

KEYS = 5
"""Pages that each process writes by turns."""
SHARED = "http://shared.example/"
_START_SECONDS = 60.0
_INDEX_EVERY = 10
_REMOVE_EVERY = 7


class RandomEncoder:
    """Vectors without a model: a random direction for each text, the same for the same text."""

    name, fingerprint, dims = "random directions", "r" * 64, 32

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows (n, 32)."""
        rows = [random_unit(text, self.dims) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(-1, self.dims)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crashes:
    """What a run found."""

    kills: int
    acknowledged: int
    """Operations that had returned before their process was killed, or at the end."""
    lost: tuple[str, ...]
    """Pages that are older than the last acknowledged operation on them."""
    faults: tuple[str, ...]
    """What `verify` finds wrong, once as the kills left it and once after the index has caught up."""
    pages: int
    seconds: float


def run_cache_crash(*, processes: int, seconds: float, seed: int = 0) -> Report:
    """`crash_run` in a folder of its own, as a report with a failure for each loss and fault."""
    with tempfile.TemporaryDirectory() as place:
        found = crash_run(Path(place), processes=processes, seconds=seconds, seed=seed)
    row: Row = {
        "case": "C04",
        "processes": processes,
        "kills": found.kills,
        "acknowledged": found.acknowledged,
        "lost": len(found.lost),
        "faults": len(found.faults),
        "pages": found.pages,
        "seconds": round(found.seconds, 1),
    }
    return Report(
        benchmark="cache-crash",
        settings={"processes": processes, "seconds": seconds},
        seed=seed,
        rows=[row],
        failures=[{"lost": text} for text in found.lost] + [{"fault": text} for text in found.faults],
    )


def crash_run(folder: Path, *, processes: int, seconds: float, seed: int) -> Crashes:
    """Let processes write into the cache in `folder`, kill one after the other, and look at what is left.

    Args:
        folder: Empty or missing.
        processes: How many at once.
        seconds: How long, from the first acknowledged write on; each kill comes 50 to 500 ms after the one before.
        seed: Of the order and the moments of the kills.
    """
    choice = random.Random(seed)  # noqa: S311 - nothing secret
    folder.mkdir(parents=True, exist_ok=True)
    running = {number: _started(folder, number) for number in range(processes)}
    try:
        _wait_for_a_write(folder, processes)
        began, kills = time.monotonic(), 0
        while time.monotonic() - began < seconds:
            time.sleep(choice.uniform(0.05, 0.5))
            victim = choice.randrange(processes)
            if _acknowledged(folder, victim) is None and choice.random() < 0.8:
                continue  # it has not begun to write: killing it would seldom show anything
            _kill(running[victim])
            kills += 1
            running[victim] = _started(folder, victim)
    finally:
        for process in running.values():
            _kill(process)
    return _looked_at(folder, processes, kills=kills, seconds=time.monotonic() - began)


def work(folder: Path, number: int) -> None:
    """Write until killed, on from the operation behind the last acknowledged one."""
    notes = _notes(folder, number)
    operation = (_acknowledged(folder, number) or 0) + 1
    with PageStore(folder / "cache") as store, notes.open("a", encoding="utf-8") as file:
        rooms = Rooms(store, RandomEncoder())
        while True:
            if _removes(operation):
                store.refuse(None, _key(number, operation), None, forget=True)
            else:
                store.put(_page(_key(number, operation), number, operation))
            file.write(f"{operation}\n")
            file.flush()
            store.put(_page(SHARED, number, operation))
            if operation % _INDEX_EVERY == 0:
                rooms.catch_up(None)
            operation += 1


def _looked_at(folder: Path, processes: int, *, kills: int, seconds: float) -> Crashes:
    with PageStore(folder / "cache") as store:
        found = [verify(store)]
        lost = [fault for number in range(processes) for fault in lost_writes(store, folder, number)]
        rooms = Rooms(store, RandomEncoder())
        rooms.catch_up(None)
        rooms.close()
        found.append(verify(store))
        return Crashes(
            kills=kills,
            acknowledged=sum(_acknowledged(folder, number) or 0 for number in range(processes)),
            lost=tuple(lost),
            faults=tuple(f"{fault.where}: {fault.detail}" for one in found for fault in one.faults),
            pages=found[-1].pages,
            seconds=seconds,
        )


def lost_writes(store: PageStore, folder: Path, number: int) -> list[str]:
    """Pages of a process that are neither as the last acknowledged operation left them nor as the next one did."""
    last, lost = _acknowledged(folder, number) or 0, []
    for turn in range(KEYS):
        operations = [one for one in range(1, last + 2) if one % KEYS == turn]
        acknowledged = [one for one in operations if one <= last][-1:]
        allowed = {_left_by(one) for one in (*acknowledged, *operations[-1:])}
        if not acknowledged:
            allowed.add(None)
        page = store.page(None, _key(number, turn))
        found = None if page is None else page.page.text.partition(" of process ")[0]
        if found not in allowed:
            lost.append(f"{_key(number, turn)} holds {found!r}, expected one of {sorted(map(str, allowed))}.")
    return lost


def _left_by(operation: int) -> str | None:
    """How a page's text begins after an operation on it; None if there is no page then."""
    return None if _removes(operation) else f"Operation {operation}"


def _removes(operation: int) -> bool:
    return operation % _REMOVE_EVERY == 0


def _key(number: int, operation: int) -> str:
    return f"http://process-{number}.example/{operation % KEYS}"


def _page(key: str, number: int, operation: int) -> StoredPage:
    texts = [f"Operation {operation} of process {number}.", f"The old tower of process {number} is high."]
    sections = tuple(Section(text=text) for text in texts)
    now = time.time()
    return StoredPage(
        tenant=None,
        key=key,
        final_url=key,
        page=Page(url=key, title="Tower", text="\n\n".join(texts), sections=sections),
        passages=tuple(Passage(text=text, title="Tower", source_id=key, url=key) for text in texts),
        exchange=Exchange(
            status=200,
            headers={"cache-control": "max-age=60"},
            request_headers={},
            requested_at=now,
            received_at=now,
        ),
        content_type="text/html",
        content=f"{number}-{operation}",
        seconds=0.1,
    )


def _notes(folder: Path, number: int) -> Path:
    return folder / f"acknowledged-{number}.txt"


def _acknowledged(folder: Path, number: int) -> int | None:
    """The last operation that a process has noted as done."""
    with contextlib.suppress(FileNotFoundError):
        lines = _notes(folder, number).read_text(encoding="utf-8").splitlines(keepends=True)
        whole = [line for line in lines if line.endswith("\n")]
        return int(whole[-1]) if whole else None
    return None


def _wait_for_a_write(folder: Path, processes: int) -> None:
    """Until one process has written: on a busy machine, starting takes longer than a short run."""
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and not any(_acknowledged(folder, number) for number in range(processes)):
        time.sleep(0.05)


def _started(folder: Path, number: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", _WORKER, str(folder), str(number)]
    return subprocess.Popen(command)  # noqa: S603 - ourselves


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


_WORKER = (
    "import sys; from pathlib import Path; from benchmarks.cache_crash import work; "
    "work(Path(sys.argv[1]), int(sys.argv[2]))"
)
