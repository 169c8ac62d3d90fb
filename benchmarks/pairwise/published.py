"""What the RINSE paper prints for the same methods (table 4). Its backbones are larger, its records others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..output import Row
from .rows import ALL
from .sample import SUBSET as SAMPLED

DATASETS = ("squad2", "iirc", "neoqa", "hotpotqa", "musique", "freshwiki")
"""The table's columns."""

SAME_RULE: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("squad2", "question-swap"): "squad2",
        ("iirc", "native"): "iirc",
        ("hotpotqa", "substitution"): "hotpotqa",
        ("musique", "native"): "musique",
    }
)
"""Our tests, by dataset and construction, that are built as one of the columns is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One method of table 4. Pairwise accuracies; intervals are 95 %."""

    backbone: str
    """Size of its backbone in parameters."""
    accuracies: tuple[float, ...]
    """By `DATASETS`."""
    average: float
    interval: tuple[float, float]
    """Of the average."""
    worst: float
    ms_p50: float
    """Milliseconds of a record on one A100, median."""
    ms_p95: float
    records_per_second: float
    """Saturated, on the same."""

    def accuracy(self, dataset: str, construction: str) -> float | None:
        """What is printed for the test that our test is built like; None = there is none."""
        column = SAME_RULE.get((dataset, construction))
        return None if column is None else self.accuracies[DATASETS.index(column)]

    def row(self) -> Row:
        """Its figures, each under a name that begins with `paper_`."""
        return {
            "paper_backbone": self.backbone,
            "paper_average": self.average,
            "paper_average_lo": self.interval[0],
            "paper_average_hi": self.interval[1],
            "paper_worst": self.worst,
            "paper_ms_p50": self.ms_p50,
            "paper_ms_p95": self.ms_p95,
            "paper_records_per_second": self.records_per_second,
        }


def _published(
    backbone: str,
    accuracies: tuple[float, float, float, float, float, float],
    average: tuple[float, float, float],
    worst: float,
    times: tuple[float, float, float],
) -> Published:
    """A line of the table: average with its interval, then p50, p95 and records a second."""
    mean, low, high = average
    p50, p95, rate = times
    return Published(
        backbone=backbone,
        accuracies=accuracies,
        average=mean,
        interval=(low, high),
        worst=worst,
        ms_p50=p50,
        ms_p95=p95,
        records_per_second=rate,
    )


TABLE_4: Mapping[str, Published] = MappingProxyType(
    {
        "rinse-small": _published(
            "1.5B", (0.684, 0.926, 0.773, 0.853, 0.813, 0.973), (0.837, 0.83, 0.84), 0.684, (36.5, 603, 17.4)
        ),
        "sufficient-context": _published(
            "1.5B", (0.539, 0.584, 0.514, 0.521, 0.514, 0.567), (0.540, 0.53, 0.54), 0.514, (5566, 5934, 0.43)
        ),
        "yes-no": _published(
            "1.5B", (0.720, 0.579, 0.500, 0.684, 0.569, 0.933), (0.664, 0.66, 0.67), 0.500, (31.8, 424, 8.1)
        ),
        "upr": _published(
            "1.5B", (0.699, 0.541, 0.699, 0.712, 0.731, 0.946), (0.721, 0.72, 0.73), 0.541, (24.5, 537, 9.8)
        ),
        "ragas-cr": _published(
            "1.5B", (0.588, 0.485, 0.508, 0.549, 0.513, 0.665), (0.551, 0.55, 0.56), 0.485, (77.9, 1764, 5.1)
        ),
        "crag": _published(
            "770M", (0.626, 0.584, 0.549, 0.609, 0.633, 0.794), (0.632, 0.63, 0.64), 0.549, (39.4, 968, 5.7)
        ),
        "uar-tree": _published(
            "7B", (0.527, 0.467, 0.481, 0.500, 0.502, 0.506), (0.497, 0.49, 0.50), 0.467, (72.6, 780, 3.1)
        ),
        "self-rag": _published(
            "7B", (0.752, 0.688, 0.644, 0.696, 0.759, 0.939), (0.746, 0.74, 0.75), 0.644, (44.3, 2041, 2.8)
        ),
        "p-true": _published(
            "1.5B", (0.670, 0.607, 0.520, 0.590, 0.571, 0.854), (0.635, 0.63, 0.64), 0.520, (164, 587, 7.4)
        ),
        "attribution": _published(
            "1.5B", (0.699, 0.615, 0.517, 0.570, 0.551, 0.929), (0.647, 0.64, 0.65), 0.517, (142, 630, 9.3)
        ),
        "semantic-entropy": _published(
            "1.5B", (0.593, 0.602, 0.505, 0.539, 0.544, 0.589), (0.562, 0.56, 0.57), 0.505, (499, 1382, 2.4)
        ),
        "flare": _published(
            "1.5B", (0.586, 0.627, 0.503, 0.539, 0.565, 0.666), (0.581, 0.57, 0.59), 0.503, (184, 778, 11.9)
        ),
    }
)
"""By our name of the method. Beside `rinse-small` stands the paper's own profile, whose backbones are larger."""

CUES: Mapping[tuple[str, str, str, int], float] = MappingProxyType(
    {
        ("hotpotqa", "substitution", "cue-min-idf", 0): 0.941,
        ("hotpotqa", "substitution", "cue-min-idf", 5): 0.541,
        ("hotpotqa", "substitution", "cue-min-idf", 10): 0.520,
        ("hotpotqa", "substitution", "cue-min-idf", 15): 0.513,
        ("hotpotqa", "substitution", "cue-min-idf", 20): 0.510,
        ("hotpotqa", "substitution", "cue-size", 0): 0.500,
        ("hotpotqa", "substitution", "cue-question-only", 0): 0.500,
        ("hotpotqa", "substitution", "cue-evidence-only", 0): 0.763,
        ("hotpotqa", "substitution", "cue-evidence-only", 20): 0.743,
        ("squad2", "unrelated-swap", "question-overlap", 0): 0.993,
        ("squad2", "question-swap", "question-overlap", 0): 0.573,
        ("squad2", "question-swap", "cue-min-idf", 0): 0.577,
        ("squad2", "question-swap", "cue-question-only", 0): 0.607,
    }
)
"""What it prints of cues (section 3, table 2) for tests that are built by the same rule, by dataset, construction,
system and shared additions."""


def with_paper(row: Row) -> Row:
    """The row with what the paper prints for a test built by the same rule, where it prints something.

    `paper` is the figure; of a scorer, `paper_backbone` is the size of the backbone behind it.
    """
    dataset, construction, system = (str(row[name]) for name in ("dataset", "construction", "system"))
    added = int(row["added"] or 0)
    method = TABLE_4.get(system)
    if method is not None and not added and row["subset"] in {ALL, SAMPLED}:
        figure = method.accuracy(dataset, construction)
        return row if figure is None else row | {"paper": figure, "paper_backbone": method.backbone}
    cue = CUES.get((dataset, construction, system, added)) if row["subset"] == ALL else None
    return row if cue is None else row | {"paper": cue}
