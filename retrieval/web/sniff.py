"""What a body is, by its bytes (case F07), after WHATWG MIME Sniffing, sec. 7, as far as it matters here."""

from __future__ import annotations

import codecs
import re

HEAD = 2_048
"""Bytes that decide."""

_SIGNS = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"%!PS-Adobe-", "application/postscript"),
)
_WIDE_MARKS = (
    codecs.BOM_UTF32_BE,
    codecs.BOM_UTF16_LE,
    codecs.BOM_UTF16_BE,
)  # that of UTF-32-LE begins like UTF-16's
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_WIDE = re.compile(r"charset=[\"']?(utf-?16|utf-?32|ucs-?2)")
_TEXTUAL = re.compile(r"text/.+|application/(?:.+\+)?(?:json|xml|javascript|ecmascript|x-ndjson|yaml|x-yaml)")
_HTML = re.compile(
    rb"(?:<!--.*?-->|<\?xml[^>]*>|\s)*<(?:!doctype\s+html|html|head|body|title|meta|script|style|table|div|article|"
    rb"main|section|h1|p|br|a|b|font|iframe)[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(rb"<(?:/?[a-z]|!)", re.IGNORECASE)


def content_type(body: bytes, declared: str = "") -> str:
    """The media type of a body, from its first bytes; the header only tells one kind of text from another.

    Args:
        body: At least its first `HEAD` bytes, or all of it.
        declared: The Content-Type header.

    >>> content_type(b"%PDF-1.7 ...", "text/html")
    'application/pdf'
    """
    head = body[:HEAD]
    start = head.lstrip()
    for sign, name in _SIGNS:
        if start.startswith(sign):
            return name
    said = declared.partition(";")[0].strip().lower()
    if _is_wide(head, declared):
        return said if said.startswith("text/") else "text/html"
    if _BINARY.search(head):
        return "application/octet-stream"
    return _text_type(head.removeprefix(codecs.BOM_UTF8), said)


def is_readable(kind: str) -> bool:
    """Whether some extraction reads this type: text of any kind, and PDF."""
    return kind == "application/pdf" or _TEXTUAL.fullmatch(kind) is not None


def _text_type(head: bytes, said: str) -> str:
    if _HTML.match(head):
        return "text/html"
    if head.lstrip().startswith(b"<?xml"):
        return "application/xml"
    if said in {"text/html", "application/xhtml+xml"}:
        return "text/html" if _TAG.search(head) else "text/plain"
    return said if _TEXTUAL.fullmatch(said) else "text/plain"


def _is_wide(head: bytes, declared: str) -> bool:
    """UTF-16 or UTF-32: by its mark, by the header, or as Latin text with a zero byte on every second place."""
    if head.startswith(_WIDE_MARKS) or _WIDE.search(declared.lower()):
        return True
    even, odd = head[::2], head[1::2]
    high, low = (even, odd) if even.count(0) > odd.count(0) else (odd, even)
    return high.count(0) * 4 > len(high) * 3 and not _BINARY.search(low)
