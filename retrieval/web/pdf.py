"""PDF to text through pypdf, an extra: `pip install 'sufficit[pdf]'`."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..corpora.document import Section
from ..text import sentences

if TYPE_CHECKING:
    from pypdf import PdfReader

PAGES = 60
CHARACTERS = 400_000
_REMEDY = "The page is a PDF, and no reader for it is installed. Install it with: pip install 'sufficit[pdf]'."
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])-\n(?=[a-zà-ÿ])")
_ENDS = re.compile(r"[.!?…。！？:;][\"'”’)\]]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfText:
    """The text of a PDF, or why there is none."""

    title: str = ""
    date: str | None = None
    """`YYYY-MM-DD`."""
    sections: tuple[Section, ...] = ()
    """A page each, titled `Page 1` and so on; a sentence that goes on stands on the page where it ends."""
    cut: bool = False
    """There is more: only the first 60 pages and 400,000 characters are read."""
    problem: str = ""
    """Why nothing was read, and what helps."""


def read_pdf(body: bytes) -> PdfText:
    """The text of a PDF. Never raises for what the file holds; blocking."""
    try:
        from pypdf import PdfReader
    except ImportError:
        return PdfText(problem=_REMEDY)
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it reports each fault of a file that we only read
    try:
        reader = PdfReader(io.BytesIO(body), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            return PdfText(problem="The PDF is encrypted: it cannot be read without its password.")
        sections, cut = _pages(reader)
        title, date = _metadata(reader)
    except Exception as error:  # noqa: BLE001  a damaged file raises whatever its damage leads to
        return PdfText(problem=f"The PDF cannot be read: {type(error).__name__}: {error}"[:300])
    return PdfText(title=title, date=date, sections=sections, cut=cut)


def _pages(reader: PdfReader) -> tuple[tuple[Section, ...], bool]:
    sections: list[Section] = []
    carried, left = "", CHARACTERS
    total = len(reader.pages)
    last = min(total, PAGES)
    for number, raw in _texts(reader, last):
        whole = f"{carried} {raw}".strip()[:left]
        text, carried = _split(whole) if number < last else (whole, "")
        if text:
            sections.append(Section(title=f"Page {number}", text=text))
        left -= len(text)
        if left <= len(carried):
            return tuple(sections), True
    return tuple(sections), total > PAGES


def _texts(reader: PdfReader, count: int) -> Iterator[tuple[int, str]]:
    """Number and text of the first pages, each on one line."""
    for number in range(count):
        raw = reader.pages[number].extract_text()[:CHARACTERS]
        yield number + 1, " ".join(_BROKEN_WORD.sub("", raw).split())


def _split(text: str) -> tuple[str, str]:
    """The sentences that end on this page, and the beginning of one that does not."""
    spans = sentences(text)
    if len(spans) < 2 or _ENDS.search(text):
        return text, ""
    begin = spans[-1][0]
    return text[:begin].rstrip(), text[begin:]


def _metadata(reader: PdfReader) -> tuple[str, str | None]:
    found = reader.metadata
    if found is None:
        return "", None
    try:
        moment = found.modification_date or found.creation_date
    except ValueError:
        moment = None
    return str(found.title or ""), None if moment is None else moment.date().isoformat()
