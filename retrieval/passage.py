"""The unit of evidence: a passage of text whose identity is its content."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass, field


def passage_id(text: str) -> str:
    r"""The identity of a text: sha256 (hex) of it after NFKC and white-space folding.

    >>> passage_id("Full  width") == passage_id("Ｆｕｌｌ width\n")
    True
    """
    folded = " ".join(unicodedata.normalize("NFKC", text).split())
    return hashlib.sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a text was found."""

    source_id: str
    """The document or URL. Chunks of one document share it."""
    title: str = ""
    """The document's title; never part of an identity."""
    section: str = ""
    """The section's title inside the document; empty where the source has none."""
    url: str | None = None
    """An address for the citation, if the source has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of text with its provenance.

    Two passages are the same passage if and only if their `id` is the same, whatever their titles say. A text
    that was found in several sources is one passage; the other places stand in `also`.
    """

    text: str
    """The text as it was found, not normalised."""
    title: str = ""
    """Title of the document."""
    section: str = ""
    """Title of the section inside the document, empty where there is none."""
    source_id: str = ""
    """The document or URL that this is a chunk of; the passage's own id where none was given."""
    url: str | None = None
    """An address for the citation."""
    also: tuple[Provenance, ...] = ()
    """Other sources with the same text, in order of discovery."""
    id: str = field(init=False)
    """`passage_id(text)`; computed, never given."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", passage_id(self.text))
        if not self.source_id:
            object.__setattr__(self, "source_id", self.url or self.id)

    @property
    def provenance(self) -> tuple[Provenance, ...]:
        """Every place where this text was found, the first one first."""
        first = Provenance(source_id=self.source_id, title=self.title, section=self.section, url=self.url)
        return (first, *self.also)

    @property
    def heading(self) -> str:
        """Title and section in one line: `Title, Section`."""
        return ", ".join(part for part in (self.title, self.section) if part)

    @property
    def full_text(self) -> str:
        """Heading and text, as indexes and encoders read a passage: `Title, Section. Text`."""
        return f"{self.heading}. {self.text}" if self.heading else self.text

    def merged_with(self, other: Passage) -> Passage:
        """This passage, knowing the places of `other` too.

        Raises:
            ValueError: the texts differ, so the two are not one passage.
        """
        if other.id != self.id:
            raise ValueError(
                f"Only passages with one text can be merged: {self.id[:12]} is not {other.id[:12]}. "
                "Keep both; identity is content, never title."
            )
        known = self.provenance
        fresh = tuple(dict.fromkeys(place for place in other.provenance if place not in known))
        if not fresh:
            return self
        return Passage(
            text=self.text,
            title=self.title,
            section=self.section,
            source_id=self.source_id,
            url=self.url,
            also=(*self.also, *fresh),
        )
