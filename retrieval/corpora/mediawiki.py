"""A MediaWiki XML dump: its articles, with redirects as their aliases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from lxml import etree
from lxml.etree import _Element

from ..errors import CorpusError
from .document import Document
from .files import DAMAGED, open_bytes
from .tally import ProblemKind, Tally
from .wikitext import HIDDEN_NAMESPACES, page_sections

EXPECTED = "a MediaWiki XML dump (<mediawiki ...>), plain, .bz2 or .gz"
PASSES = 2
"""The file is read twice, first for the redirects: one may stand before or after its target."""

_PAGE_CHARACTERS = 2 * 1024 * 1024
"""MediaWiki's own limit for a page ($wgMaxArticleSize), there in bytes."""
_REDIRECT = re.compile(r"\s*#\w+\s*:?\s*\[\[([^\[\]|#\n]+)")
_ARTICLES = "0"
_MEDIA_AND_CATEGORY = frozenset(("-2", "6", "14"))


@dataclass(slots=True)
class _Site:
    """The dump's header."""

    article_address: str = ""
    hidden_namespaces: frozenset[str] = HIDDEN_NAMESPACES


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    title: str
    namespace: str
    redirect: str
    """Title of the target; empty for a page that is none."""
    model: str
    text: str


@dataclass(slots=True)
class _Revision:
    """The latest revision of the page that is being read."""

    model: str = ""
    text: str = ""


@dataclass(slots=True)
class _Pages:
    """The pages of one pass, in order, from a parser that follows no entity and fetches nothing.

    Iterating raises CorpusError for another kind of XML or one with a DTD, `etree.XMLSyntaxError` or one of
    `DAMAGED` where the file breaks off.
    """

    path: Path
    tally: Tally
    site: _Site = field(default_factory=_Site)

    def __iter__(self) -> Iterator[_Page]:
        wanted = [f"{{*}}{name}" for name in ("mediawiki", "siteinfo", "revision", "page")]
        with open_bytes(self.path, self.tally) as stream:
            events = etree.iterparse(
                stream,
                events=("start", "end"),
                tag=wanted,
                resolve_entities=False,
                no_network=True,
                load_dtd=False,
                huge_tree=False,
            )
            revision = _Revision()
            root = None
            for event, element in events:
                if root is None:
                    root = element.getroottree().getroot()
                    self._check_root(root)
                name = etree.QName(element).localname
                if event == "start":
                    continue
                if name == "siteinfo":
                    self.site = _read_site(element)
                elif name == "revision":
                    revision = _Revision(_child(element, "model"), _child(element, "text"))
                    element.clear()
                elif name == "page":
                    page = _read_page(element, revision)
                    revision = _Revision()
                    element.clear()
                    while element.getprevious() is not None:
                        del element.getparent()[0]
                    yield page

    def _check_root(self, root: _Element) -> None:
        if etree.QName(root).localname != "mediawiki":
            raise CorpusError(
                f"{self.path}, line {root.sourceline}: the outermost element is <{etree.QName(root).localname}>, "
                f"expected {EXPECTED}."
            )
        if root.getroottree().docinfo.internalDTD is not None:
            raise CorpusError(
                f"{self.path} declares a DTD, which no MediaWiki dump does and which may hide entity bombs: it is "
                "not read. Export it again, or remove the <!DOCTYPE ...> declaration if you trust the file."
            )


def _child(element: _Element, name: str) -> str:
    return element.findtext(f"{{*}}{name}") or ""


def _read_site(element: _Element) -> _Site:
    names = {
        (space.text or "").lower()
        for space in element.iterfind("{*}namespaces/{*}namespace")
        if space.get("key") in _MEDIA_AND_CATEGORY
    }
    base = _child(element, "base")
    address = base.rpartition("/")[0] + "/" if base.startswith(("http://", "https://")) else ""
    return _Site(address, HIDDEN_NAMESPACES | {name for name in names if name})


