"""The file of contrasts: JSON lines, plain or gzip, one group a line."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from retrieval import Passage

from ..datasets.lines import Fault, fields_fault, stream_lines
from ..errors import DatasetError, SettingsError
from .model import Added, Construction, Contrast, Made, Screen, Side

FORMAT = "sufficit-contrast-1"
"""In every line: a file of contrasts is recognised by it."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class _PassageLine(_Strict):
    text: str = Field(pattern=r"\S")
    title: str = ""
    section: str = ""
    source_id: str = ""
    url: str | None = None


class _MadeLine(_Strict):
    how: str
    record: str
    removed: str | None = None
    inserted: str | None = None
    rank: int | None = None
    systems: tuple[str, ...] = ()
    top_score: float | None = None


class _SideLine(_Strict):
    id: str
    question: str = Field(pattern=r"\S")
    answers: tuple[str, ...] = ()
    sufficient: bool
    passages: tuple[int, ...]
    made: _MadeLine
    support: tuple[int, ...] = ()


class _AddedLine(_Strict):
    passage: int
    flags: tuple[Screen, ...] = ()


class _Line(_Strict):
    format: Literal["sufficit-contrast-1"]
    dataset: Annotated[str, Field(min_length=1)]
    split: str
    construction: Construction
    group: Annotated[str, Field(min_length=1)]
    cluster: Annotated[str, Field(min_length=1)]
    passages: tuple[_PassageLine, ...]
    sides: tuple[_SideLine, ...]
    added: tuple[_AddedLine, ...] = ()

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        labels = {side.sufficient for side in self.sides}
        if len(labels) != 2:
            raise ValueError("a contrast needs a sufficient and an insufficient side")
        if len({side.id for side in self.sides}) != len(self.sides):
            raise ValueError("two sides have one id")
        places = [place for side in self.sides for place in (*side.passages, *side.support)]
        places += [one.passage for one in self.added]
        if any(not 0 <= place < len(self.passages) for place in places):
            raise ValueError(f"a side names a passage that is not among the {len(self.passages)} of its line")
        return self

    def contrast(self) -> Contrast:
        """The same as a value that knows the passages by id."""
        passages = [
            Passage(text=one.text, title=one.title, section=one.section, source_id=one.source_id, url=one.url)
            for one in self.passages
        ]
        ids = [passage.id for passage in passages]
        return Contrast(
            dataset=self.dataset,
            split=self.split,
            construction=self.construction,
            group=self.group,
            cluster=self.cluster,
            passages={passage.id: passage for passage in passages},
            sides=tuple(
                Side(
                    id=side.id,
                    question=side.question,
                    answers=side.answers,
                    sufficient=side.sufficient,
                    passages=tuple(dict.fromkeys(ids[place] for place in side.passages)),
                    made=Made(**side.made.model_dump()),
                    support=tuple(dict.fromkeys(ids[place] for place in side.support)),
                )
                for side in self.sides
            ),
            added=tuple(Added(passage=ids[one.passage], flags=one.flags) for one in self.added),
        )


def stream_contrasts(path: Path) -> Iterator[Contrast | Fault]:
    """Read a file of contrasts, one line at a time; a line that cannot be used yields a `Fault` in its place.

    Raises:
        DatasetError: there is no such file, or it cannot be opened.
    """
    seen: set[tuple[str, str, str]] = set()
    for number, line in stream_lines(path):
        if isinstance(line, Fault):
            yield line
            continue
        try:
            found = _Line.model_validate_json(line).contrast()
        except ValidationError as error:
            yield fields_fault(error, file=path.name, line=number)
            continue
        if found.key in seen:
            detail = f"{found.key} occurs before; the first one is kept."
            yield Fault(file=path.name, line=number, kind="repeated_id", detail=detail)
            continue
        seen.add(found.key)
        yield found


def contrast_line(contrast: Contrast) -> str:
    """One contrast as a line of JSON, without the line's end."""
    places = {key: place for place, key in enumerate(contrast.passages)}
    sides = [
        asdict(side)
        | {name: [places[key] for key in getattr(side, name)] for name in ("passages", "support")}
        | {"made": {name: value for name, value in asdict(side.made).items() if value not in (None, ())}}
        for side in contrast.sides
    ]
    line: dict[str, Any] = {
        "format": FORMAT,
        "dataset": contrast.dataset,
        "split": contrast.split,
        "construction": contrast.construction,
        "group": contrast.group,
        "cluster": contrast.cluster,
        "passages": [_passage(passage) for passage in contrast.passages.values()],
        "sides": sides,
        "added": [{"passage": places[one.passage], "flags": one.flags} for one in contrast.added],
    }
    return json.dumps(line, ensure_ascii=False, allow_nan=False)


def check_out(path: Path, *, inputs: Iterable[Path]) -> None:
    """Make sure, before any work, that a file can be written there and that nothing else is lost.

    Raises:
        SettingsError: it is one of the inputs.
        DatasetError: it is no plain file, or its folder cannot be written to.
    """
    if path.exists():
        if any(one.exists() and path.samefile(one) for one in inputs):
            raise SettingsError(f"{path} is read by this command. Give --out another file.")
        if not path.is_file():
            raise DatasetError(f"{path} exists and is no plain file. Give --out the name of a file.")
    folder = path.resolve().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatasetError(
            f"Cannot make the folder {folder}: {error.strerror}. Give --out another file."
        ) from error
    if not os.access(folder, os.W_OK):
        raise DatasetError(f"The folder {folder} cannot be written to. Give --out another file.")


def write_contrasts(path: Path, contrasts: Iterable[Contrast]) -> int:
    """Write a file of contrasts, gzip if its name ends in `.gz`; there is a whole file or none. Returns its lines.

    Raises:
        DatasetError: it cannot be written.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as raw:
            count = _write(raw, contrasts, packed=path.suffix == ".gz")
        part.replace(path)
    except OSError as error:
        raise DatasetError(f"Cannot write the contrasts to {path}: {error}. Give --out another file.") from error
    finally:
        with suppress(OSError):
            part.unlink()
    return count


def _write(raw: io.BufferedWriter, contrasts: Iterable[Contrast], *, packed: bool) -> int:
    # neither a name nor a time in the gzip header: equal contrasts give equal bytes
    file = gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) if packed else raw
    count = 0
    for one in contrasts:
        file.write(contrast_line(one).encode("utf-8", "replace") + b"\n")
        count += 1
    if packed:
        file.close()
    return count


def _passage(passage: Passage) -> dict[str, str | None]:
    line = {
        "text": passage.text,
        "title": passage.title,
        "section": passage.section,
        "source_id": passage.source_id,
        "url": passage.url,
    }
    return {name: value for name, value in line.items() if value or name == "text"}
