"""A folder of .txt, .md and .html files, one document a file."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator
from pathlib import Path

from ..errors import CorpusError
from .document import Document, Section
from .markdown import markdown_sections
from .outline import Outline
from .tally import ProblemKind, Tally
from .webpage import webpage_sections

EXPECTED = "a folder with .txt, .md or .html files, also in folders below it"

_TEXT = frozenset((".txt", ".text"))
_MARKDOWN = frozenset((".md", ".markdown"))
_HTML = frozenset((".html", ".htm", ".xhtml"))
_READ = _TEXT | _MARKDOWN | _HTML
_BLANK_LINES = re.compile(r"\r?\n[^\S\n]*\n")
_FILE_BYTES = 16 * 1024 * 1024
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def probe(folder: Path) -> None:
    """Refuse a folder without any file that is read.

    Raises:
        CorpusError: says what was found instead.
    """
    trial = Tally(total=0)
    if not _names(folder, trial):
        others = trial.problems.get(ProblemKind.OTHER_FORMAT, 0)
        raise CorpusError(
            f"{folder} holds no .txt, .md or .html file ({others} of other kinds; hidden files are not read). "
            f"Expected {EXPECTED}."
        )


def file_names(folder: Path) -> list[str]:
    """Names of the files that are read, relative to `folder` with `/` between parts, sorted."""
    return _names(folder, Tally(total=0))


def read(folder: Path, tally: Tally) -> Iterator[Document]:
    """A document a file, in the order of their names; the name is the id. Memory: one file, at most 16 MiB.

    The title is the first heading (.md) or `<title>` (.html), else the file's name. Encoding: by byte order mark,
    else UTF-8, else the best guess of charset-normalizer. Hidden files and folders are not read, links to folders
    and to places outside of `folder` are not followed.
    """
    for name in _names(folder, tally):
        data = _bytes(folder / name, name, tally)
        if data is None:
            continue
        text = _decoded(data)
        if text is None:
            tally.problem(ProblemKind.UNDECODABLE, name, "Its bytes are text in no encoding that was recognised.")
            continue
        title, sections = _parsed(text, Path(name).suffix.lower())
        if not sections:
            empty = ProblemKind.NO_CONTENT if Path(name).suffix.lower() in _HTML else ProblemKind.EMPTY_TEXT
            tally.problem(empty if text.strip() else ProblemKind.EMPTY_TEXT, name, "No text was found in it.")
            continue
        yield Document(id=name, title=title or Path(name).stem, sections=sections)


def _names(folder: Path, tally: Tally) -> list[str]:
    root = folder.resolve()

    def unreadable(error: OSError) -> None:
        tally.problem(ProblemKind.UNREADABLE, str(error.filename), f"{error.strerror}.")

    names: list[str] = []
    for place, folders, files in os.walk(folder, onerror=unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in [*folders, *files]:
            path = Path(place, name)
            relative = path.relative_to(folder).as_posix()
            if name in folders:
                if path.is_symlink():
                    tally.problem(ProblemKind.LINK_NOT_FOLLOWED, relative, "It is a link to a folder.")
            elif name.startswith("."):
                continue
            elif path.suffix.lower() not in _READ:
                tally.problem(ProblemKind.OTHER_FORMAT, relative, f"Expected {', '.join(sorted(_READ))}.")
            elif path.is_symlink() and not path.resolve().is_relative_to(root):
                tally.problem(ProblemKind.LINK_NOT_FOLLOWED, relative, "It leads out of the folder.")
            elif path.is_file():
                names.append(relative)
            else:
                tally.problem(ProblemKind.UNREADABLE, relative, "It is no regular file.")
    return sorted(names)


def _bytes(path: Path, name: str, tally: Tally) -> bytes | None:
    try:
        with path.open("rb") as file:
            data = file.read(_FILE_BYTES + 1)
    except OSError as error:
        tally.problem(ProblemKind.UNREADABLE, name, f"{error.strerror}.")
        return None
    tally.advance(len(data))
    if len(data) > _FILE_BYTES:
        tally.problem(ProblemKind.TOO_LARGE, name, f"It is larger than {_FILE_BYTES >> 20} MiB. Split it.")
        return None
    return data


def _decoded(data: bytes) -> str | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _strict(data[len(mark) :], encoding)
    text = _strict(data, "utf-8")
    if text is not None and "\0" not in text:
        return text
    if b"\0" in data:
        return None
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    return None if best is None else str(best)


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _parsed(text: str, suffix: str) -> tuple[str, tuple[Section, ...]]:
    if suffix in _MARKDOWN:
        return markdown_sections(text)
    if suffix in _HTML:
        return webpage_sections(text)
    outline = Outline()
    for paragraph in _BLANK_LINES.split(text):
        outline.paragraph(paragraph)
    return "", outline.sections()
