"""Thresholds that come with the product, each tied to the scorer that it was found with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Where a scorer's scores mean "enough" and "hopeless". Chosen, not certified: no risk is promised."""

    scorer: str
    """Fingerprint of the scorer; on another scorer's scores they mean nothing."""
    answer_at: float
    abstain_below: float
    found_on: str
    """Questions, corpus and rule, for people."""


SHIPPED: tuple[Thresholds, ...] = ()


def shipped_thresholds(scorer: str) -> Thresholds | None:
    """The thresholds that were found with the scorer of this fingerprint, or None."""
    return next((thresholds for thresholds in SHIPPED if thresholds.scorer == scorer), None)
