"""Collect paragraphs under headings into sections."""

from __future__ import annotations

from .document import Section


class Outline:
    """Headings and paragraphs in reading order, as the sections that they make up.

    A section's title is the path of its headings; headings without text leave no section.
    """

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []
        self._paragraphs: list[str] = []
        self._sections: list[Section] = []

    def heading(self, level: int, title: str) -> None:
        """Begin a section. `level` 1 is the outermost; a level may be left out on the way down."""
        self._close()
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._path.append((level, " ".join(title.split())))

    def paragraph(self, text: str) -> None:
        """Add a paragraph to the section; white space is folded, a blank one is left out."""
        folded = " ".join(text.split())
        if folded:
            self._paragraphs.append(folded)

    def sections(self) -> tuple[Section, ...]:
        """All sections with text, in order."""
        self._close()
        return tuple(self._sections)

    def _close(self) -> None:
        if self._paragraphs:
            title = ": ".join(title for _, title in self._path if title)
            self._sections.append(Section(title=title, text="\n\n".join(self._paragraphs)))
            self._paragraphs = []
