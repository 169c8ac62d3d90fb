"""Bytes to text, by a documented order.

1. A byte order mark (UTF-8, UTF-16, UTF-32).
2. The charset of the HTTP header `Content-Type`.
3. For markup: `<meta charset>`, `<meta http-equiv>` or the XML declaration in the first 4,096 bytes. As the HTML
   standard has it, UTF-16 there means UTF-8: the declaration could be read as ASCII.
4. UTF-16, if every second byte is zero as in Latin text; UTF-8, if the bytes are that, without zeros and escapes.
5. The best guess of charset-normalizer.

Names are the labels of the WHATWG Encoding Standard (so `iso-8859-1` is windows-1252); an unknown one is passed
over, and so are the encodings that the standard calls a danger ("replacement"). The first that applies decides,
even if a later one says otherwise: what it cannot decode becomes U+FFFD, and a text full of that is `garbled`.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Literal

Source = Literal["bom", "header", "declaration", "pattern", "guess"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_DECLARED = re.compile(
    rb"""<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:\-]+)
       | <meta\s[^>]*?charset\s*=\s*["']?\s*([A-Za-z0-9._:\-]+)""",
    re.IGNORECASE | re.VERBOSE,
)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_DECLARED_WITHIN = 4_096
_GUESSED_FROM = 65_536
"""Bytes that the guess looks at: its time grows with them."""
_GARBLED_SHARE = 0.02
"""More replacement or control characters than this is no text. A page in the wrong encoding has them in every
other word; a page that quotes a few is far below."""
_BAD = re.compile("[\ufffd\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A body as text."""

    text: str
    encoding: str
    """Python's name of the codec that was used."""
    source: Source
    """Which rule decided."""

    @property
    def garbled(self) -> bool:
        """True if more than 2 % of the characters are U+FFFD or control characters."""
        return is_garbled(self.text)


def is_garbled(text: str) -> bool:
    """Whether a text is full of U+FFFD or control characters. A blank text is not.

    >>> is_garbled("Gr\ufffd\ufffde"), is_garbled("Größe")
    (True, False)
    """
    return len(_BAD.findall(text)) > _GARBLED_SHARE * max(len(text.strip()), 1)


def decode(body: bytes, *, header: str = "", markup: bool) -> Decoded:
    """The text of `body`; never raises.

    Args:
        body: Undone of any content encoding.
        header: The value of `Content-Type`, empty if there is none.
        markup: The body is HTML or XML and may declare its encoding.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return _decoded(body[len(mark) :], encoding, "bom")
    declared = _HEADER.search(header)
    if declared and (codec := codec_of(declared[1])):
        return _decoded(body, codec, "header")
    if markup and (found := _declaration(body)):
        return _decoded(body, found, "declaration")
    return _undeclared(body)


def codec_of(label: str) -> str | None:
    """Python's codec for a label of the Encoding Standard, or None.

    >>> codec_of("ISO-8859-1"), codec_of("gb2312"), codec_of("utf-7")
    ('cp1252', 'gb18030', None)
    """
    import webencodings

    found = webencodings.lookup(label)
    if found is None or found.name in {"replacement", "x-user-defined"}:
        return None
    return "gb18030" if found.name == "gbk" else str(found.codec_info.name)


def _declaration(body: bytes) -> str | None:
    for match in _DECLARED.finditer(_COMMENT.sub(b"", body[:_DECLARED_WITHIN])):
        codec = codec_of((match[1] or match[2]).decode("ascii"))
        if codec is not None:
            return "utf-8" if codec.startswith("utf-16") else codec
    return None


def _undeclared(body: bytes) -> Decoded:
    if (wide := _wide(body)) is not None:
        return _decoded(body, wide, "pattern")
    if b"\x1b" not in body:  # with escapes it may be ISO-2022-JP
        try:
            return Decoded(text=body.decode("utf-8"), encoding="utf-8", source="pattern")
        except UnicodeDecodeError:
            pass
    from charset_normalizer import from_bytes

    best = from_bytes(body[:_GUESSED_FROM]).best()
    return _decoded(body, "utf-8" if best is None else best.encoding, "guess")


def _wide(body: bytes) -> str | None:
    """UTF-16 without a mark: zeros on every second place, at least a third of them, and nowhere else."""
    head = body[:_DECLARED_WITHIN]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if min(even, odd) > 0 or max(even, odd) * 6 <= len(head):
        return None
    return "utf-16-be" if even else "utf-16-le"


def _decoded(body: bytes, codec: str, source: Source) -> Decoded:
    return Decoded(text=body.decode(codec, "replace"), encoding=codec, source=source)
