"""Where to answer and where to give up: thresholds from recorded searches of training questions.

Searches run to the end of the budget and are recorded as traces; then every pair of thresholds replays the same
traces. Nothing is searched twice: a stopped run goes on from its traces.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from rich.progress import track

from agent.loop import SearchAgent
from agent.trace import RecordedSearch, load_trace
from agent.wire import read_state
from policies import Abstain, AnswerNow, StopPolicy, enforce
from policies.named import build_policy
from policies.state import SearchState
from rinse import SufficiencyScorer

from .datasets import Question
from .output import Report, Row
from .support import support_ranks


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One recorded search, reduced to what a replay needs."""

    dataset: str
    states: tuple[SearchState, ...]
    """What the policy saw after each turn."""
    complete: tuple[bool, ...]
    """Whether the evidence after that turn held all annotated support."""


async def record(agent: SearchAgent, questions: Sequence[Question], folder: Path) -> list[Episode]:
    """Search for each question, or read its trace if it is there; one trace file a question."""
    folder.mkdir(parents=True, exist_ok=True)
    episodes = []
    for question in track(questions, description="searches", console=_stderr()):
        file = folder / f"{hashlib.sha256(f'{question.dataset}/{question.id}'.encode()).hexdigest()[:24]}.jsonl"
        if not file.exists() or load_trace(file).result is None:
            file.unlink(missing_ok=True)
            await agent.run(question.question, trace=file)
        episodes.append(_episode(question, await asyncio.to_thread(load_trace, file)))
    return episodes


def rescore(recorded: RecordedSearch, scorer: SufficiencyScorer) -> list[float]:
    """The score after each turn by another scorer: a trace holds the texts."""
    return [
        scorer.score(recorded.question, recorded.evidence_after(turn["number"])).score for turn in recorded.turns
    ]


def _episode(question: Question, recorded: RecordedSearch) -> Episode:
    states = tuple(read_state(turn["state"]) for turn in recorded.turns)
    complete = tuple(
        question.answerable
        and None not in support_ranks(question.support, recorded.evidence_after(turn["number"]))
        for turn in recorded.turns
    )
    return Episode(dataset=question.dataset, states=states, complete=complete)


def replay(episode: Episode, policy: StopPolicy) -> tuple[bool, bool, int]:
    """What the policy would have done on this search: whether it answers, on complete evidence, after how many calls."""
    for state, complete in zip(episode.states, episode.complete, strict=True):
        decision = enforce(policy.decide(state), state)
        if isinstance(decision, AnswerNow | Abstain):
            return isinstance(decision, AnswerNow), complete, state.spend.calls
    return False, episode.complete[-1], episode.states[-1].spend.calls


def rates(episodes: Iterable[Episode], policy: StopPolicy) -> dict[str, float | None]:
    """Decisions of one policy over recorded searches; a rate over nothing is None."""
    ends = [replay(episode, policy) for episode in episodes]
    sufficient = [answered for answered, complete, _ in ends if complete]
    insufficient = [not answered for answered, complete, _ in ends if not complete]
    return {
        "correct_decisions": _mean([answered == complete for answered, complete, _ in ends]),
        "answered_when_sufficient": _mean(sufficient),
        "abstained_when_insufficient": _mean(insufficient),
        "calls_per_question": _mean([calls for _, _, calls in ends]),
    }


def choose(episodes: Sequence[Episode], *, steps: int = 25) -> tuple[float, float, list[Row]]:
    """The pair of thresholds with the best balanced decisions, and a row of figures for each dataset.

    Balanced: the mean of answered-when-sufficient and abstained-when-insufficient, averaged over datasets, so
    that neither a dataset with many questions nor the more frequent case decides. Candidates are quantiles of all
    scores seen; ties go to the fewer calls.
    """
    scores = [score for episode in episodes for state in episode.states for score in state.scores if score is not None]
    grid = sorted({round(float(value), 2) for value in np.quantile(scores, np.linspace(0.02, 0.98, steps))})
    by_dataset: dict[str, list[Episode]] = {}
    for episode in episodes:
        by_dataset.setdefault(episode.dataset, []).append(episode)
    best: tuple[tuple[float, float], float, float] | None = None
    for answer_at in grid:
        for abstain_below in (value for value in grid if value <= answer_at):
            policy = build_policy("band", answer_at=answer_at, abstain_below=abstain_below)
            figures = [rates(group, policy) for group in by_dataset.values()]
            value = (fmean(_balanced(row) for row in figures), -fmean(row["calls_per_question"] or 0.0 for row in figures))
            if best is None or value > best[0]:
                best = (value, answer_at, abstain_below)
    assert best is not None  # noqa: S101  the grid is never empty: quantiles of at least one score
    policy = build_policy("band", answer_at=best[1], abstain_below=best[2])
    rows: list[Row] = [
        {"dataset": name, "policy": "band", "n": len(group), **rates(group, policy)} for name, group in by_dataset.items()
    ]
    return best[1], best[2], rows


def thresholds_report(
    episodes: Sequence[Episode], *, scorer: str, settings: Mapping[str, object], seed: int
) -> Report:
    """Choose and report."""
    answer_at, abstain_below, rows = choose(episodes)
    chosen = {"scorer": scorer, "answer_at": answer_at, "abstain_below": abstain_below}
    return Report(benchmark="thresholds", settings={**settings, **chosen}, seed=seed, rows=rows)


def _balanced(row: Mapping[str, float | None]) -> float:
    parts = [row["answered_when_sufficient"], row["abstained_when_insufficient"]]
    return fmean(part for part in parts if part is not None)


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
