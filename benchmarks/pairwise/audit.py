"""Contrasts as records: to draw groups of them, and to find text that they share with other files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..contrasts.model import Contrast
from ..datasets.reading import stream_records
from ..datasets.records import Record, RecordPassage
from ..overlap import Fingerprints, overlap
from .rows import Groups


def overlapping_groups(contrasts: Iterable[Contrast], files: Sequence[Path]) -> Groups | None:
    """Groups that share a question or gold text with the files (RINSE, appendix E); None without files."""
    if not files:
        return None
    others = (item for path in files for item in stream_records(path) if isinstance(item, Record))
    return overlap((record for one in contrasts for record in as_records(one)), Fingerprints(others)).essential


def as_records(contrast: Contrast) -> Iterable[Record]:
    """A record for each side."""
    for side in contrast.sides:
        support = set(side.support)
        yield Record(
            id=f"{contrast.construction}:{side.id}",
            dataset=contrast.dataset,
            split=contrast.split,
            question=side.question,
            answers=side.answers,
            answerable=side.sufficient,
            passages=tuple(
                RecordPassage(passage=contrast.passages[key], support=key in support) for key in side.passages
            ),
            group=contrast.group,
            cluster=contrast.cluster,
        )
