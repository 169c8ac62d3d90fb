"""The few templates of Wikipedia that stand for words inside a sentence. All others show nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

_SIGNS = {
    "!": "|",
    "'": "'",
    "'s": "'s",
    "=": "=",
    "mdash": "—",
    "mdashb": "—",
    "nbsp": " ",
    "ndash": "–",
    "snd": " – ",
    "space": " ",
    "spaced ndash": " – ",
    "spaces": " ",
}
_FIRST = (
    *(
        "angbr",
        "big",
        "blockquote",
        "cquote",
        "formatnum",
        "gloss",
        "ill",
        "large",
        "linktext",
        "nihongo",
        "nobold",
    ),
    *("nobr", "nowrap", "quotation", "quote", "sc", "small", "smallcaps", "sub", "sup", "vanchor", "vr", "lang-"),
)
_LAST = ("lang", "rtl-lang", "transl", "transliteration")
"""Before their last value stands the language."""
_SHIPS = ("HMS", "MV", "RMS", "SS", "USS")
_BETWEEN = frozenset(("to", "-", "–", "and", "or", "by", "x", "+/-", "±"))


def prose_of(name: str, values: list[str], *, named: Mapping[str, str] = MappingProxyType({})) -> str:
    """What a template shows inside a sentence, as plain text; nothing for one that is not known.

    Args:
        name: As it is written; case, underscores and white space around it do not matter.
        values: Its positional values as plain text, in order.
        named: Its named values as plain text.

    >>> prose_of("Convert", ["10", "to", "12", "mi", "km"]), prose_of("Infobox person", ["x"])
    ('10 to 12 mi', '')
    """
    key = " ".join(name.replace("_", " ").lower().split())
    key, _, argument = key.partition(":")  # {{formatnum: 3003}}
    if argument:
        values = [argument.strip(), *values]
    if key in _SIGNS or not values:
        return _SIGNS.get(key, "")
    if key == "as of":
        return f"{'as' if 'lc' in named else 'As'} of {values[0]}"
    if key == "val":
        return _number(values[0], named)
    show = _SHOW.get("lang-" if key.startswith("lang-") else key)
    return show(values) if show else ""


def _measure(values: list[str]) -> str:
    """The first quantity of a conversion: number, further numbers after a joining word, unit."""
    parts = values[:1]
    rest = values[1:]
    while len(rest) >= 2 and rest[0] in _BETWEEN:
        parts += rest[:2]
        rest = rest[2:]
    return " ".join([*parts, *rest[:1]])


def _number(value: str, named: Mapping[str, str]) -> str:
    power = f"×10^{named['e']}" if "e" in named else ""
    unit = named.get("u") or named.get("ul") or ""
    return f"{value}{power} {unit}".rstrip()


def _ship(prefix: str) -> Callable[[list[str]], str]:
    return lambda values: f"{prefix} {values[0]}"


_SHOW: dict[str, Callable[[list[str]], str]] = {
    **dict.fromkeys(_FIRST, lambda values: values[0]),
    **dict.fromkeys(_LAST, lambda values: values[-1]),
    **dict.fromkeys(("chem", "chem2"), "".join),
    **dict.fromkeys(("convert", "cvt"), _measure),
    **{prefix.lower(): _ship(prefix) for prefix in _SHIPS},
    "oldstyledate": lambda values: ", ".join(values[:2]),
}
