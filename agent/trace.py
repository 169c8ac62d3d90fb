"""The record of one search: a JSONL file, appended turn by turn, enough to show, rescore and replay.

Lines, by `type`: `search` (question, parts, tiers, budget), `passage` (each once, with text), `turn`, `result`.
A file without a `result` line belongs to a search that was cancelled or killed; all finished turns are in it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from retrieval import EvidenceSet, Passage

from .errors import TraceError
from .result import SearchResult, Turn
from .wire import json_line, passage_json, read_passage, result_json, turn_json

FORMAT = 1


class TraceSink(Protocol):
    """Where a search is recorded. Contract: each method raises `TraceError` and nothing else."""

    async def start(self, given: EvidenceSet) -> None:
        """The search begins with this evidence."""
        ...

    async def turn(self, turn: Turn) -> None:
        """A turn is complete."""
        ...

    async def finish(self, result: SearchResult) -> None:
        """The search is over."""
        ...


class NoTrace:
    """Records nothing."""

    async def start(self, given: EvidenceSet) -> None:
        """Nothing."""

    async def turn(self, turn: Turn) -> None:
        """Nothing."""

    async def finish(self, result: SearchResult) -> None:
        """Nothing."""


class FileTrace:
    """Appends to a file of its own; every line is on its way to the disk before the search goes on.

    Args:
        path: A file that does not exist yet, or a folder: then the file is named by time and question.
        header: What to say about the search in its first line.

    Raises:
        TraceError: the file exists, or cannot be made.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], *, now: float) -> None:
        self.path = _inside(path, str(header.get("question", "")), now) if path.is_dir() else path
        self._known: set[str] = set()
        line = json_line({"type": "search", "format": FORMAT, "started": now} | dict(header))
        try:
            with self.path.open("x", encoding="utf-8") as file:
                file.write(line)
        except FileExistsError as error:
            raise TraceError(
                f"{self.path} exists. A trace holds one search and is never overwritten: name another file, or a "
                "folder in which each search gets a file of its own."
            ) from error
        except OSError as error:
            raise TraceError(f"Cannot write the trace {self.path}: {error}") from error

    async def start(self, given: EvidenceSet) -> None:
        """Record the given evidence."""
        await self._append(self._passages(given))

    async def turn(self, turn: Turn) -> None:
        """Record a turn and the texts that it brought."""
        await self._append([*self._passages(turn.new), {"type": "turn"} | turn_json(turn)])

    async def finish(self, result: SearchResult) -> None:
        """Record the outcome."""
        await self._append([{"type": "result"} | result_json(result, with_passages=False)])

    def _passages(self, passages: Iterable[Passage]) -> list[dict[str, Any]]:
        fresh = [passage for passage in passages if passage.id not in self._known]
        self._known.update(passage.id for passage in fresh)
        return [{"type": "passage"} | passage_json(passage) for passage in fresh]

    async def _append(self, lines: Sequence[Mapping[str, Any]]) -> None:
        text = "".join(json_line(line) for line in lines)
        try:
            await asyncio.to_thread(_append_text, self.path, text)
        except OSError as error:
            raise TraceError(f"Cannot append to the trace {self.path}: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSearch:
    """A trace, read back."""

    header: Mapping[str, Any]
    passages: Mapping[str, Passage]
    """By id."""
    turns: tuple[Mapping[str, Any], ...]
    """As `turn_json` wrote them."""
    result: Mapping[str, Any] | None
    """None: the search did not end by itself."""
    problems: tuple[str, ...] = field(default=())
    """Lines that could not be read, by number; the last line of a killed process may be one."""

    @property
    def question(self) -> str:
        """What was asked."""
        return str(self.header["question"])

    def evidence_after(self, number: int) -> EvidenceSet:
        """The evidence after turn `number`, for scoring it again."""
        given = [self.passages[key] for key in self.header.get("given", ()) if key in self.passages]
        evidence = EvidenceSet.of(given)
        for turn in self.turns:
            if turn["number"] <= number:
                evidence = evidence.add(self.passages[key] for key in turn["new"] if key in self.passages)
        return evidence


def load_trace(path: Path) -> RecordedSearch:
    """Read a trace. Broken lines are reported, not fatal; a file without a first line of its kind is.

    Raises:
        TraceError: no such file, not a trace, or of another format.
    """
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").removesuffix("\n").split("\n")
    except OSError as error:
        raise TraceError(f"Cannot read the trace {path}: {error}") from error
    header: Mapping[str, Any] | None = None
    result: Mapping[str, Any] | None = None
    passages: dict[str, Passage] = {}
    turns: list[Mapping[str, Any]] = []
    problems: list[str] = []
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            kind = record["type"]
            if kind == "passage":
                passage = read_passage(record)
                passages[passage.id] = passage
            elif kind == "turn":
                turns.append(record)
            elif kind == "result":
                result = record
            elif kind == "search":
                header = record
        except (ValueError, KeyError, TypeError, ValidationError) as error:
            problems.append(f"line {number}: {type(error).__name__}")
    if header is None or header.get("format") != FORMAT:
        raise TraceError(
            f"{path} is not a trace of format {FORMAT}: its first line must be a 'search' record. "
            "Write one with: sufficit ask QUESTION --index DIR --trace FILE"
        )
    return RecordedSearch(
        header=header, passages=passages, turns=tuple(turns), result=result, problems=tuple(problems)
    )


def _inside(folder: Path, question: str, now: float) -> Path:
    stamp = datetime.fromtimestamp(now, tz=UTC).strftime("%Y%m%dT%H%M%S")
    digest = hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()
    stem = f"{stamp}-{digest[:8]}"
    names = (folder / f"{stem}{suffix}.jsonl" for suffix in ("", *(f"-{n}" for n in range(2, 10_000))))
    return next(path for path in names if not path.exists())


def _append_text(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)
