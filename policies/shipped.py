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
    min_turns: int
    """Turns before a score may end a search."""
    found_on: str
    """Questions, corpus and rule, for people."""


SHIPPED: tuple[Thresholds, ...] = (
    Thresholds(
        scorer="3ff07bbcc69b9dc73178cd4ffaaaa4cf959541e54c1cdc0f9a2f3ae49a048c06",
        answer_at=0.87,
        abstain_below=0.87,
        min_turns=3,
        found_on="60 questions each of hotpotqa, 2wikimultihopqa and musique_ans train over corpus_wiki_pool; the "
        "cheapest setting near the best utility (1, -2, 0): python -m benchmarks thresholds",
    ),
)


def shipped_thresholds(scorer: str) -> Thresholds | None:
    """The thresholds that were found with the scorer of this fingerprint, or None."""
    return next((thresholds for thresholds in SHIPPED if thresholds.scorer == scorer), None)