def _read_page(element: _Element, revision: _Revision) -> _Page:
    redirect = element.find("{*}redirect")
    target = redirect.get("title") or "" if redirect is not None else ""
    if not target and (match := _REDIRECT.match(revision.text)):  # dumps before export format 0.4
        target = match[1].strip().replace("_", " ")
    return _Page(
        title=_child(element, "title").strip(),
        namespace=_child(element, "ns").strip() or "0",
        redirect=target,
        model=revision.model,
        text=revision.text,
    )


def probe(path: Path) -> None:
    """Refuse a file that is no dump.

    Raises:
        CorpusError: another kind of XML, a DTD, or XML that breaks off before the first page.
    """
    try:
        next(iter(_Pages(path, Tally(total=0))), None)
    except (etree.XMLSyntaxError, *DAMAGED) as error:
        raise CorpusError(f"{path} cannot be read up to its first page: {error}. Expected {EXPECTED}.") from error


def read(path: Path, tally: Tally) -> Iterator[Document]:
    """The articles (namespace 0) of a dump, in its order; their id is their title, which a wiki keeps unique.

    Memory: one page, and title and target of all redirects. The first pass, for the redirects, unpacks and parses
    the file once more; cleaning wikitext takes most of the time of the second. In a dump with history the last
    revision of a page counts.

    Raises:
        CorpusError: see `probe`. After the first page a broken file is a counted problem, no error.
    """
    redirects = _redirects(path, tally)
    pages = _Pages(path, tally)
    try:
        for page in pages:
            document = _document(
                page, pages.site, redirects.pop(page.title, ()), f"{path.name}, {page.title}", tally
            )
            if document is not None:
                yield document
    except (etree.XMLSyntaxError, *DAMAGED) as error:
        tally.problem(ProblemKind.TRUNCATED, path.name, f"The dump is damaged, its rest was not read: {error}.")
        return
    for target, titles in redirects.items():
        detail = f"{', '.join(titles[:3])} leads to {target!r}, which is no article of this dump."
        tally.problem(ProblemKind.REDIRECT_WITHOUT_TARGET, path.name, detail, times=len(titles))


def _redirects(path: Path, tally: Tally) -> dict[str, tuple[str, ...]]:
    """Titles that lead to an article, by its title, in the order of the dump."""
    found: dict[str, tuple[str, ...]] = {}
    try:
        for page in _Pages(path, tally):
            if page.redirect and page.namespace == _ARTICLES:
                found[page.redirect] = (*found.get(page.redirect, ()), page.title)
    except (etree.XMLSyntaxError, *DAMAGED):
        return found  # the second pass meets the same damage and reports it
    return found


def _document(page: _Page, site: _Site, aliases: tuple[str, ...], where: str, tally: Tally) -> Document | None:
    if page.redirect:
        return None
    refused: tuple[ProblemKind, str] | None = None
    if page.namespace != _ARTICLES:
        refused = ProblemKind.OTHER_NAMESPACE, f"Its namespace is {page.namespace}; articles are in {_ARTICLES}."
    elif not page.title:
        refused = ProblemKind.MISSING_FIELD, "The page has no title."
    elif page.model not in {"", "wikitext"}:
        refused = ProblemKind.OTHER_FORMAT, f"Its content model is {page.model!r}, expected wikitext."
    elif len(page.text) > _PAGE_CHARACTERS:
        refused = ProblemKind.TOO_LARGE, f"It has {len(page.text)} characters, the limit is {_PAGE_CHARACTERS}."
    sections = () if refused else page_sections(page.text, hidden_namespaces=site.hidden_namespaces)
    if not refused and not sections:
        refused = ProblemKind.EMPTY_TEXT, "Nothing is left of it without markup."
    if refused:
        tally.problem(refused[0], where, refused[1])
        return None
    url = (
        site.article_address + quote(page.title.replace(" ", "_"), safe="/:,()'") if site.article_address else None
    )
    return Document(id=page.title, title=page.title, sections=sections, url=url, aliases=aliases)
