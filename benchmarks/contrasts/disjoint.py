"""Records that share nothing with files that are reported on (RINSE, appendix E)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..datasets.lines import Fault
from ..datasets.records import Record
from ..output import Row
from ..overlap import question_digest, records_of, run_digests


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """What is left of some records."""

    records: tuple[Record, ...]
    """In their order."""
    rows: tuple[Row, ...]
    """One a dataset: records, and how many were left out for their question or for a passage."""
    faults: tuple[Fault, ...]
    """What could not be read of the files."""


def apart(records: Sequence[Record], files: Iterable[Path]) -> Apart:
    """Leave out each record that asks a question of the files, or shares a run of words with their passages.

    A run is one of `overlap.run_digests`. Distractors of the files count too.
    Memory: about 100 bytes a word of the files.

    Raises:
        DatasetError: a file cannot be opened, or its format is none that is understood.
    """
    faults: list[Fault] = []
    reported = _Reported(records_of(files, faults))
    kept: list[Record] = []
    left_out: Counter[tuple[str, str]] = Counter()
    for record in records:
        reason = reported.reason(record)
        if reason is None:
            kept.append(record)
        else:
            left_out[record.dataset, reason] += 1
    rows: list[Row] = [
        {
            "dataset": dataset,
            "records": total,
            "left_out_question": left_out[dataset, "question"],
            "left_out_passage": left_out[dataset, "passage"],
        }
        for dataset, total in sorted(Counter(record.dataset for record in records).items())
    ]
    return Apart(records=tuple(kept), rows=tuple(rows), faults=tuple(faults))


class _Reported:
    """Questions and runs of words, as digests; no text is kept."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._questions: set[bytes] = set()
        self._runs: set[bytes] = set()
        self._shared: dict[str, bool] = {}
        seen: set[str] = set()
        for record in records:
            self._questions.add(question_digest(record.question))
            for one in record.passages:
                if one.passage.id not in seen:
                    seen.add(one.passage.id)
                    self._runs.update(run_digests(one.passage.text))

    def reason(self, record: Record) -> str | None:
        """What it shares, `question` or `passage`; None = nothing."""
        if question_digest(record.question) in self._questions:
            return "question"
        for one in record.passages:
            key = one.passage.id
            if key not in self._shared:
                self._shared[key] = not self._runs.isdisjoint(run_digests(one.passage.text))
            if self._shared[key]:
                return "passage"
        return None
