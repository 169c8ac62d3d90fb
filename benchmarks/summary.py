"""Outcomes of searches to flat rows, one a dataset, split and policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from .metrics import all_support_at, mean, ratio, recall_at
from .outcome import Failure, Outcome, digest
from .output import Row

_Group: TypeAlias = tuple[str, str, str]  # dataset, split, policy


def rows(
    outcomes: Iterable[Outcome], failures: Iterable[Failure], *, labels: Mapping[str, str] | None = None
) -> list[Row]:
    """One flat row for each dataset, split and policy, in alphabetical order.

    Shares are in [0, 1]; None where the denominator is empty (case E02):

    * `all_support_turn1`, `all_support`: answerable questions whose evidence holds all annotated support, after
      the first turn and at the end; `recall@k`, `all_support@k`: of the first k of the final ranking;
    * `correct_decisions`: questions that were answered if and only if their support was complete in the evidence;
      `answered_when_sufficient` and `abstained_when_insufficient` split it by whether it was;
      `risk`: answered questions whose support was not complete;
    * `em`, `f1`: over answerable questions with accepted answers, an abstention counts 0; `em_answered`,
      `f1_answered`: over those of them that were answered;
    * `seconds_per_turn`: wall clock; the only figure that differs when a run is repeated;
    * `digest`: of everything else; two runs with equal digests did the same for every question.

    Args:
        outcomes: Each search once.
        failures: Searches that ended in an error; they are in no figure but `failures`.
        labels: Further keys for every row, e.g. the system's name.
    """
    finished: dict[_Group, list[Outcome]] = defaultdict(list)
    failed: dict[_Group, int] = defaultdict(int)
    for outcome in outcomes:
        finished[outcome.dataset, outcome.split, outcome.policy].append(outcome)
    for failure in failures:
        failed[failure.dataset, failure.split, failure.policy] += 1
    table: list[Row] = []
    for group in sorted(finished.keys() | failed.keys()):
        dataset, split, policy = group
        mine = finished[group]
        names = {"dataset": dataset, "split": split, "policy": policy} | dict(labels or {})
        sizes = {"n": len(mine), "groups": len({outcome.group for outcome in mine}), "failures": failed[group]}
        table.append(names | sizes | _figures(mine) | {"digest": digest(mine)})
    return table


def _figures(outcomes: Sequence[Outcome]) -> Row:
    answerable = [outcome for outcome in outcomes if outcome.answerable]
    answered = [outcome for outcome in outcomes if outcome.action == "answer"]
    complete = [outcome for outcome in outcomes if outcome.complete]
    incomplete = [outcome for outcome in outcomes if not outcome.complete]
    judged = [outcome for outcome in answered if outcome.answerable]
    turns = sum(outcome.turns for outcome in outcomes)
    return {
        "answerable": len(answerable),
        "all_support_turn1": mean(outcome.complete_turn1 for outcome in answerable),
        "all_support": mean(outcome.complete for outcome in answerable),
        "correct_decisions": mean(outcome.correct for outcome in outcomes),
        "answered": mean(outcome.action == "answer" for outcome in outcomes),
        "answered_when_sufficient": mean(outcome.action == "answer" for outcome in complete),
        "abstained_when_insufficient": mean(outcome.action == "abstain" for outcome in incomplete),
        "risk": mean(not outcome.complete for outcome in answered),
        "em": mean(outcome.em for outcome in answerable),
        "f1": mean(outcome.f1 for outcome in answerable),
        "em_answered": mean(outcome.em for outcome in judged),
        "f1_answered": mean(outcome.f1 for outcome in judged),
        "recall@5": mean(recall_at(outcome.ranks, 5) for outcome in answerable),
        "all_support@5": mean(all_support_at(outcome.ranks, 5) for outcome in answerable),
        "all_support@10": mean(all_support_at(outcome.ranks, 10) for outcome in answerable),
        "passages_per_question": mean(outcome.passages for outcome in outcomes),
        "turns_per_question": mean(outcome.turns for outcome in outcomes),
        "calls_per_question": mean(outcome.calls for outcome in outcomes),
        "degraded": sum(outcome.degraded for outcome in outcomes),
        "seconds_per_turn": ratio(sum(outcome.seconds for outcome in outcomes), turns),
    }
