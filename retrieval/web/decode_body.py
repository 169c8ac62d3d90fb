"""Content codings undone while a body streams in, never further than asked (case F02)."""

from __future__ import annotations

import zlib
from typing import Protocol

from .stop import Stop

OFFERED = "gzip, deflate"
"""The Accept-Encoding that we send. Both are in the standard library with a limit on what comes out."""

MEMBERS = 100
"""Gzip members of a body at most. Real bodies have one or a few; empty ones without end cost time for nothing."""

_GZIP = zlib.MAX_WBITS | 16


class Decoder(Protocol):
    """Undoes one content coding, piece by piece."""

    def decode(self, data: bytes, limit: int) -> bytes:
        """What `data` adds to the body, at most `limit` bytes; more is dropped. Raises `Stop`."""
        ...

    def finish(self) -> None:
        """The body has ended. Raises `Stop` if it was cut short."""


def decoder_for(coding: str) -> Decoder:
    """The decoder of a Content-Encoding header.

    Raises:
        Stop: `unsupported`, for a coding that was not offered and for several on top of each other.
    """
    names = [name.strip().lower() for name in coding.split(",")]
    applied = [name for name in names if name not in {"", "identity"}]
    if not applied:
        return Identity()
    if len(applied) == 1 and applied[0] in {"gzip", "x-gzip"}:
        return Inflated(_GZIP)
    if len(applied) == 1 and applied[0] == "deflate":
        return Inflated(zlib.MAX_WBITS)
    raise Stop("unsupported", f"The body is coded as {coding[:100]!r}: {OFFERED} were offered.")


class Identity:
    """No coding."""

    def decode(self, data: bytes, limit: int) -> bytes:
        """The same bytes, at most `limit`."""
        return data[:limit]

    def finish(self) -> None:
        """Nothing can be missing: the framing was checked by the HTTP library."""


class Inflated:
    """gzip, of one or several members, and deflate, with its zlib header or, as some servers send it, without."""

    def __init__(self, window_bits: int) -> None:
        self._bits = window_bits
        self._zlib = zlib.decompressobj(window_bits)
        self._begun = False
        self._members = 1

    def decode(self, data: bytes, limit: int) -> bytes:
        """What these bytes inflate to, at most `limit` bytes."""
        if not self._begun and data:
            self._begun = True
            if self._bits == zlib.MAX_WBITS and not _zlib_header(data):
                self._zlib = zlib.decompressobj(-zlib.MAX_WBITS)
        out = bytearray()
        try:
            while data and len(out) < limit:
                out += self._zlib.decompress(data, limit - len(out))
                data = self._rest()
        except zlib.error as error:
            raise Stop("error", f"The body is not in the coding that its header says: {error}.") from error
        return bytes(out)

    def finish(self) -> None:
        """A stream without its end was cut short."""
        if self._begun and not self._zlib.eof:
            raise Stop("error", "The compressed body ends before its end mark.")

    def _rest(self) -> bytes:
        """Input that is left; a further gzip member begins a new stream, what else follows an end is ignored."""
        if not self._zlib.eof:
            return self._zlib.unconsumed_tail
        rest = self._zlib.unused_data
        if self._bits != _GZIP or not rest.startswith(b"\x1f"):
            return b""
        self._members += 1
        if self._members > MEMBERS:
            raise Stop("error", f"The compressed body is made of more than {MEMBERS} gzip members.")
        self._zlib = zlib.decompressobj(self._bits)
        return rest


def _zlib_header(data: bytes) -> bool:
    """RFC 1950, sec. 2.2: method 8, and a first byte whose pair is a multiple of 31."""
    return data[0] & 0x0F == 8 and (len(data) < 2 or (data[0] << 8 | data[1]) % 31 == 0)
