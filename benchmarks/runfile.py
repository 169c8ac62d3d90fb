"""The record of a run: one JSON line a question, written as it completes, so that a run can be taken up again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from .datasets import Fault
from .errors import RunFileError
from .outcome import Failure, Key, Outcome

R = TypeVar("R", bound=BaseModel)


class Header(BaseModel):
    """The first line: what every outcome in the file depends on."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    type: Literal["run"] = "run"
    format: Literal[1] = 1
    depends_on: dict[str, Any]
    """What would change outcomes if it changed: questions, index, scorer, budgets."""


class HeadedLines(ABC, Generic[R]):
    """A file of JSON lines with a header, appended to; it knows what an earlier part of the same run wrote.

    A last line without its end, as a killed process leaves it, is taken away; another one that cannot be read is a
    fault and left alone.

    Args:
        path: A new file, or one that an earlier part of this run wrote.
        depends_on: See `Header`.

    Raises:
        RunFileError: the file is no run file, belongs to another run, or cannot be read or written.
    """

    def __init__(self, path: Path, depends_on: Mapping[str, Any]) -> None:
        self.path = path
        self.faults: list[Fault] = []
        header = Header(depends_on=dict(depends_on))
        try:
            existing = path.read_bytes() if path.exists() else b""
            whole = existing[: existing.rfind(b"\n") + 1] or _line(header)
            if not whole.startswith(
                existing[: len(whole)]
            ):  # no line end, and not the beginning of our first line
                raise RunFileError(_foreign(path))
            self._take_up(whole, header)
            if whole != existing:
                path.write_bytes(whole)
        except OSError as error:
            raise RunFileError(f"Cannot use {path} as a run file: {error}") from error

    @abstractmethod
    def read(self, line: bytes) -> R:
        """One line behind the header.

        Raises:
            ValidationError: it is no record.
        """

    @abstractmethod
    def take(self, record: R, number: int) -> None:
        """Remember a record of the earlier part, from this line."""

    def append(self, record: R) -> None:
        """Write one line; it is handed to the operating system before this returns.

        Raises:
            RunFileError: the disk is full, or the file went away.
        """
        try:
            with self.path.open("ab") as file:
                file.write(_line(record))
        except OSError as error:
            raise RunFileError(f"Cannot append to the run file {self.path}: {error}") from error

    def _take_up(self, content: bytes, expected: Header) -> None:
        first, *rest = content.splitlines()
        self._check(first, expected)
        for number, line in enumerate(rest, start=2):
            try:
                self.take(self.read(line), number)
            except ValidationError as error:
                detail = str(error.errors(include_url=False, include_input=False)[0]["msg"])
                self.fault(number, "bad_record", detail)

    def _check(self, first: bytes, expected: Header) -> None:
        try:
            found = Header.model_validate_json(first)
        except ValidationError as error:
            raise RunFileError(_foreign(self.path)) from error
        if found != expected:
            names = found.depends_on.keys() | expected.depends_on.keys()
            changed = sorted(name for name in names if found.depends_on.get(name) != expected.depends_on.get(name))
            raise RunFileError(
                f"{self.path} belongs to a run that differs in {', '.join(changed)}. Outcomes of two runs are not "
                "mixed: give --out another file, or repeat the earlier settings."
            )

    def fault(self, number: int, kind: str, detail: str) -> None:
        """Note what is wrong with a line."""
        self.faults.append(Fault(file=self.path.name, line=number, kind=kind, detail=detail))


class RunFile(HeadedLines[Outcome | Failure]):
    """Outcomes of whole searches. See `HeadedLines`.

    A finished search counts once: its first line is kept. A failed one is tried again, so that only its latest
    line counts.
    """

    def __init__(self, path: Path, depends_on: Mapping[str, Any]) -> None:
        self.outcomes: dict[Key, Outcome] = {}
        super().__init__(path, depends_on)

    def read(self, line: bytes) -> Outcome | Failure:
        """An outcome or a failure."""
        return _RECORD.validate_json(line)

    def take(self, record: Outcome | Failure, number: int) -> None:
        """Keep outcomes, the first of each search."""
        if not isinstance(record, Outcome):
            return
        if record.key in self.outcomes:
            self.fault(number, "repeated_id", f"{record.key} has an outcome already; the first one is kept.")
        self.outcomes.setdefault(record.key, record)


_RECORD: TypeAdapter[Outcome | Failure] = TypeAdapter(Annotated[Outcome | Failure, Field(discriminator="type")])


def _foreign(path: Path) -> str:
    return f"{path} exists and is no run file of this format. Give --out a file that does not exist yet."


def _line(record: BaseModel) -> bytes:
    return record.model_dump_json().encode() + b"\n"
