"""One HTML file made of blocks: text, notices, tables, plots. Text of a block is shown, never obeyed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from agent.plain import plain_line

from ..errors import RunFileError, SettingsError

if TYPE_CHECKING:
    from jinja2 import Environment

INSTALL = "Install what reports need: pip install 'sufficit[report]'"
_HERE = Path(__file__).parent
LONGEST = 600
"""Characters of one text that a page shows; a longer one is cut. A name of a dataset comes from a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Paragraphs, and points below them."""

    kind: ClassVar[str] = "text"
    paragraphs: Sequence[str] = ()
    points: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A sentence that must not be overlooked."""

    kind: ClassVar[str] = "notice"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A line to be typed."""

    kind: ClassVar[str] = "command"
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A figure in a table, or a text."""

    text: str
    interval: str = ""
    """In small type below it."""
    best: bool = False
    """Marked as the best of its column."""
    number: bool = True
    """Set to the right, in digits of one width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a table: its name, then a cell for each further column."""

    name: str
    cells: Sequence[Cell]
    strong: bool = False
    """Stands out from the others."""
    note: str = ""
    """In small type below the name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Lines that belong together, under a heading of their own unless it is empty."""

    title: str
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with a caption; the first column holds the names of the lines."""

    kind: ClassVar[str] = "table"
    caption: str
    columns: Sequence[str]
    groups: Sequence[Group]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A drawing with a caption."""

    svg: str
    """A whole `<svg>` element, made by `svg.to_svg`: it is not escaped."""
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plots:
    """Drawings side by side, as many as the screen is wide enough for."""

    kind: ClassVar[str] = "plots"
    plots: Sequence[Plot]


Block: TypeAlias = Text | Notice | Command | Table | Plots


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Blocks under a heading."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A whole file."""

    title: str
    lead: Sequence[Block]
    """Before the table of contents."""
    sections: Sequence[Section] = field(default=())


def require_report(path: Path) -> None:
    """Find out before anything is measured whether a report can be made and written.

    Raises:
        RunFileError: no folder to write into.
        SettingsError: matplotlib or jinja2 is not installed.
    """
    for name in ("matplotlib", "jinja2"):
        if find_spec(name) is None:
            raise SettingsError(f"An HTML report needs {name}. {INSTALL}")
    if not path.parent.is_dir() or path.is_dir():
        raise RunFileError(f"Cannot write the report {path}: expected a file in a folder that exists.")


def page_html(page: Page) -> str:
    """The file's text: the same page gives the same text. See `require_report`."""
    return _environment().get_template("page.html.jinja").render(page=page)


def write_page(page: Page, path: Path) -> None:
    """Write it; a file that stands there is replaced at once, never half.

    Raises:
        RunFileError: it cannot be written.
    """
    write_whole(page_html(page), path)


def write_whole(text: str, path: Path) -> None:
    """Write a file of a report, like `write_page`.

    Raises:
        RunFileError: it cannot be written.
    """
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise RunFileError(f"Cannot write the report {path}: {error.strerror or error}") from error


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["shown"] = shown
    return made


def shown(text: str) -> str:
    """A text in one line, without signs that hide or reorder, cut at `LONGEST`."""
    line = plain_line(text)
    return line if len(line) <= LONGEST else line[:LONGEST] + "…"
