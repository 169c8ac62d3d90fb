"""A page, cut into passages that can be cited."""

from __future__ import annotations

from dataclasses import replace

from ..corpora.document import Document, passages
from ..passage import Passage
from ..text import plain_name
from .extract import Page
from .fragment import page_fragment, text_fragment
from .urls import fetch_key

MAX_WORDS = 150
"""As in an index (`retrieval.index.build`)."""
MAX_PASSAGES = 400
"""Of one page: about 60,000 words."""


def page_passages(page: Page, *, max_words: int = MAX_WORDS) -> tuple[Passage, ...]:
    """The passages of a page, in reading order, whole sentences each; none unless the page is `ok`.

    `source_id` is the page's key (`fetch_key`), so that the chunks of one page stay one source under every address
    that means it; `url` leads to the passage itself, by a text fragment, in a PDF by its page. When the page was
    written stands in `Page.date`.

    Raises:
        ValueError: `max_words` is below 1.
    """
    if page.outcome != "ok":
        return ()
    document = Document(id=fetch_key(page.url), title=page.title, sections=page.sections, url=page.url)
    whole = " ".join(page.text.split())
    found: list[Passage] = []
    for passage in passages(document, max_words=max_words):
        if len(found) == MAX_PASSAGES:
            break
        found.append(replace(passage, url=plain_name(_citation(page, passage, whole))))
    return tuple(found)


def _citation(page: Page, passage: Passage, whole: str) -> str:
    number = passage.section.removeprefix("Page ")
    if page.pdf and number.isdecimal():
        return page_fragment(page.url, int(number))
    return text_fragment(page.url, passage.text, within=whole)
