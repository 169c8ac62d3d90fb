"""What was run, as tables: settings, versions, machine, what failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .figures import NONE
from .page import Cell, Group, Line, Table


def pairs_table(caption: str, values: Mapping[str, Any]) -> Table:
    """What was chosen or found, a line for each value; values inside values bear the names on the way to them."""
    lines = [Line(name=name, cells=[text_cell(value)]) for name, value in _flat("", values)]
    return Table(caption=caption, columns=["name", "value"], groups=[Group(title="", lines=lines)])


def failures_table(failures: Sequence[Mapping[str, Any]], *, caption: str) -> Iterator[Table]:
    """A line for each failure; no table where nothing failed."""
    if not failures:
        return
    columns = list(dict.fromkeys(key for failure in failures for key in failure))
    lines = [
        Line(name=str(at), cells=[text_cell(failure.get(key)) for key in columns])
        for at, failure in enumerate(failures, start=1)
    ]
    yield Table(caption=caption, columns=["", *columns], groups=[Group(title="", lines=lines)])


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  what a run depends on is any JSON
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flat(f"{name}.{key}".lstrip("."), item)
    elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        for at, item in enumerate(value, start=1):
            yield from _flat(f"{name}.{at}", item)
    else:
        yield name, ", ".join(map(str, value)) if isinstance(value, list | tuple) else value


def text_cell(value: object) -> Cell:
    """A text in a table, a dash where there is none."""
    return Cell(text=NONE if value is None or value == "" else str(value), number=False)
