"""Progress of long work, on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn

from retrieval.index import Progress as BuildProgress

_PHASES = {"reading": "Reading the corpus", "words": "Indexing words", "vectors": "Encoding passages"}


@contextmanager
def build_progress() -> Iterator[Callable[[BuildProgress], None]]:
    """A progress bar for each phase of `build_index`; pass what it yields as `progress`."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, TaskID] = {}

        def show(progress: BuildProgress) -> None:
            if progress.phase not in tasks:
                tasks[progress.phase] = bars.add_task(_PHASES[progress.phase], total=None)
            bars.update(tasks[progress.phase], completed=progress.done, total=max(progress.total, 1))

        yield show
