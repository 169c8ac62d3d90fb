"""Whether a policy decides anything at all on the searches that it was calibrated on (case E05)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from statistics import fmean
from typing import Final

from .decision import AnswerNow
from .policy import StopPolicy
from .replay import OffRecord, Recorded, Replayed

_THRESHOLDS: Final = ("answer_at", "abstain_below", "start", "end")
"""Parameters that are held against scores, in all policies and parts."""


def degeneracy(policy: StopPolicy, recorded: Sequence[Recorded]) -> tuple[str, ...]:
    """Warnings in words, each with the realised rates; none if the policy tells searches apart.

    A policy is degenerate if it answers every search or none, or has a threshold that no score seen, or every one,
    is above. Searches that it leads off the record count as neither answered nor abstained.

    >>> degeneracy(policy, recorded)  # doctest: +SKIP
    ("band never answers: 0 of 120 searches answered, 120 abstained, 6.0 calls on average. ...",)
    """
    if not recorded:
        return (f"{policy.name} was tried on no search: nothing is known of how it decides. Record some first.",)
    return (*_rates(policy, [search.play(policy) for search in recorded]), *_outside(policy, recorded))


def _rates(policy: StopPolicy, ends: Sequence[Replayed]) -> Iterator[str]:
    stops = [end for end in ends if not isinstance(end, OffRecord)]
    answered = sum(isinstance(stop.decision, AnswerNow) for stop in stops)
    if answered not in {0, len(ends)}:
        return
    calls = f"{fmean(stop.state.spend.calls for stop in stops):.1f} calls on average" if stops else "no end known"
    off = f", {len(ends) - len(stops)} off the record" if len(stops) < len(ends) else ""
    yield (
        f"{policy.name} {'always' if answered else 'never'} answers: {answered} of {len(ends)} searches answered, "
        f"{len(stops) - answered} abstained{off}, {calls}. It does not tell searches apart; choose its parameters "
        "anew."
    )


def _outside(policy: StopPolicy, recorded: Sequence[Recorded]) -> Iterator[str]:
    seen = [
        score
        for search in recorded
        for score in search.states[-1].scores
        if score is not None and math.isfinite(score)
    ]
    if not seen:
        return
    low, high = min(seen), max(seen)
    for name, threshold in _thresholds(policy):
        if not low < threshold <= high:
            side = "above" if threshold > high else "not above"
            yield (
                f"{policy.name}: {name} is {threshold:.6g}, {side} any of the {len(seen)} scores seen "
                f"({low:.6g} to {high:.6g}): {'no' if threshold > high else 'every'} score passes it."
            )


def _thresholds(policy: object) -> Iterator[tuple[str, float]]:
    """Of the policy and of its parts, outermost first."""
    if not is_dataclass(policy):
        return
    for each in fields(policy):
        value = getattr(policy, each.name)
        if each.name in _THRESHOLDS and isinstance(value, float | int):
            yield each.name, float(value)
        for part in value if isinstance(value, tuple) else (value,):
            yield from _thresholds(part)
