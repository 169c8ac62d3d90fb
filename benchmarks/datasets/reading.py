"""Files of records, whatever their format: official files and our own JSON lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import DatasetError
from .formats import UNDERSTOOD, Format, recognise
from .lines import Fault
from .official import read_hotpotqa, read_iirc, read_musique, read_squad, read_two_wiki
from .records import Record, read_normalised, record_key

_READERS: Mapping[Format, Callable[[Path], Iterator[tuple[int, Record | Fault]]]] = {
    "normalised": read_normalised,
    "hotpotqa": read_hotpotqa,
    "2wikimultihopqa": read_two_wiki,
    "musique": read_musique,
    "squad": read_squad,
    "iirc": read_iirc,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFile:
    """All that some files hold."""

    records: tuple[Record, ...]
    """In the files' order, no two of one dataset and id."""
    faults: tuple[Fault, ...]
    """All that could not be used, with the place."""


def stream_records(path: Path) -> Iterator[Record | Fault]:
    """Read one file, plain or gzip, entry by entry; its format is told from its content.

    Whatever cannot be used yields a `Fault` in its place and reading goes on; the second record with one dataset
    and id is such a fault (case R11).

    Raises:
        DatasetError: there is no such file, it cannot be opened, or its format is none that is understood.
    """
    return _stream(path, {})


def load_records(paths: Iterable[Path]) -> RecordFile:
    """Several files as one; a record that stands in two of them counts once and is a fault. See `stream_records`.

    Raises:
        DatasetError: a file cannot be opened, or its format is none that is understood.
    """
    seen: dict[tuple[str, str], str] = {}
    items = [item for path in paths for item in _stream(path, seen)]
    return RecordFile(
        records=tuple(item for item in items if isinstance(item, Record)),
        faults=tuple(item for item in items if isinstance(item, Fault)),
    )


def fault_counts(faults: Sequence[Fault]) -> list[dict[str, str | int]]:
    """How many faults of each kind each file has, with the first one as an example: for reports."""
    kinds: dict[tuple[str, str], list[Fault]] = {}
    for fault in faults:
        kinds.setdefault((fault.file, fault.kind), []).append(fault)
    return [
        {"file": file, "kind": kind, "count": len(found), "line": found[0].line, "detail": found[0].detail}
        for (file, kind), found in kinds.items()
    ]


def _stream(path: Path, seen: dict[tuple[str, str], str]) -> Iterator[Record | Fault]:
    form = recognise(path)
    if form is None:
        raise DatasetError(
            f"{path} is in no format that is understood. Expected one of: {'; '.join(UNDERSTOOD.values())}. "
            "All of them may be gzip; unpack other archives first."
        )
    for line, item in _READERS[form](path):
        if isinstance(item, Record) and (key := record_key(item)) in seen:
            detail = f"The id {item.id!r} of {item.dataset!r} occurs before, in {seen[key]}; the first one counts."
            yield Fault(file=path.name, line=line, kind="repeated_id", detail=detail)
            continue
        if isinstance(item, Record):
            seen[record_key(item)] = path.name
        yield item
