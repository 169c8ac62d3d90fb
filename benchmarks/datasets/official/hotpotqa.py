"""HotpotQA (Yang et al., 2018), distractor and fullwiki: one JSON array."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from retrieval import Passage

from ..document import stream_entries
from ..lines import Fault
from ..records import Record, RecordPassage, checked, distinct
from .entries import parsed, split_of, unlabelled


class HotpotRow(BaseModel):
    """An entry of HotpotQA, and the part of 2WikiMultiHopQA's that is the same."""

    id: str = Field(alias="_id", min_length=1)
    question: str = Field(pattern=r"\S")
    answer: str | None = None
    supporting_facts: list[tuple[str, Any]] | None = None
    """Title and number of a sentence. The number is not used: some point past the end of their passage."""
    context: list[tuple[str, list[str]]]
    """Titles with sentences."""


def read_hotpotqa(path: Path) -> Iterator[tuple[int, Record | Fault]]:
    """Number in the array, and the record: dataset `hotpotqa`, `hotpotqa_fullwiki` if the file's name says so.

    A set suffices if it holds a passage of every supporting title; in fullwiki, where the passages were retrieved,
    often one is missing. An entry without answer and supporting facts (the test file) is a fault.

    Raises:
        DatasetError: there is no such file, or it cannot be opened.
    """
    dataset = "hotpotqa_fullwiki" if "fullwiki" in path.name.lower() else "hotpotqa"
    split = split_of(path)
    for number, entry in stream_entries(path):
        row = entry if isinstance(entry, Fault) else parsed(HotpotRow, entry, file=path.name, line=number)
        if isinstance(row, Fault):
            yield number, row
            continue
        group = f"hotpotqa:{row.id}"
        yield number, titled_record(row, file=path.name, line=number, dataset=dataset, split=split, group=group)


def titled_record(
    row: HotpotRow,
    *,
    file: str,
    line: int,
    dataset: str,
    split: str,
    group: str,
    hop_answers: Mapping[str, Sequence[str]] | None = None,
) -> Record | Fault:
    """The record of an entry that names its support by title; `hop_answers` by title too."""
    if not row.answer or not row.supporting_facts:
        return unlabelled(row.id, file=file, line=line, reason="has no answer or no supporting facts")
    needed = {title for title, _ in row.supporting_facts}
    hops = hop_answers or {}
    found = [
        RecordPassage(
            passage=Passage(text=text, title=title),
            support=title in needed,
            hop_answers=tuple(hops.get(title, ())),
        )
        for title, sentences in row.context
        if (text := " ".join(sentence.strip() for sentence in sentences if sentence.strip()))
    ]
    record = Record(
        id=row.id,
        dataset=dataset,
        split=split,
        question=row.question,
        answers=(row.answer,),
        answerable=needed <= {one.passage.title for one in found},
        passages=distinct(found),
        group=group,
        cluster=group,
    )
    return checked(record, file=file, line=line)
