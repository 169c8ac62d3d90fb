"""Sheets to flat rows: one a dataset, subset and policy. `docs/stopping.md` lists every key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from policies.utility import Utility

from ..output import Row
from ..stats import Interval, holm
from .board import Board, Played, make_board, together
from .roster import DEFAULT, Entry
from .runs import Search
from .selective import COVERAGES
from .sheet import HORIZON, MATCHED, RANDOM, Sheet, make_macro, make_sheet

MACRO = "macro"
"""The `dataset` of rows with the unweighted mean over datasets."""
SUBSETS = ("all", "original", "twin")
MARGIN = 0.03
"""Correct decisions may be so much lower than those of always answering at the horizon and still count as "not
worse"."""

FIGURES = (
    "correct_decisions", "utility", "calls_per_question", "regret_utility", "regret_support", "support_complete",
    "support_recall", "em", "f1", "em_gold", "f1_gold", "coverage", "risk", "answered_incomplete",
    "answered_on_insufficient", "refused_on_sufficient", "supported_refused", "unsupported_answered",
    "unsupported_cut", "over_search", "under_search", "stop_minus_oracle", "turns", "passages_scored", "tokens",
    "seconds", "price", "calls_saved", "auroc", "aurc", *(f"risk@{coverage}" for coverage in COVERAGES),
    *(f"{figure}_over_{rival}" for figure in MATCHED for rival in ("random", "frontier")),
)  # fmt: skip
"""Each with its interval, `NAME_lo` and `NAME_hi`."""
DIFFERENCES = ("correct_decisions", "utility", "regret_utility", "calls_per_question")
"""Also as `NAME_vs_default`, with an interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The searches of one dataset and subset, and all figures over them. Without a board: a mean over datasets."""

    dataset: str
    split: str | None
    subset: str
    sheet: Sheet
    n: int
    groups: int
    plays: Mapping[str, Played]
    board: Board | None


def make_parts(
    searches: Sequence[Search], plays: Mapping[str, Played], utility: Utility, *, draws: int, seed: int
) -> list[Part]:
    """Every dataset with every subset that has a search, then the means over datasets where there are several.

    Args:
        searches: Those that were replayed.
        plays: By policy, in the order of the searches.
        utility: Declared prices.
        draws: Of the bootstrap, whose clusters are the groups of searches.
        seed: Of the draws.
    """
    parts: list[Part] = []
    for dataset in sorted({search.dataset for search in searches}):
        for subset in SUBSETS:
            kept = [
                at
                for at, one in enumerate(searches)
                if one.dataset == dataset and subset in {"all", "twin" if one.twin else "original"}
            ]
            if kept:
                parts.append(_part(searches, plays, kept, subset, utility=utility, draws=draws, seed=seed))
    return [*parts, *_macros(parts)]


def _part(
    searches: Sequence[Search],
    plays: Mapping[str, Played],
    kept: Sequence[int],
    subset: str,
    *,
    utility: Utility,
    draws: int,
    seed: int,
) -> Part:
    some = [searches[at] for at in kept]
    mine = {name: played.rows(np.array(kept)) for name, played in plays.items()}
    board = make_board(some)
    matched_to = DEFAULT if DEFAULT in mine else None
    splits = {one.split for one in some}
    return Part(
        dataset=some[0].dataset,
        split=splits.pop() if len(splits) == 1 else None,
        subset=subset,
        sheet=make_sheet(board, mine, utility, matched_to=matched_to, draws=draws, seed=seed),
        n=len(some),
        groups=len({one.group for one in some}),
        plays=mine,
        board=board,
    )


def _macros(parts: Sequence[Part]) -> Iterator[Part]:
    for subset in SUBSETS:
        same = [part for part in parts if part.subset == subset]
        if len(same) > 1:
            splits = {part.split for part in same}
            yield Part(
                dataset=MACRO,
                split=splits.pop() if len(splits) == 1 else None,
                subset=subset,
                sheet=make_macro([part.sheet for part in same]),
                n=sum(part.n for part in same),
                groups=sum(part.groups for part in same),
                plays={name: together([part.plays[name] for part in same]) for name in same[0].plays},
                board=None,
            )


def policy_rows(part: Part, entries: Sequence[Entry]) -> Iterator[Row]:
    """A row for each policy that was compared, in the order of the roster."""
    compared = [entry for entry in entries if entry.policy is not None or entry.name == RANDOM]
    adjusted = _adjusted(part.sheet, [entry.name for entry in compared])
    for entry in compared:
        played = part.plays.get(entry.name)
        yield {
            **_labels(part, entry.name),
            "parameters": None if entry.policy is None else repr(entry.policy),
            "note": entry.note,
            "headline": part.subset == "all",
            "off_record": 0 if played is None else int(played.off.sum()),
            **_figures(part.sheet, entry.name),
            **_against_default(part.sheet, entry.name),
            "utility_p": part.sheet.p_value(entry.name, DEFAULT, "utility") if entry.name != DEFAULT else None,
            "utility_p_holm": adjusted.get(entry.name),
            **_against_horizon(part.sheet, entry.name),
            "reasons": _reasons(played),
        }


def _labels(part: Part, policy: str | None, case: str | None = None) -> Row:
    return {
        "dataset": part.dataset,
        "split": part.split,
        "subset": part.subset,
        "policy": policy,
        "case": case,
        "n": part.n,
        "groups": part.groups,
    }


def _figures(sheet: Sheet, policy: str) -> Row:
    row: Row = {}
    for name in FIGURES:
        row |= with_ends(name, sheet.interval(policy, name))
    return row


def _against_default(sheet: Sheet, policy: str) -> Row:
    row: Row = {}
    for name in DIFFERENCES:
        row |= with_ends(f"{name}_vs_default", sheet.difference(policy, DEFAULT, name))
    return row


def _against_horizon(sheet: Sheet, policy: str) -> Row:
    """Whether correct decisions are not worse by more than `MARGIN` than those of answering at the horizon."""
    bound = sheet.at_least(policy, HORIZON, "correct_decisions")
    return {
        **with_ends("correct_decisions_vs_horizon", sheet.difference(policy, HORIZON, "correct_decisions")),
        "correct_decisions_vs_horizon_at_least": bound,
        "not_worse_than_horizon": None if bound is None else bound > -MARGIN,
    }


def _adjusted(sheet: Sheet, names: Sequence[str]) -> dict[str, float]:
    """P-values of the differences in utility to the default, adjusted for their number (Holm)."""
    others = [name for name in names if name != DEFAULT]
    found = {name: sheet.p_value(name, DEFAULT, "utility") for name in others}
    known = {name: value for name, value in found.items() if value is not None}
    return dict(zip(known, holm(list(known.values())), strict=True))


def _reasons(played: Played | None) -> str | None:
    """How often each reason ended a search, the most frequent first."""
    if played is None:
        return None
    counts = sorted(Counter(played.reasons).items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{code} {count}" for code, count in counts)


def with_ends(name: str, interval: Interval) -> Row:
    """A figure under its name, its interval beside it."""
    return {name: interval.estimate, f"{name}_lo": interval.lo, f"{name}_hi": interval.hi}


def labels(part: Part, *, case: str) -> Row:
    """The keys of a row that belongs to no policy."""
    return _labels(part, None, case)
