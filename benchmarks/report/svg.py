"""Drawings of matplotlib as SVG inside a page: its colours, its font, a title and a description, own ids."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lxml import etree

from .page import shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEXT = 13.0
"""Size of text, in units of a drawing `WIDTH` wide: at least 12 pixels where it is at least 366 pixels wide."""
WIDTH = 396.0
"""Of every drawing in a page: a phone shows it without scrolling."""

INK, MUTED, GRID, PAPER = "#010101", "#010102", "#010103", "#010104"
ONE, TWO, THREE = "#010105", "#010106", "#010107"
_VARIABLES: Mapping[str, str] = {
    INK: "ink", MUTED: "muted", GRID: "grid", PAPER: "paper", ONE: "one", TWO: "two", THREE: "three",
}  # fmt: skip
"""What a drawing is coloured with stands for a colour of the page, which differs in light and dark."""
_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_COLOUR = re.compile("|".join(_VARIABLES))
_FONT = re.compile(r"(font:[^;]*?\d+(?:\.\d+)?px) [^;]*")


@contextmanager
def drawing(height: float, width: float = WIDTH) -> Iterator[Figure]:
    """A figure to draw on, `width` by `height` units, with the settings of all our drawings."""
    import matplotlib
    from matplotlib.figure import Figure

    lines = dict.fromkeys(
        ("axes.edgecolor", "xtick.color", "ytick.color", "hatch.color", "patch.edgecolor"), MUTED
    )
    settings: Any = {  # its type names every key of matplotlib
        **lines,
        **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), INK),
        **dict.fromkeys(("font.size", "axes.labelsize", "xtick.labelsize", "ytick.labelsize"), TEXT),
        **dict.fromkeys(("axes.spines.top", "axes.spines.right", "text.parse_math"), False),
        "font.family": "DejaVu Sans",
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "grid.color": GRID,
        "grid.linewidth": 0.8,
        "hatch.linewidth": 1.2,
        "figure.dpi": 72,
        "svg.fonttype": "none",
        "svg.hashsalt": "sufficit",
    }
    with matplotlib.rc_context(settings):
        yield Figure(figsize=(width / 72, height / 72), layout="constrained")


def to_svg(figure: Figure, *, name: str, title: str, text: str, tips: Mapping[str, str] | None = None) -> str:
    """The drawing as one `<svg>` element. To be called inside `drawing`.

    Args:
        figure: What was drawn.
        name: Of the drawing, its own in the page: ids begin with it.
        title: What it shows, for those who do not see it.
        text: What can be seen in it, likewise.
        tips: By the `gid` of a mark, what is told when a pointer rests on it.
    """
    file = io.BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)
    root = etree.fromstring(file.getvalue(), parser)
    for metadata in root.findall(f"{_SVG}metadata"):
        root.remove(metadata)
    _tell(root, tips or {})
    _rename(root, name)
    for element in root.iter(f"{_SVG}*"):
        if (style := element.get("style")) is not None:
            element.set("style", _themed(style))
    for size in ("width", "height", "version"):
        root.attrib.pop(size, "")
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title {name}-text")
    _insert(root, 0, "title", title, f"{name}-title")
    _insert(root, 1, "desc", text, f"{name}-text")
    etree.cleanup_namespaces(root)
    return etree.tostring(root, encoding="unicode")


def alone(svg: str) -> str:
    """A drawing of `to_svg` as a file of its own: with its size, a ground, and colours for light and for dark."""
    root = etree.fromstring(svg, etree.XMLParser(resolve_entities=False, no_network=True))
    _, _, width, height = root.get("viewBox", "").split()
    root.set("width", width)
    root.set("height", height)
    style = etree.Element(f"{_SVG}style")
    style.text = (Path(__file__).parent / "colours.css").read_text(encoding="utf-8")
    ground = etree.Element(f"{_SVG}rect", {"width": "100%", "height": "100%", "style": "fill: var(--paper)"})
    at = len(root.findall(f"{_SVG}title")) + len(root.findall(f"{_SVG}desc"))
    root[at:at] = [style, ground]
    return etree.tostring(root, encoding="unicode") + "\n"


def _themed(style: str) -> str:
    coloured = _COLOUR.sub(lambda match: f"var(--{_VARIABLES[match[0]]})", style)
    return _FONT.sub(r"\1 system-ui, sans-serif", coloured)


def _tell(root: etree._Element, tips: Mapping[str, str]) -> None:
    for element in root.iter(f"{_SVG}g"):
        tip = tips.get(element.get("id", ""))
        if tip is not None:
            _insert(element, 0, "title", tip, None)


def _insert(parent: etree._Element, at: int, tag: str, text: str, key: str | None) -> None:
    child = etree.Element(_SVG + tag)
    child.text = shown(text)
    if key is not None:
        child.set("id", key)
    parent.insert(at, child)


def _rename(root: etree._Element, name: str) -> None:
    """Only ids that something refers to stay, with the name of the drawing in front."""
    used: set[str] = set()
    for element in root.iter(f"{_SVG}*"):
        for attribute, value in element.attrib.items():
            if attribute == _LINK:
                target = str(value).removeprefix("#")
                used.add(target)
                element.attrib.pop(attribute)
                element.set("href", f"#{name}-{target}")
            elif found := _REFERENCE.findall(str(value)):
                used.update(found)
                element.set(attribute, _REFERENCE.sub(rf"url(#{name}-\1)", str(value)))
    for element in root.iter(f"{_SVG}*"):
        key = str(element.attrib.pop("id", ""))
        if key in used:
            element.set("id", f"{name}-{key}")
