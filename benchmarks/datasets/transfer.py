"""One request for one file: what is asked, what the answer means, and where its bytes go.

What an answer means is decided by pure functions (`resume_headers`, `read_answer`); `receive` does the I/O.
Ranges are RFC 9110, sections 13.1.5 and 14.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import TypeAlias

import httpx
from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import DiskError, SourceChangedError, SourceUnavailableError, UnsafeSourceError
from .sources import SourceFile

MAX_REDIRECTS = 10
_REDIRECTS = {301, 302, 303, 307, 308}
_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}
_STARTS = {"zip": (b"PK\x03\x04", b"PK\x05\x06"), "tgz": (b"\x1f\x8b",), "json": (b"[", b"{"), "jsonl": (b"{",)}

Progress: TypeAlias = Callable[[int, int | None], None]
"""Bytes that are here, and how many there will be; None = unknown."""


class Retry(Exception):  # noqa: N818  # it never leaves the package
    """This request failed in a way that another may not."""


class BeginAgain(Retry):
    """What is here does not belong to what the server has now."""


class Partial(BaseModel):
    """What is known about a file that is half here; a side file, read back as text from outside."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    url: str
    etag: str | None = None
    """A strong validator; a weak one says nothing about bytes."""
    last_modified: str | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an answer with a body means."""

    start: int
    """Byte of the file at which the body begins."""
    total: int | None
    """Bytes of the whole file as the server says; None = it does not."""


def resume_headers(partial: Partial | None, have: int, *, file: SourceFile) -> dict[str, str]:
    """Headers that ask for the rest; empty where the file has to come from its beginning.

    Without a validator the rest may be asked for only if a checksum will find a mixture out.
    """
    if partial is None or have == 0 or partial.url != file.url:
        return {}
    validator = partial.etag or partial.last_modified
    if validator is None and file.sha256 is None:
        return {}
    return {"Range": f"bytes={have}-"} | ({} if validator is None else {"If-Range": validator})


def read_answer(status: int, headers: Mapping[str, str], *, have: int, partial: Partial | None) -> Answer | None:
    """Where the body of a 200 or 206 goes; None for a 416 that says that all bytes are here.

    Raises:
        Retry: the server is busy.
        BeginAgain: the answer does not continue what is here.
        SourceUnavailableError: any other status.
    """
    if status == 200:
        return Answer(start=0, total=_number(headers.get("content-length")))
    if status == 206:
        found = re.fullmatch(
            r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)", headers.get("content-range", "").strip()
        )
        if found is None or int(found[1]) != have or partial is None:
            raise BeginAgain(f"it sent the range {headers.get('content-range')!r}, asked for from byte {have}")
        total = _number(found[3])
        if (partial.total and total and partial.total != total) or _other_version(partial, headers):
            raise BeginAgain("its file has changed since the first half was received")
        return Answer(start=have, total=total or partial.total)
    if status == 416:
        if have and headers.get("content-range", "").strip() == f"bytes */{have}":
            return None
        raise BeginAgain("the range that is missing is not there")
    if status in _TRY_AGAIN:
        raise Retry(f"it answered with status {status}")
    raise SourceUnavailableError(f"The server answered with status {status}.")


def receive(
    client: httpx.Client, file: SourceFile, part: Path, *, started: Callable[[int], None], progress: Progress
) -> None:
    """Append what is missing to `part`.

    Args:
        client: Follows no redirects itself.
        file: What to ask for.
        part: Where it goes; beside it lies its side file.
        started: Told once, when the answer is understood, how many bytes from before are kept.
        progress: Told after every chunk.

    Raises:
        Retry, BeginAgain: see there; `part` holds what arrived.
        SourceUnavailableError, SourceChangedError, UnsafeSourceError, DiskError: another request would not help.
    """
    partial, have = read_partial(part)
    headers = resume_headers(partial, have, file=file)
    have = have if headers else 0
    with _connected(), _following(client, file.url, headers) as response:
        answer = read_answer(response.status_code, response.headers, have=have, partial=partial)
        started(have if answer is None else answer.start)
        if answer is None:
            return
        _accept(answer, file)
        _need_room(part, (answer.total or file.bytes or 0) - answer.start)
        note = Partial(
            url=file.url,
            etag=_strong(response.headers.get("etag")),
            last_modified=response.headers.get("last-modified"),
            total=answer.total,
        )
        with _writing(part):
            _keep(part, note, start=answer.start)
        _append(response, file, part, answer=answer, progress=progress)


def side_file(part: Path) -> Path:
    """Where `Partial` is kept."""
    return part.with_name(f"{part.name}.json")


def read_partial(part: Path) -> tuple[Partial | None, int]:
    """What is known about `part` and its size; nothing and 0 where either is missing or cannot be read."""
    try:
        return Partial.model_validate_json(side_file(part).read_bytes()), part.stat().st_size
    except (OSError, ValidationError):
        return None, 0


def discard(part: Path) -> None:
    """Forget what arrived."""
    part.unlink(missing_ok=True)
    side_file(part).unlink(missing_ok=True)


def looks_like(file: SourceFile, head: bytes) -> bool:
    """Whether a file of this format can begin so; `head` may be shorter than the mark."""
    head = head.lstrip() if file.format in {"json", "jsonl"} else head
    return any(head.startswith(mark) or mark.startswith(head) for mark in _STARTS[file.format])


@contextmanager
def _following(client: httpx.Client, url: str, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
    """The answer at the end of the redirects. Every hop is held against the rules before it is asked."""
    here = httpx.URL(url)
    for _ in range(MAX_REDIRECTS + 1):
        with client.stream("GET", here, headers=dict(headers)) as response:
            if response.status_code not in _REDIRECTS or "location" not in response.headers:
                yield response
                return
            here = _next_hop(here, response.headers["location"])
    raise UnsafeSourceError(f"{url} is redirected more than {MAX_REDIRECTS} times.")


def _next_hop(here: httpx.URL, location: str) -> httpx.URL:
    shown = f"{here} is redirected to {location[:200]!r}"
    try:
        there = here.join(location)
    except httpx.InvalidURL as error:
        raise UnsafeSourceError(f"{shown}, which is no address: {error}.") from error
    if there.scheme not in {"http", "https"} or not there.host:
        raise UnsafeSourceError(f"{shown}. Only http and https are followed.")
    if here.scheme == "https" and there.scheme == "http":
        raise UnsafeSourceError(f"{shown}, from https to http: refused.")
    return there


def _accept(answer: Answer, file: SourceFile) -> None:
    total = answer.total
    if total is not None and file.bytes is not None and total != file.bytes:
        raise SourceChangedError(f"The server's file has {total} bytes, the manifest says {file.bytes}.")
    if total is not None and total > file.limit:
        raise UnsafeSourceError(f"The server's file has {total} bytes, the manifest allows {file.limit}.")


def _keep(part: Path, note: Partial, *, start: int) -> None:
    """Cut `part` to `start` bytes and note what it belongs to, before the first new byte arrives."""
    part.touch()
    os.truncate(part, start)
    fresh = side_file(part).with_suffix(".new")
    fresh.write_text(note.model_dump_json(), encoding="utf-8")
    fresh.replace(side_file(part))


def _append(response: httpx.Response, file: SourceFile, part: Path, *, answer: Answer, progress: Progress) -> None:
    have = answer.start
    progress(have, answer.total or file.bytes)
    # raw: the manifest's checksum is of the file as it lies on the server; unbuffered: a kill loses nothing
    with _writing(part), part.open("ab", buffering=0) as out:
        for chunk in response.iter_raw():
            if have == 0 and not looks_like(file, chunk):
                raise SourceChangedError(
                    f"The server sent {response.headers.get('content-type', 'something')!r} that does not begin "
                    f"like {file.format}; a page for people, maybe."
                )
            have += len(chunk)
            if have > file.limit:
                raise UnsafeSourceError(f"The server sends more than the {file.limit} bytes that are allowed.")
            _write_all(out, chunk)
            progress(have, answer.total or file.bytes)
    expected = file.bytes or answer.total
    if expected is not None and have < expected:
        raise Retry(f"it ended after {have} of {expected} bytes")
    if expected is not None and have > expected:
        raise BeginAgain(f"it sent {have} bytes and had announced {expected}")


def _write_all(out: FileIO, chunk: bytes) -> None:
    view = memoryview(chunk)
    while view:
        view = view[out.write(view) :]


def _need_room(part: Path, missing: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if free < missing:
        raise DiskError(
            f"{part.parent} has {free} bytes free, {missing} are missing. Make room, or name another folder."
        )


@contextmanager
def _connected() -> Iterator[None]:
    try:
        yield
    except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
        raise UnsafeSourceError(f"Only addresses of http and https are followed: {error}.") from error
    except httpx.TimeoutException as error:
        raise Retry("it sent nothing for too long") from error
    except httpx.TransportError as error:
        raise Retry(f"the connection broke: {str(error) or type(error).__name__}") from error


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DiskError(
            f"{path} cannot be written: {error.strerror}. Make room, or name another folder with --to; what "
            "arrived is kept."
        ) from error


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"\d{1,18}", text.strip()) else None


def _strong(etag: str | None) -> str | None:
    return None if etag is None or etag.startswith("W/") else etag


def _other_version(partial: Partial, headers: Mapping[str, str]) -> bool:
    etag = _strong(headers.get("etag"))
    return partial.etag is not None and etag is not None and etag != partial.etag
