"""What a page's own style sheets and attributes say about its elements, as far as it decides what is seen.

Not a browser: linked sheets, media queries and scripts are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..words import word_set

if TYPE_CHECKING:
    from lxml.html import HtmlElement

Style = Mapping[str, str]
"""Property to value, both in lower case."""

_READ = word_set(
    "display visibility opacity font-size text-indent position left right top bottom margin-left margin-top clip "
    "clip-path width height overflow transform color background background-color"
)
_RULES = 200
_VISITS = 3_000_000
"""Elements looked at for all rules together: a page of 100,000 elements gets 30 rules (about a second)."""

_STYLES, _LONGEST = 5_000, 100_000
"""Different `style` attributes of a page that are read, and the characters of one, or of a `<style>` element."""

_Weight = tuple[bool, tuple[int, int, int, int], int]
"""Important or not, specificity (inline first), order: what wins in the cascade."""


def declared_styles(tree: HtmlElement) -> dict[HtmlElement, dict[str, str]]:
    """The declared values of the properties above for each element that has any, by the cascade of CSS 2.2, 6.4.

    Read are the first 200 rules of `<style>` elements that name such a property, fewer in a huge page, and the
    first 5,000 different `style` attributes.
    """
    winners: dict[HtmlElement, dict[str, tuple[_Weight, str]]] = {}

    def declare(
        element: HtmlElement, values: Mapping[str, tuple[str, bool]], rank: tuple[int, ...], at: int
    ) -> None:
        known = winners.setdefault(element, {})
        for name, (value, important) in values.items():
            weight: _Weight = (important, (rank[0], rank[1], rank[2], rank[3]), at)
            if name not in known or known[name][0] <= weight:
                known[name] = (weight, value)

    elements = list(tree.iter("*"))
    rules = islice(_rules(tree), max(min(_RULES, _VISITS // max(len(elements), 1)), 1))
    for order, (selectors, values) in enumerate(rules):
        for specificity, found in _matches(tree, selectors):
            for element in found:
                declare(element, values, (0, *specificity), order)
    read: dict[str, dict[str, tuple[str, bool]]] = {}
    for element in elements:
        style = element.get("style")
        if not style or (style not in read and len(read) >= _STYLES):
            continue
        if style not in read:
            read[style] = _declarations(style[:_LONGEST])
        declare(element, read[style], (1, 0, 0, 0), 0)
    return {element: {name: value for name, (_, value) in found.items()} for element, found in winners.items()}


def paints_elsewhere(tree: HtmlElement) -> bool:
    """Whether a background may come from a linked sheet or a `<style>` element, so that white is not certain."""
    linked = any("stylesheet" in (link.get("rel") or "").lower() for link in tree.iter("link"))
    return linked or any("background" in (style.text or "") for style in tree.iter("style"))


def _rules(tree: HtmlElement) -> Iterator[tuple[str, dict[str, tuple[str, bool]]]]:
    import tinycss2

    for style in tree.iter("style"):
        if (style.get("media") or "all").strip().lower() not in {"all", "screen"}:
            continue
        for rule in tinycss2.parse_stylesheet(
            (style.text or "")[:_LONGEST], skip_comments=True, skip_whitespace=True
        ):
            if rule.type == "qualified-rule" and (values := _declarations(rule.content)):
                yield tinycss2.serialize(rule.prelude).strip(), values


def _declarations(source: str | Iterable[Any]) -> dict[str, tuple[str, bool]]:
    """Property to value and importance."""
    import tinycss2

    found = tinycss2.parse_blocks_contents(source, skip_comments=True, skip_whitespace=True)
    return {
        item.lower_name: (tinycss2.serialize(item.value).strip().lower(), item.important)
        for item in found
        if item.type == "declaration" and item.lower_name in _READ
    }


def _matches(tree: HtmlElement, selectors: str) -> Iterator[tuple[tuple[int, int, int], list[HtmlElement]]]:
    from cssselect import HTMLTranslator, SelectorError, parse
    from lxml.etree import XPathError

    translator = HTMLTranslator()
    try:
        parsed = parse(selectors)
    except SelectorError:
        return
    for selector in parsed:
        if selector.pseudo_element is not None:
            continue
        try:
            yield selector.specificity(), tree.xpath(translator.selector_to_xpath(selector))
        except (SelectorError, XPathError):
            continue
