"""What was fetched, as a page: title, main text in sections, date, language, and what is wrong with it.

Fetched text is data. What a reader does not see is dropped (`retrieval.web.hidden`, `retrieval.web.visible`); what
holds no content is said to hold none (`retrieval.web.lowcontent`); nothing is executed and nothing is obeyed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..corpora.document import Section
from ..corpora.outline import Outline
from .charset import decode, is_garbled
from .origin import stated_date, stated_language
from .outcome import Fetched, Kind
from .visible import one_line, visible

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_MARKUP = re.compile(r"text/html|(?:text|application)/(?:.+\+)?xml")
_PLAIN = frozenset({"text/plain", "text/markdown", "text/csv"})
_BLANK_LINES = re.compile(r"\r?\n[^\S\n]*\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page that was fetched, as text."""

    url: str
    """As asked for; for the citation."""
    title: str = ""
    """On one line, at most 200 characters; empty if the page has none."""
    text: str = ""
    """The sections' texts with their titles, parted by blank lines; empty unless `ok`."""
    date: str | None = None
    """Last change or publication as the page states it, `YYYY-MM-DD`."""
    language: str | None = None
    """As the page or its header declares it, e.g. `en` or `de-CH`; not guessed."""
    flags: tuple[str, ...] = ()
    """What was noticed, sorted. Dropped or cut: `hidden_text_dropped`, `zero_width_dropped`,
    `control_characters_stripped`, `title_trimmed`, `banner_dropped`, `pdf_cut`. Why it holds no content:
    `challenge`, `consent_wall`, `login_wall`, `paywall`, `error_page`, `shell`, `navigation`, `empty`."""
    outcome: Kind = "ok"
    """`ok`, `low_content`, `garbled`, `unsupported`, or what the fetch ended with."""
    detail: str = ""
    """For people: why it is not `ok`, and what helps."""
    sections: tuple[Section, ...] = ()
    """In reading order; empty unless `ok`. Those of a PDF are its pages, titled `Page 1` and so on."""
    pdf: bool = False
    """The sections are pages of a PDF."""


def extract(fetched: Fetched) -> Page:
    """The page in what was fetched. Pure; blocking, so called in a worker thread; never raises for content."""
    if fetched.outcome != "ok":
        return Page(url=fetched.url, outcome=fetched.outcome, detail=fetched.detail)
    kind = fetched.content_type.partition(";")[0].strip().lower()
    if kind == "application/pdf":
        return _from_pdf(fetched)
    markup = _MARKUP.fullmatch(kind) is not None
    if not markup and kind not in _PLAIN:
        return Page(
            url=fetched.url,
            outcome="unsupported",
            detail=f"The content is {kind or 'of an unknown type'}: expected HTML, plain text or PDF.",
        )
    decoded = decode(fetched.body, header=fetched.headers.get("content-type", ""), markup=markup)
    if decoded.garbled:
        return Page(
            url=fetched.url,
            outcome="garbled",
            detail=f"Read as {decoded.encoding} (by {decoded.source}) most of it is no text.",
        )
    page = _from_markup(fetched, decoded.text) if markup else _from_text(fetched, decoded.text)
    return _checked(page)


def _from_text(fetched: Fetched, text: str) -> Page:
    shown = visible(text)
    outline = Outline()
    for paragraph in _BLANK_LINES.split(shown.text):
        outline.paragraph(paragraph)
    flags = _flags(control_characters_stripped=shown.control, zero_width_dropped=shown.zero_width)
    return Page(url=fetched.url, sections=outline.sections(), flags=flags, language=stated_language(None, fetched))


def _from_markup(fetched: Fetched, markup: str) -> Page:
    from ..corpora.webpage import parse_markup, tree_sections
    from .hidden import drop_hidden
    from .lowcontent import drop_banners, drop_furniture, look_at, poverty

    shown = visible(markup)
    tree = parse_markup(shown.text)
    if tree is None:
        return Page(url=fetched.url, outcome="low_content", flags=("empty",), detail="The page is empty.")
    signs = look_at(tree)
    date, language = stated_date(tree, fetched.url, now=fetched.received_at), stated_language(tree, fetched)
    hidden = drop_hidden(tree)
    control, zero_width = _clean(tree)
    banner = drop_banners(tree)
    drop_furniture(tree)
    title, sections = tree_sections(tree)
    line, trimmed = one_line(title)
    page = Page(
        url=fetched.url,
        title=line,
        date=date,
        language=language,
        sections=sections,
        flags=_flags(
            hidden_text_dropped=hidden,
            control_characters_stripped=shown.control or control,
            zero_width_dropped=shown.zero_width or zero_width,
            banner_dropped=banner is not None,
            title_trimmed=trimmed,
        ),
    )
    found = poverty(line, sections, signs, banner=banner)
    return page if found is None else _without_content(page, *found)


def _from_pdf(fetched: Fetched) -> Page:
    from .pdf import read_pdf

    found = read_pdf(fetched.body)
    if found.problem:
        return Page(url=fetched.url, outcome="unsupported", detail=found.problem, pdf=True)
    title, trimmed = one_line(found.title)
    sections, flags = _shown(found.sections)
    page = Page(
        url=fetched.url,
        title=title,
        date=found.date,
        language=stated_language(None, fetched),
        sections=sections,
        flags=tuple(sorted({*flags, *_flags(pdf_cut=found.cut, title_trimmed=trimmed)})),
        pdf=True,
    )
    return _checked(page)


def _checked(page: Page) -> Page:
    """The page with its text, or with what is wrong with it."""
    if page.outcome != "ok":
        return page
    text = "\n\n".join(part for section in page.sections for part in (section.title, section.text) if part)
    if not text.strip():
        return _without_content(page, "empty", "The page holds no text.")
    if is_garbled(text):
        return replace(page, sections=(), outcome="garbled", detail="Most of its text is no text.")
    return replace(page, text=text)


def _without_content(page: Page, flag: str, detail: str) -> Page:
    flags = tuple(sorted({*page.flags, flag}))
    return replace(page, sections=(), text="", flags=flags, outcome="low_content", detail=detail)


def _clean(tree: HtmlElement) -> tuple[bool, bool]:
    """Take unseen characters out of all texts: those that were written as entities are characters only now."""
    control = zero_width = False
    for element in tree.iter():
        for name in ("text", "tail"):
            text = getattr(element, name)
            if text and not (text.isascii() and text.isprintable()):
                shown = visible(text)
                setattr(element, name, shown.text)
                control, zero_width = control or shown.control, zero_width or shown.zero_width
    return control, zero_width


def _shown(sections: Iterable[Section]) -> tuple[tuple[Section, ...], tuple[str, ...]]:
    kept, control, zero_width = [], False, False
    for section in sections:
        shown = visible(section.text)
        control, zero_width = control or shown.control, zero_width or shown.zero_width
        if shown.text.strip():
            kept.append(replace(section, text=shown.text))
    return tuple(kept), _flags(control_characters_stripped=control, zero_width_dropped=zero_width)


def _flags(**flags: bool) -> tuple[str, ...]:
    return tuple(sorted(name for name, present in flags.items() if present))
