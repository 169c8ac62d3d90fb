"""Pages that are there but hold no content: challenges, consent and pay walls, empty shells, lists of links (F05).

A phrase alone condemns nothing: an article about captchas speaks of captchas. Phrases count where little text
stands beside them (`retrieval.web.phrases`); a page with prose is content whatever surrounds it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..corpora.document import Section
from ..text import tokenise
from .phrases import (
    BOILERPLATE,
    CHALLENGE,
    CHALLENGE_SCRIPT,
    CONSENT,
    ERROR_PAGE,
    LOGIN,
    PAYWALL,
    SCRIPTS_WANTED,
)

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_SHORT = 120
"""Words: walls and challenges say less, articles more."""
_TEASER = 250
"""Words: what stands in front of a pay wall."""
_PROSE = 6
"""Words in a sentence that is not one of the site's own: what a page must have at least, if it is mostly links."""
_LINKED = 0.5
"""Share of a page's words that are links, above which it may be a navigation page. An article has far fewer."""


_BANNER_NAME = re.compile(
    r"cookie|consent|gdpr|onetrust|didomi|usercentrics|truste|\bcmp\b|privacy-?(?:banner|notice)", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.!?…。！？؟।][\"'”’»)\]」』]*(?:\s|$)")
_BANNER_WORDS = 300
_SAID = 8_000
"""Characters that are searched for phrases: few words can still be megabytes."""
_LINKS = ("navigation", "The page is a list of links.")
_BANNER_TAGS = frozenset({"div", "section", "aside", "dialog", "form", "p", "span"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What tells of a page without content, taken before anything is dropped from it."""

    challenge_script: bool
    scripts: bool
    """There are scripts that could fill the page."""
    scripts_wanted: bool
    """A `<noscript>` asks for scripts, or the page is a lone mount point of an application."""
    linked: float
    """Share of the visible words that are links, in [0, 1]."""
    paid: bool
    """Its metadata say that it is not free (schema.org `isAccessibleForFree`)."""


def look_at(tree: HtmlElement) -> Signs:
    """The signs of a whole page."""
    scripts = [f"{script.get('src') or ''} {(script.text or '')[:20_000]}" for script in tree.iter("script")]
    noscript = " ".join(str(part.text_content()) for part in tree.iter("noscript"))
    mounts = tree.xpath(
        "//*[@id='root' or @id='app' or @id='__next' or @id='__nuxt' or @ng-app or @data-reactroot]"
    )
    words = sum(
        len((text or "").split()) for text in tree.xpath("//body//text()[not(ancestor::script|ancestor::style)]")
    )
    linked = sum(len((text or "").split()) for text in tree.xpath("//body//a//text()"))
    return Signs(
        challenge_script=any(CHALLENGE_SCRIPT.search(script) for script in scripts),
        scripts=bool(scripts),
        scripts_wanted=bool(SCRIPTS_WANTED.search(noscript[:_SAID])) or any(not len(mount) for mount in mounts),
        linked=linked / words if words else 0.0,
        paid=any(re.search(r'"isAccessibleForFree"\s*:\s*"?false', script, re.IGNORECASE) for script in scripts),
    )


def drop_banners(tree: HtmlElement) -> str | None:
    """Take out what asks for consent, known by its name and its words; its text, or None if there is none."""
    texts = []
    for element in tree.xpath("//body//*[@id or @class or @role='dialog']"):
        name = f"{element.get('id') or ''} {element.get('class') or ''}"
        if element.tag not in _BANNER_TAGS or not (_BANNER_NAME.search(name) or element.get("role") == "dialog"):
            continue
        raw = str(element.text_content())
        if element.getparent() is None or len(raw) > _SAID:
            continue
        text = " ".join(raw.split())
        if len(text.split()) <= _BANNER_WORDS and CONSENT.search(text):
            element.drop_tree()
            texts.append(text)
    return " ".join(texts) if texts else None


def drop_furniture(tree: HtmlElement) -> None:
    """Take out navigation and the site's own head and foot, which are no content of this page."""
    for element in tree.xpath(
        "//nav|//*[@role='navigation' or @role='banner' or @role='contentinfo' or @role='search']"
        "|//footer[not(ancestor::article)]|//body/header[not(.//h1)]"
    ):
        if element.getparent() is not None and element.tag not in {"body", "html", "main"}:
            element.drop_tree()


def poverty(
    title: str, sections: Sequence[Section], signs: Signs, *, banner: str | None
) -> tuple[str, str] | None:
    """Why a page holds no content, as a flag and a sentence for people; None if it holds some.

    Args:
        title: Its title.
        sections: Its main text.
        signs: From `look_at`.
        banner: The text of the banners that were dropped, if there were any.
    """
    text = "\n\n".join(section.text for section in sections)
    words = len(tokenise(text))
    said = f"{title}\n{text[:_SAID]}"
    if words < _SHORT:
        if _asks_for_proof(title, text, words, signs):
            return "challenge", "The site wants a proof that a person asks."
        if LOGIN.search(said):
            return "login_wall", "The site shows this page after a login only."
        if ERROR_PAGE.search(said):
            return (
                "error_page",
                "The site says that it has no such page, or has trouble, with a status of success.",
            )
        if _mostly(CONSENT, text):
            return "consent_wall", "The site shows this page after a consent only."
    if words < _TEASER and (PAYWALL.search(said) or signs.paid):
        return "paywall", "The site shows this page to subscribers only."
    return _emptiness(text, words, signs, banner=banner)


def _emptiness(text: str, words: int, signs: Signs, *, banner: str | None) -> tuple[str, str] | None:
    shell = "shell", "The page is filled by scripts, which are not run."
    if words:
        if words < _SHORT and _mostly(SCRIPTS_WANTED, text):
            return shell
        return _LINKS if signs.linked >= _LINKED and _prose(text) < _PROSE else None
    if banner is not None:
        return "consent_wall", "The site shows this page after a consent only."
    if signs.linked >= _LINKED and not signs.scripts_wanted:
        return _LINKS
    return shell if signs.scripts else ("empty", "The page holds no text.")


def _asks_for_proof(title: str, text: str, words: int, signs: Signs) -> bool:
    """A challenge brings its script along, or says little; an article about challenges does neither."""
    if not words:
        return signs.challenge_script
    said = CHALLENGE.search(title) or CHALLENGE.search(text[:_SAID])
    return said is not None and (signs.challenge_script or words < _SHORT // 3)


def _mostly(phrases: re.Pattern[str], text: str) -> bool:
    """Whether at least half of a text's words stand in paragraphs with one of the phrases."""
    paragraphs = [paragraph for paragraph in text.split("\n\n") if paragraph.strip()]
    said = sum(len(tokenise(paragraph)) for paragraph in paragraphs if phrases.search(paragraph[:_SAID]))
    return said > 0 and 2 * said >= sum(map(len, map(tokenise, paragraphs)))


def _prose(text: str) -> int:
    """Words in paragraphs that end like sentences and are not the site's own furniture."""
    paragraphs = (
        part for part in text.split("\n\n") if _SENTENCE_END.search(part) and not BOILERPLATE.search(part[:_SAID])
    )
    return sum(len(tokenise(paragraph)) for paragraph in paragraphs)
