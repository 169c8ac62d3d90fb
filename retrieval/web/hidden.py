"""Text of a page that a reader does not see is dropped before anything is extracted (case F10).

Dropped: elements with `hidden` or `aria-hidden="true"`; `display: none`, no opacity, off the screen, clipped or
shrunk to nothing; text that is invisible, smaller than two pixels, or of its background's colour. What is
declared in the page itself counts (see `retrieval.web.styles`). White text is of its background's colour only
where the background is known: declared inline or as an attribute, or white because nothing says otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .styles import Style, declared_styles, paints_elsewhere

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_Colour = tuple[float, float, float]

_NEVER_SEEN = frozenset({"template", "noscript", "script", "style", "head"})
_ROOTS = frozenset({"html", "body"})
_LENGTH = re.compile(r"(-?(?:\d+\.?\d*|\.\d+))(px|pt|em|rem|ex|ch|vw|vh|cm|mm|in|%)?")
_PIXELS = {"px": 1.0, "pt": 1.33, "cm": 38, "mm": 3.8, "in": 96, "ex": 8, "ch": 8, "em": 16, "rem": 16}
_PER_CENT = 10.0  # a hundredth of a screen's width or height
_FAR = -500.0
_SMALLEST = 2.0
_SAME_COLOUR = 0.06
_INSIDE = ("left", "right", "top", "bottom")
_MOVED = re.compile(r"translate(?:x|y|3d)?\(([^)]*)\)")
_CLIPPED = re.compile(r"rect\((?:\s*[01](?:px)?[\s,]*){4}\)|inset\(\s*(?:50|100)%|circle\(\s*0")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What an element inherits."""

    invisible: bool = False
    tiny: bool = False
    colour: _Colour | None = (0.0, 0.0, 0.0)
    background: _Colour | None
    """None: not known."""

    @property
    def unseen(self) -> bool:
        return self.invisible or self.tiny or _alike(self.colour, self.background)


def drop_hidden(tree: HtmlElement) -> bool:
    """Take text out of the tree that is not seen. True if there was any, scripts and templates aside."""
    styles = declared_styles(tree)
    start = _Look(background=None if paints_elsewhere(tree) else (1.0, 1.0, 1.0))
    dropped = False
    waiting = [(tree, start)]
    while waiting:
        element, inherited = waiting.pop()
        style = styles.get(element, {})
        if element.tag not in _ROOTS and (element.tag in _NEVER_SEEN or _removed(element, style)):
            dropped |= element.tag not in _NEVER_SEEN and bool(str(element.text_content()).strip())
            if element.tag != "head":
                element.drop_tree()
            continue
        look = _look(element, style, inherited)
        if look.unseen:
            dropped |= _silence(element)
        waiting.extend((child, look) for child in element if isinstance(child.tag, str))
    return dropped


def _silence(element: HtmlElement) -> bool:
    """Take out the element's own text; its children decide for themselves."""
    texts = [element.text, *(child.tail for child in element)]
    element.text = " "
    for child in element:
        child.tail = " "
    return any(text and text.strip() for text in texts)


def _removed(element: HtmlElement, style: Style) -> bool:
    """Whether the element with all that is in it does not show."""
    if "hidden" in element.attrib or (element.get("aria-hidden") or "").strip().lower() == "true":
        return True
    if element.tag == "dialog" and "open" not in element.attrib:
        return True
    if not style:
        return False
    opacity = _pixels(style.get("opacity", "1"))
    return (
        style.get("display") == "none"
        or (opacity is not None and opacity < 0.02)
        or _off_screen(style)
        or _clipped(style)
    )


def _off_screen(style: Style) -> bool:
    names = ["text-indent", "margin-left", "margin-top"]
    if style.get("position", "static") not in {"static", "sticky"}:
        names.extend(_INSIDE)
    offsets = [style[name] for name in names if name in style]
    for moved in _MOVED.findall(style.get("transform", "")):
        offsets.extend(moved.split(","))
    return any((offset := _pixels(value.strip())) is not None and offset <= _FAR for value in offsets)


def _clipped(style: Style) -> bool:
    if "scale(0" in style.get("transform", "").replace(" ", "").replace("scale(0.", ""):
        return True
    if any(_CLIPPED.search(style.get(name, "")) for name in ("clip", "clip-path")):
        return True
    sizes = [_pixels(style[name]) for name in ("width", "height") if name in style]
    return style.get("overflow") in {"hidden", "clip"} and any(size is not None and size <= 1 for size in sizes)


def _look(element: HtmlElement, style: Style, inherited: _Look) -> _Look:
    look = inherited
    if "visibility" in style:
        look = replace(look, invisible=style["visibility"] in {"hidden", "collapse"})
    if "font-size" in style:
        look = replace(look, tiny=_tiny(style["font-size"], inherited=inherited.tiny))
    colour = style.get("color") or (element.get("color") if element.tag == "font" else None)
    if colour:
        look = replace(look, colour=_colour(colour, look.background))
    background = style.get("background-color") or style.get("background") or element.get("bgcolor")
    if background and background not in {"none", "transparent", "inherit"}:
        look = replace(look, background=_painted(background))
    return look


def _tiny(size: str, *, inherited: bool) -> bool:
    relative = size.endswith(("%", "em")) and not size.endswith("rem")
    if inherited and (relative or size in {"inherit", "smaller", "larger"}):
        return True
    pixels = _pixels(size) if not size.endswith("%") else (_pixels(size) or 0.0) / _PER_CENT * 0.16
    return pixels is not None and pixels < _SMALLEST


def _pixels(value: str) -> float | None:
    """A length in pixels, roughly; None for words and functions."""
    match = _LENGTH.fullmatch(value)
    return None if match is None else float(match[1]) * _PIXELS.get(match[2] or "px", _PER_CENT)


def _colour(value: str, background: _Colour | None) -> _Colour | None:
    """Red, green and blue in [0, 1]; a transparent colour is the background's; None: not known."""
    from tinycss2.color4 import parse_color

    found = parse_color(value)
    if found is None or isinstance(found, str):
        return None
    if found.alpha < 0.05:
        return background
    red, green, blue = (0.0 if part is None else float(part) for part in found.to("srgb").coordinates)
    return red, green, blue


def _painted(value: str) -> _Colour | None:
    """The colour of a `background`; None if a picture or a gradient lies over it, or it is not known."""
    if "(" in value and not value.startswith(("rgb", "hsl")):
        return None
    return _colour(value, None) or next(filter(None, (_colour(part, None) for part in value.split())), None)


def _alike(one: _Colour | None, other: _Colour | None) -> bool:
    if one is None or other is None:
        return False
    return all(abs(a - b) < _SAME_COLOUR for a, b in zip(one, other, strict=True))
