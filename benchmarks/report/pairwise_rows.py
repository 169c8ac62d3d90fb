"""The rows of `python -m benchmarks pairwise`, by test and system, as the report reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ..output import Report, Row
from .figures import number
from .page import shown

ACCURACY = "pairwise_accuracy"
CHANCE = 0.5
"""Pairwise accuracy of whoever looks at nothing: ties count 0.5."""
MACRO, WORST = "macro", "worst"
"""Stand for the dataset in rows over all headline rows."""
WHOLE = "all"
"""The subset of every pair."""
SAMPLE = "lm-sample"
"""The subset of the groups that every scorer was shown, unless the settings name it (`sample_subset`)."""
NOT_RUN = "not_run_here"
NOT_SCORED = "not_scored"
"""The kind of failure of a scorer for which there was no time to read all sides."""

Kind: TypeAlias = Literal["reference", "evidence", "answer", "cue"]
"""What a system is: the scorer that others are compared with, a scorer by what it reads, or a cue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """One dataset and construction, without additions."""

    __test__ = False

    dataset: str
    construction: str
    rows: Mapping[str, Row]
    """By system."""

    @property
    def title(self) -> str:
        """For headings and columns."""
        return shown(f"{self.dataset} {self.construction}")

    @property
    def pairs(self) -> int:
        """As many as the system with the most has scores for."""
        return int(max((number(row, "n") or 0 for row in self.rows.values()), default=0))

    @property
    def counted(self) -> str:
        """The title and the number of pairs."""
        return f"{self.title}, {self.pairs:,} {'pair' if self.pairs == 1 else 'pairs'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The headline tests on one subset of the groups, and the summary over them."""

    subset: str
    tests: Sequence[Test]
    mean: Mapping[str, Row]
    """By system, of those that have a figure in every test."""
    worst: Mapping[str, Row]

    @property
    def systems(self) -> Sequence[str]:
        """All that have a row, in order of first appearance."""
        return list(dict.fromkeys(system for test in self.tests for system in test.rows))


def of_sheet(sheet: Sheet) -> str:
    """Which groups a sheet is about, for headings and captions."""
    return "All groups" if sheet.subset == WHOLE else "The groups that every scorer was shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Everything that a report of `pairwise` shows."""

    rows: Sequence[Row]
    """Of scores; those by reader and those about systems taken out."""
    about: Mapping[str, Row]
    """What is known of each scorer: title, backbone, what it reads, the paper's figures."""
    scorers: Sequence[str]
    """That ran here; the first one is the reference."""
    sheets: Sequence[Sheet]
    """The groups that every scorer was shown first, then all groups."""
    histograms: Sequence[Mapping[str, Any]]

    @property
    def reference(self) -> str | None:
        """The scorer that the others are compared with."""
        named = (row.get("reference") for row in self.rows)
        return next((str(name) for name in named if name), self.scorers[0] if self.scorers else None)

    @property
    def not_run(self) -> Sequence[str]:
        """Scorers whose weights are not on the machine that measured."""
        return [name for name, row in self.about.items() if row.get("status") == NOT_RUN]

    @property
    def rivals(self) -> Sequence[str]:
        """Scorers that ran, other than the reference, for which the paper prints figures of its own backbones."""
        return [
            name
            for name in self.scorers
            if name != self.reference and self.about.get(name, {}).get("paper_backbone")
        ]

    def kind(self, system: str) -> Kind:
        """What a system is. A scorer of which nothing is known reads the evidence."""
        if system not in self.scorers:
            return "cue"
        if system == self.reference:
            return "reference"
        return "answer" if self.about.get(system, {}).get("reads") == "answer" else "evidence"

    def best_cue(self, test: Test) -> str | None:
        """The cue with the highest accuracy on a test; the first of equals."""
        known = {
            system: value
            for system, row in test.rows.items()
            if self.kind(system) == "cue" and (value := number(row, ACCURACY)) is not None
        }
        return max(known, key=lambda system: known[system], default=None)


def is_waiting(failure: Mapping[str, Any]) -> bool:
    """Whether a failure says that there was no time to read all sides."""
    return failure.get("kind") == NOT_SCORED


def compared(report: Report) -> Compared:
    """The report's rows by what they are about.

    Where all scorers read a sample first, and time was up before one had read everything, its rows beyond the
    sample are left out: they are of a few groups, beside cues of all.
    """
    about = {str(row["system"]): row for row in report.rows if row.get("kind") == "system"}
    rows = [row for row in report.rows if row.get("kind") is None and not row.get("readers")]
    spread: list[Mapping[str, Any]] = list(report.settings.get("histograms", ()))
    sample = str(report.settings.get("sample_subset") or SAMPLE)
    if any(row["subset"] == sample for row in rows):
        waiting = {one.get("system") for one in filter(is_waiting, report.failures)}
        rows = [row for row in rows if row["subset"] == sample or row["system"] not in waiting]
        spread = [one for one in spread if one["subset"] == sample or one["system"] not in waiting]
    measured = dict.fromkeys(str(row["system"]) for row in rows)
    named = dict.fromkeys([*map(str, report.settings.get("scorers", ())), *about])
    scorers = [name for name in named if name in measured]
    sheets = [one for subset in (sample, WHOLE) if (one := _sheet(rows, subset)).tests]
    return Compared(
        rows=rows,
        about=about,
        scorers=scorers,
        sheets=[one for one in sheets if not (scorers and set(scorers).isdisjoint(one.systems))],
        histograms=spread,
    )


def _sheet(rows: Sequence[Row], subset: str) -> Sheet:
    mine = [row for row in rows if row.get("headline") and row["subset"] == subset and not row["added"]]
    return Sheet(
        subset=subset,
        tests=tests_of([row for row in mine if row["dataset"] not in {MACRO, WORST}]),
        mean={str(row["system"]): row for row in mine if row["dataset"] == MACRO},
        worst={str(row["system"]): row for row in mine if row["dataset"] == WORST},
    )


def tests_of(rows: Sequence[Row]) -> list[Test]:
    """The rows of one number of additions and one subset by dataset and construction."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        found.setdefault((str(row["dataset"]), str(row["construction"])), {})[str(row["system"])] = row
    return [Test(dataset=one, construction=other, rows=same) for (one, other), same in found.items()]
