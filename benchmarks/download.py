"""`python -m benchmarks download`: official files of a dataset, their licence before, their paths after."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from .datasets.download import Fetched, FileProgress, download
from .datasets.sources import Source, find_source, load_sources
from .errors import SettingsError


def run_download(name: str, *, to: Path | None, manifest: Path | None) -> dict[str, Any]:
    """Bring the files of `name` to a folder of that name in `to`; licence and progress go to stderr.

    Returns:
        `name`, `licence`, `files` (`path`, `url`, `bytes`, `sha256`, `sha256_known_before`, `resumed_from`) and
        `data`, the paths that benchmarks take as --data.

    Raises:
        SettingsError: there is no such name.
        DatasetError: the manifest cannot be read.
        DownloadError: see `benchmarks.datasets.download.download`.
    """
    source = find_source(_sources(manifest), name)
    if to is None:
        from .corpus import cache_folder

        to = cache_folder() / "datasets"
    console = Console(stderr=True, soft_wrap=True)
    console.print(_before(source), markup=False, highlight=False)
    with _bars(console) as (bars, progress):
        files = download(
            source,
            (to / source.name).absolute(),
            progress=progress,
            say=lambda text: bars.console.print(text, markup=False, highlight=False),
        )
    for file in files:
        if file.recorded:
            console.print(f"{file.path.name}: no sha256 was known; noted {file.sha256}", markup=False)
    return _result(source, files)


def need_name(name: str | None, manifest: Path | None) -> str:
    """The name that was given.

    Raises:
        SettingsError: none was; the message lists those there are.
    """
    if name is None:
        raise SettingsError(f"Name a dataset, one of: {', '.join(_sources(manifest))}.")
    return name


def list_datasets(manifest: Path | None) -> list[dict[str, Any]]:
    """What can be downloaded: `name`, `title`, `bytes` (None: unknown), `licence`, `homepage`, `citation`.

    Raises:
        DatasetError: the manifest cannot be read.
    """
    return [
        {"name": source.name, "title": source.title, "bytes": source.bytes}
        | {"licence": source.licence, "homepage": source.homepage, "citation": source.citation}
        for source in _sources(manifest).values()
    ]


def emit_download(result: dict[str, Any], *, as_json: bool) -> None:
    """Print the paths for --data, one a line, or the whole result as one JSON object."""
    _write([json.dumps(result, ensure_ascii=False)] if as_json else [f"--data {path}" for path in result["data"]])


def emit_list(rows: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    """Print what can be downloaded, a paragraph each, or one JSON object."""
    if as_json:
        _write([json.dumps({"datasets": rows}, ensure_ascii=False)])
        return
    _write(
        line
        for row in rows
        for line in (
            f"{row['name']}  ({_size(row['bytes'])})",
            f"    {row['title']}",
            f"    licence: {row['licence']}; {row['homepage']}",
            f"    cite: {row['citation']}",
        )
    )


def _sources(manifest: Path | None) -> dict[str, Source]:
    return load_sources() if manifest is None else load_sources(manifest)


def _before(source: Source) -> str:
    return (
        f"{source.name}: {source.title} ({_size(source.bytes)})\n"
        f"licence: {source.licence}\nhomepage: {source.homepage}\ncite: {source.citation}"
    )


def _size(size: int | None) -> str:
    return "size unknown" if size is None else f"{size / 1e6:.1f} MB"


def _result(source: Source, files: Sequence[Fetched]) -> dict[str, Any]:
    return {
        "name": source.name,
        "licence": source.licence,
        "files": [
            {
                "path": str(file.path),
                "url": file.url,
                "bytes": file.bytes,
                "sha256": file.sha256,
                "sha256_known_before": not file.recorded,
                "resumed_from": file.resumed_from,
            }
            for file in files
        ],
        "data": [str(path) for file in files for path in file.data],
    }


@contextmanager
def _bars(console: Console) -> Iterator[tuple[Progress, FileProgress]]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bars:
        tasks: dict[str, TaskID] = {}

        def show(name: str, have: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total, completed=have)
            bars.update(tasks[name], completed=have, total=total)

        yield bars, show


def _write(lines: Iterator[str] | Sequence[str]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
