"""What a corpus consists of: documents in sections, cut into passages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..passage import Passage
from ..text import chunk_spans, encodable, plain_name

_SENTENCE_END = ".!?…。！？؟।"
_CLOSING = "\"'”’»)]}）」』"
_FRAGMENT_WORDS = 8
_FRAGMENT_CHARACTERS = 60
"""In scripts without spaces a whole paragraph is one word: the length in characters decides too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A titled part of a document. Lone surrogates become U+FFFD, as they do in a `Document`."""

    title: str = ""
    """Path of its headings, outermost first, e.g. `Life: Early years`; empty for what stands before the first."""
    text: str
    """Plain text; paragraphs are parted by a blank line."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", encodable(self.title))
        object.__setattr__(self, "text", encodable(self.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One article, file or record of a corpus.

    What no database takes becomes plain here: lone surrogates are escaped in id and url
    (`retrieval.text.plain_name`) and replaced by U+FFFD in titles and aliases.
    """

    id: str
    """Unique in the corpus, where the corpus keeps its own rules; the `source_id` of all its passages."""
    title: str = ""
    sections: tuple[Section, ...] = ()
    """In reading order; none of them blank."""
    url: str | None = None
    """An address for citations."""
    aliases: tuple[str, ...] = ()
    """Other titles under which it is known (redirects), in the corpus's order."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", plain_name(self.id))
        object.__setattr__(self, "title", encodable(self.title))
        object.__setattr__(self, "url", None if self.url is None else plain_name(self.url))
        object.__setattr__(self, "aliases", tuple(map(encodable, self.aliases)))


def passages(document: Document, *, max_words: int, overlap: int = 0) -> Iterator[Passage]:
    """Cut a document into passages of whole sentences (see `retrieval.text.chunk_spans`), in reading order.

    A passage never holds text of two sections. What is left over at the end of a section, fewer than 8 words
    (and than an eighth of `max_words`) that end no sentence, is joined to the passage before it, which then
    is longer than `max_words` by so many words. A section that has nothing else stays a passage of its own:
    no text is dropped.

    Raises:
        ValueError: `max_words` is below 1, or `overlap` below 0.
    """
    for section in document.sections:
        spans = chunk_spans(section.text, max_words, overlap)
        if len(spans) > 1 and _is_fragment(section.text[spans[-2][1] : spans[-1][1]].strip(), max_words):
            _, end = spans.pop()
            spans[-1] = (spans[-1][0], end)
        for begin, end in spans:
            yield Passage(
                text=section.text[begin:end],
                title=document.title,
                section=section.title,
                source_id=document.id,
                url=document.url,
            )


def _is_fragment(text: str, max_words: int) -> bool:
    if text.rstrip(_CLOSING).endswith(tuple(_SENTENCE_END)):
        return False
    words = len(text.split())
    return words < min(_FRAGMENT_WORDS, max_words / 8) and len(text) < _FRAGMENT_CHARACTERS
