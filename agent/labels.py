"""Labels of a user's own questions, and what they make of recorded searches.

A line of a file of labels: {"question": "Who built the bridge?", "support": ["Ann Lee built it in 1784."]}
`support` lists all passages that an answer must rest on, each by its id or by its whole text; a passage of the
index is found by either. A question that the corpus cannot answer says "answerable": false. Variants of one
question share a "group", which otherwise is the question itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from retrieval.passage import passage_id
from rinse.fit.errors import LineError
from rinse.fit.lines import FilledText, fault, numbered_lines

from .episodes import Episode
from .errors import LabelledError, TraceError
from .trace import RecordedSearch, load_trace

DATASET = "own"
"""Name of the dataset of labelled traces."""
MAX_LABELS = 100_000
_ID = re.compile(r"[0-9a-f]{64}")


class Label(BaseModel):
    """What a person says of one question."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, frozen=True, extra="forbid")

    question: FilledText
    support: Annotated[tuple[FilledText, ...], Field(max_length=100)] = ()
    group: str = ""
    answerable: bool = True

    @model_validator(mode="after")
    def _support_fits(self) -> Self:
        if self.answerable and not self.support:
            raise ValueError('a question without support needs "answerable": false')
        return self

    @property
    def support_ids(self) -> frozenset[str]:
        """Ids of the passages."""
        return frozenset(one if _ID.fullmatch(one) else passage_id(one) for one in self.support)


def read_labels(path: Path) -> Mapping[str, Label]:
    """By question, white space around it aside.

    Raises:
        LabelledError: the file cannot be read, a line is no label, or a question has two; names the line.
    """
    labels: dict[str, Label] = {}
    try:
        for number, line in numbered_lines(path):
            where = f"{path}, line {number}"
            label = _label(line, where)
            if label.question.strip() in labels:
                raise LabelledError(f"{where}: this question has a label already. Leave one of them out.")
            if len(labels) == MAX_LABELS:
                raise LabelledError(f"{where}: at most {MAX_LABELS} labels are read. Give fewer.")
            labels[label.question.strip()] = label
    except LineError as error:
        raise LabelledError(str(error)) from error
    return labels


def label_traces(folder: Path, labels: Mapping[str, Label]) -> tuple[list[Episode], list[str]]:
    """The searches of a folder of traces that have a label, by file name; and what was left out, in words.

    Raises:
        LabelledError: the folder cannot be read or holds no trace.
    """
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".jsonl")
    except OSError as error:
        raise LabelledError(f"Cannot read the folder of traces {folder} ({error.strerror}).") from error
    if not paths:
        raise LabelledError(f"{folder} holds no trace. Write some with: sufficit ask QUESTION --trace {folder}")
    episodes: list[Episode] = []
    faults: list[str] = []
    for path in paths:
        try:
            recorded = load_trace(path)
            label = labels.get(str(recorded.header.get("question", "")).strip())
            if label is None:
                faults.append(f"{path.name}: its question has no label")
            elif not recorded.turns:
                faults.append(f"{path.name}: it holds no turn")
            else:
                episodes.append(_episode(path.stem, recorded, label))
        except (TraceError, ValidationError, KeyError, TypeError) as error:
            faults.append(f"{path.name}: it cannot be read ({type(error).__name__})")
    return episodes, faults


def _label(line: bytes, where: str) -> Label:
    try:
        return Label.model_validate_json(line)
    except ValidationError as error:
        raise LabelledError(f"{where}: {fault(line, error)}") from error


def _episode(name: str, recorded: RecordedSearch, label: Label) -> Episode:
    wanted = label.support_ids
    known = set(map(str, recorded.header.get("given", ())))
    found: list[int] = []
    for turn in recorded.turns:
        known.update(turn["new"])
        found.append(len(wanted & known))
    lines: list[dict[str, Any]] = [dict(recorded.header), *map(dict, recorded.turns)]
    return Episode(
        dataset=DATASET,
        split="own",
        id=name,
        group=label.group or label.question.strip(),
        question=label.question,
        answerable=label.answerable,
        support=len(wanted),
        found=tuple(found),
        scorer=str(recorded.header.get("scorer", "")),
        trace=tuple(lines),
    )
