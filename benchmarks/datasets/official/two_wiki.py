"""2WikiMultiHopQA (Ho et al., 2020): HotpotQA's form and the triples that a question was made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from ..document import stream_entries
from ..lines import Fault
from ..records import Record
from .entries import parsed, split_of
from .hotpotqa import HotpotRow, titled_record


class _Row(HotpotRow):
    evidences: list[tuple[str, str, str]] = Field(default_factory=list)
    """Subject, relation, object."""


def read_two_wiki(path: Path) -> Iterator[tuple[int, Record | Fault]]:
    """Number in the array, and the record; a triple's object is the hop answer of the passage of its subject.

    An entry without answer and supporting facts (the test file) is a fault.

    Raises:
        DatasetError: there is no such file, or it cannot be opened.
    """
    split = split_of(path)
    for number, entry in stream_entries(path):
        row = entry if isinstance(entry, Fault) else parsed(_Row, entry, file=path.name, line=number)
        if isinstance(row, Fault):
            yield number, row
            continue
        objects: dict[str, list[str]] = defaultdict(list)
        for subject, _, answer in row.evidences:
            objects[subject].append(answer)
        yield (
            number,
            titled_record(
                row,
                file=path.name,
                line=number,
                dataset="2wikimultihopqa",
                split=split,
                group=f"2wiki:{row.id}",
                hop_answers=objects,
            ),
        )
