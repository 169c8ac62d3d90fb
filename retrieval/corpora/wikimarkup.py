"""Wikitext of one section to plain text: what a reader of the page sees, without tables, notes and pictures.

mwparserfromhell parses what nests (templates and links). Its time grows with the square of the text where
brackets and tags stay open (its issues 286 and 364; measured here: minutes for 30 kB of `[[a|[[a|[[a|`). So
everything that a regular expression can take away in linear time goes first, brackets without a partner too:
what the parser then sees is balanced and nests at most `_DEPTH` deep.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import mwparserfromhell
from mwparserfromhell.nodes import Argument, Comment, ExternalLink, Heading, Tag, Template, Text, Wikilink
from mwparserfromhell.wikicode import Wikicode

from .wikitemplates import prose_of

ITEM = "\ue000"
"""Stands at the beginning of a line that was a list item, a definition or an indented line."""

_DEPTH = 20

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_OPAQUE = (
    "gallery|math|chem|ce|table|timeline|score|source|syntaxhighlight|pre|imagemap|inputbox|graph|hiero|"
    "references|templatestyles|mapframe|maplink|indicator|includeonly"
)
_EMPTY_TAG = re.compile(rf"<(?:ref|{_OPAQUE})\b[^<>]*/>", re.IGNORECASE)
_NOTE = re.compile(r"<ref\b[^<>]*>.*?(?:</ref\s*>|(?=\n[ \t]*\n)|\Z)", re.IGNORECASE | re.DOTALL)
"""A note that is not closed ends with its paragraph."""
_OPAQUE_TAG = re.compile(rf"<({_OPAQUE})\b[^<>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_TABLE = re.compile(r"[ \t:]*\{\|")
_TABLE_END = re.compile(r"[ \t]*\|\}(?!\})")
_BREAK_TAG = re.compile(
    r"</?(?:br|p|div|li|ul|ol|dl|dd|dt|blockquote|center|poem|h[1-6r])\b[^<>]*>", re.IGNORECASE
)
_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>")
_STRAY_TAG = re.compile(r"<(?=[a-zA-Z/!])")
_SCHEME = r"(?:(?:https?|ftps?|ircs?|news|mailto):|(?=//))"
_EXTERNAL = re.compile(rf"\[{_SCHEME}[^\s\[\]]+[ \t]*((?:[^\[\]\n]|\[\[[^\[\]\n]*\]\])*)\]", re.IGNORECASE)
_BARE_ADDRESS = re.compile(r"\b(?:https?|ftps?)://[^\s\[\]{}|<>]+", re.IGNORECASE)
_BRACKETS = re.compile(r"\{\{|\}\}|\[\[|\]\]")
_PARTNER = {"}}": "{{", "]]": "[["}
_LIST_MARK = re.compile(r"^[*#:;]+[ \t]*", re.MULTILINE)


def without_comments(wikitext: str) -> str:
    """The wikitext without its comments; as in MediaWiki an open one reaches to the end."""
    return _COMMENT.sub("", wikitext.replace(ITEM, ""))


def plain_lines(wikitext: str, *, hidden_namespaces: frozenset[str]) -> list[str]:
    """The lines that are left of a section without comments and headings.

    Templates, notes, tables, pictures, galleries, formulas, categories, links to other languages and addresses
    go; the text of links stays. A line that was a list item or indented begins with `ITEM`.

    Args:
        wikitext: Any text: open brackets and tags are dropped. Time is linear in its length.
        hidden_namespaces: Links into these (lower case, e.g. `file`, `category`) show nothing in the text.
    """
    if not wikitext.strip():
        return []
    text = _NOTE.sub("", _EMPTY_TAG.sub("", wikitext))
    text = _without_tables(_OPAQUE_TAG.sub("", text))
    text = _STRAY_TAG.sub("", _TAG.sub("", _BREAK_TAG.sub("\n", text)))
    text = _BARE_ADDRESS.sub("", _EXTERNAL.sub(r"\1", text))
    text = _LIST_MARK.sub(ITEM, _balanced(text))
    parsed = mwparserfromhell.parse(text, skip_style_tags=True)
    shown = html.unescape(_STRAY_TAG.sub("", "".join(_shown(parsed, hidden_namespaces))))
    return [_tidy(line) for line in shown.split("\n")]


def _without_tables(text: str) -> str:
    """Drop tables, also nested ones; an open one reaches to the end of the section."""
    if "{|" not in text:
        return text
    kept: list[str] = []
    depth = 0
    for line in text.split("\n"):
        if _TABLE.match(line):
            depth += 1
        elif depth and (end := _TABLE_END.match(line)):
            depth -= 1
            kept.append("" if depth else line[end.end() :])
        elif not depth:
            kept.append(line)
    return "\n".join(kept)


def _balanced(text: str) -> str:
    """Drop double brackets that have no partner, and all that would nest deeper than `_DEPTH`. Linear."""
    dropped: set[int] = set()
    stack: list[tuple[str, int]] = []
    waiting = {"{{": 0, "[[": 0}
    tokens = list(_BRACKETS.finditer(text))
    for number, token in enumerate(tokens):
        opening = _PARTNER.get(token[0])
        if opening is None:
            stack.append((token[0], number))
            waiting[token[0]] += 1
            continue
        if not waiting[opening]:
            dropped.add(number)
            continue
        while True:
            kind, opened_by = stack.pop()
            waiting[kind] -= 1
            if kind == opening:
                break
            dropped.add(opened_by)
        if len(stack) >= _DEPTH:
            dropped |= {opened_by, number}
    dropped.update(number for _, number in stack)
    return _cut(text, (tokens[number].span() for number in sorted(dropped)))


def _cut(text: str, spans: Iterator[tuple[int, int]]) -> str:
    kept: list[str] = []
    start = 0
    for begin, end in spans:
        kept.append(text[start:begin])
        start = end
    return "".join([*kept, text[start:]])


def _shown(code: Wikicode, hidden: frozenset[str]) -> Iterator[str]:
    """What the nodes show, piece by piece; entities are left as they are."""
    for node in code.nodes:
        if isinstance(node, Text):
            yield node.value
        elif isinstance(node, Wikilink):
            yield from _shown_link(node, hidden)
        elif isinstance(node, Template):
            yield _shown_template(node, hidden)
        elif isinstance(node, Tag):
            if node.contents is not None:
                yield from _shown(node.contents, hidden)
        elif isinstance(node, Heading | ExternalLink):
            yield from _shown(node.title, hidden) if node.title is not None else ()
        elif not isinstance(node, Argument | Comment):
            yield str(node)


def _shown_template(template: Template, hidden: frozenset[str]) -> str:
    values: list[str] = []
    named: dict[str, str] = {}
    for param in template.params:
        value = "".join(_shown(param.value, hidden)).strip()
        if param.showkey:
            named[str(param.name).strip()] = value
        else:
            values.append(value)
    return prose_of(str(template.name), values, named=named)


_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]+)*|simple")


def _shown_link(link: Wikilink, hidden: frozenset[str]) -> Iterator[str]:
    title = "".join(_shown(link.title, hidden)).strip()
    prefix, colon, rest = title.partition(":")
    space = prefix.strip().lower().replace("_", " ")
    if colon and space in hidden:
        return
    if link.text is not None and str(link.text).strip():
        yield from _shown(link.text, hidden)
    elif colon and _LANGUAGE.fullmatch(prefix):
        return
    elif link.text is not None:  # [[Page (more)|]]: the pipe trick
        yield re.sub(r"\s*\([^()]*\)$", "", rest or title)
    else:
        yield title.lstrip(":#")


_REMAINS = re.compile(r"'{2,}|\[\[|\]\]|\{\{|\}\}|\{\||\|\}|__[A-Z]+__")
_SIGNS = re.compile(r"['\[\]{|}]")
_TIDY = (
    (re.compile(r"\( ?(?:[,;:/] ?)*"), "("),
    (re.compile(r"(?<![,;: ])(?: ?[,;:])* ?\)"), ")"),
    (re.compile(r" ?\(\)"), ""),
    (re.compile(r" (?=[,;.)](?: |$))"), ""),
)


def _tidy(line: str) -> str:
    """Take away what markup leaves behind: quotes for bold and italic, brackets and commas around nothing."""
    line = _REMAINS.sub("", line)
    if _REMAINS.search(line):  # signs that met only when what stood between them went
        line = _SIGNS.sub("", line)
    for pattern, replacement in _TIDY:
        line = pattern.sub(replacement, " ".join(line.split()))
    return line.strip()
