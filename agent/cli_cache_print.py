"""How `sufficit cache` prints what it found."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console
from rich.table import Table

from .plain import plain_line
from .wire import json_line


def print_found(
    data: dict[str, Any], lists: dict[str, list[dict[str, Any]]] | None = None, *, as_json: bool
) -> None:
    """One JSON object, or the same for people: values line by line, lists as tables."""
    if as_json:
        sys.stdout.write(json_line(data | (lists or {})))
        return
    console = Console(highlight=False, markup=False)
    for key, value in data.items():
        console.print(f"{key:<22} {plain_line(str(value))}", soft_wrap=True)
    for rows in (lists or {}).values():
        if rows:
            table = Table(*(name.replace("_", " ") for name in rows[0]), box=None)
            for row in rows:
                table.add_row(*("" if value is None else plain_line(str(value)) for value in row.values()))
            console.print(table)
