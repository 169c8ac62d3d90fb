"""The command that makes a report again, from what the report says of itself."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from ..output import Report
from ..stopping.roster import names
from .figures import number
from .replayed import fixed_calls

_PRICES = (("wrong", "--wrong"), ("call_price", "--call-price"))


def replay_command(report: Report) -> str:
    """What to type for the same report, with names of files but not the folders that they lay in."""
    settings = report.settings
    words = ["python", "-m", "benchmarks", "replay", *settings.get("runs", ())]
    for name in settings.get("tune", ()):
        words += ["--tune", name]
    wanted = _policies(report)
    if wanted:
        words += ["--policy", ",".join(wanted)]
    utility: Mapping[str, Any] = settings.get("utility", {})
    for key, option in _PRICES:
        if (price := number(utility, key)) is not None:
            words += [option, f"{price:g}"]
    words += ["--draws", str(settings.get("draws")), "--seed", str(report.seed), "--html", "report.html"]
    return shlex.join(words)


def _policies(report: Report) -> Sequence[str]:
    """Those that were asked for; none where it was all that there are."""
    compared = dict.fromkeys(str(row["policy"]) for row in report.rows if row["policy"] is not None)
    asked = [*compared, *report.settings.get("left_out", {})]
    horizon = max((calls for name in compared if (calls := fixed_calls(name))), default=1)
    return [] if set(asked) == set(names(horizon)) else asked
