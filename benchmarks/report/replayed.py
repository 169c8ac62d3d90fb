"""The rows of `python -m benchmarks replay`, by dataset and policy, as the report reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..output import Report, Row
from ..stopping.context import GAIN, SCORE
from ..stopping.roster import DEFAULT
from ..stopping.rows import MACRO
from .page import shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What was found on one dataset, or as a mean over datasets."""

    dataset: str
    searches: int
    groups: int
    policies: Mapping[str, Row]
    """Over all searches, twins included, in the order of the roster."""
    originals: Mapping[str, Row]
    twins: Mapping[str, Row]
    scores: Sequence[Row]
    """How well the score ranks after each look."""
    gain: Row | None
    """By how much an oracle beats whoever looks at nothing."""
    curves: Mapping[str, Sequence[Mapping[str, Any]]]

    @property
    def title(self) -> str:
        """For headings."""
        return "Mean over datasets" if self.dataset == MACRO else shown(self.dataset)

    @property
    def hopeless(self) -> str:
        """Why no policy can win here; empty where one could (case E04)."""
        return str((self.gain or {}).get("note") or "")

    @property
    def default(self) -> Row | None:
        """The row of the default policy."""
        return self.policies.get(DEFAULT)

    @property
    def longest(self) -> str | None:
        """The policy with the largest fixed number of calls."""
        fixed = [name for name in self.policies if fixed_calls(name)]
        return max(fixed, key=lambda name: fixed_calls(name) or 0, default=None)


def fixed_calls(policy: str) -> int | None:
    """How many calls a policy with a fixed number makes; None for any other policy."""
    if policy == "single":
        return 1
    digits = policy.removeprefix("fixed-")
    return int(digits) if digits != policy and digits.isdecimal() else None


def uses_gold(policy: str) -> bool:
    """Whether a policy knows the annotations: no search could be run with it."""
    return policy.startswith("oracle-")


def replayed(report: Report) -> list[Replayed]:
    """The mean over datasets first, if there is one, then every dataset."""
    names = list(dict.fromkeys(str(row["dataset"]) for row in report.rows))
    names.sort(key=lambda name: (name != MACRO, name))
    curves = {one["dataset"]: one for one in report.settings.get("curves", ())}
    return [
        _one(name, [row for row in report.rows if row["dataset"] == name], curves.get(name, {})) for name in names
    ]


def _one(name: str, rows: Sequence[Row], curves: Mapping[str, Any]) -> Replayed:
    def of(subset: str) -> dict[str, Row]:
        return {str(row["policy"]): row for row in rows if row["policy"] is not None and row["subset"] == subset}

    whole = [row for row in rows if row["subset"] == "all"]
    return Replayed(
        dataset=name,
        searches=int(whole[0]["n"] or 0) if whole else 0,
        groups=int(whole[0]["groups"] or 0) if whole else 0,
        policies=of("all"),
        originals=of("original"),
        twins=of("twin"),
        scores=[row for row in whole if row.get("case") == SCORE],
        gain=next((row for row in whole if row.get("case") == GAIN), None),
        curves=curves,
    )
