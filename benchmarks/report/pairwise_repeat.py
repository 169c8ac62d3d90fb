"""The command that measures the same again, from what a report of `pairwise` says of itself."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from ..contrasts.build import ADDITIONS
from ..output import Report

_NUMBERS = (("limit", "--limit"), ("limit_lm", "--limit-lm"), ("minutes", "--minutes"))
_FLAGS = (("held_out", "--held-out"), ("ablation", "--ablation"))
_BUILT = (("corpus", "--corpus"), ("index", "--index"))
_COUNTS = (("retrieval_limit", "--retrieval-limit", 100), ("additions", "--additions", ADDITIONS))
"""With what the command line takes where they are not named."""


def pairwise_command(report: Report) -> str:
    """What to type, with names of files but not the folders that they lay in."""
    given = report.settings.get("command")
    if given:
        return str(given)
    settings = report.settings
    build: Mapping[str, Any] = settings.get("build") or {}
    words = ["python", "-m", "benchmarks", "pairwise"]
    words += _repeated("--data", settings.get("data"))
    words += _repeated("--contrasts", settings.get("contrasts"))
    words += [word for key, option in _BUILT if build.get(key) for word in (option, str(build[key]))]
    words += _repeated("--construction", build.get("constructions"))
    words += [
        word
        for key, option, usual in _COUNTS
        if build.get(key) not in {None, usual}
        for word in (option, str(build[key]))
    ]
    words += ["--scorer", ",".join(map(str, settings.get("scorers", ())))]
    weights: Mapping[str, str] = settings.get("weights") or {}
    words += _repeated("--weights", [f"{name}={folder}" for name, folder in sorted(weights.items())])
    if any(settings.get("added", ())):
        words += ["--added", ",".join(map(str, settings["added"]))]
    for key, option in _NUMBERS:
        if settings.get(key) is not None:
            words += [option, str(settings[key])]
    words += [option for key, option in _FLAGS if settings.get(key)]
    if settings.get("order") not in {None, "bm25"}:
        words += ["--order", str(settings["order"])]
    words += _repeated("--overlap-with", settings.get("overlap_with"))
    return shlex.join([*words, "--seed", str(report.seed), "--html", "report.html"])


def _repeated(option: str, values: Any) -> Iterator[str]:  # noqa: ANN401  settings are any JSON
    for value in values or ():
        yield from (option, str(value))
