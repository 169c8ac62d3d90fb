"""Where to answer and where to give up: thresholds from recorded searches of training questions.

Searches run to the end of the budget and are recorded as traces; then every pair of thresholds replays the same
traces. Nothing is searched twice: a stopped run goes on from its traces.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np
from rich.console import Console
from rich.progress import track

from agent.build import open_agent
from agent.config import load_settings
from agent.loop import SearchAgent
from agent.trace import RecordedSearch, load_trace
from agent.wire import read_state
from policies import Abstain, AnswerNow, SearchState, StopPolicy, build_policy, enforce
from retrieval.index import index_info
from rinse import RinseScorer, SufficiencyScorer

from .corpus import cached_index
from .datasets import Question
from .datasets.reading import fault_counts
from .datasets.sample import draw, load_all
from .errors import SettingsError
from .output import Report, Row
from .support import support_ranks

COST = 2.0
"""What an answer without support costs, if one with support is worth 1: answering pays where support is complete
in two of three cases."""
NEAR = 0.03
"""Values that differ by less count as equal and the cheaper setting wins; it is a third of the standard error of
the mean utility of 180 questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One recorded search, reduced to what a replay needs."""

    dataset: str
    states: tuple[SearchState, ...]
    """What the policy saw after each turn."""
    complete: tuple[bool, ...]
    """Whether the evidence after that turn held all annotated support."""


def run_thresholds(
    files: Sequence[Path], *, corpus: Path | None, index: Path | None, traces: Path, limit: int | None, seed: int
) -> Report:
    """Record, choose, report. Blocking; progress goes to stderr.

    Raises:
        SettingsError: not exactly one of corpus and index is given, or there is no question.
        DatasetError, CorpusError, IndexFolderError, BackboneError, TraceError: something cannot be read.
    """
    if (corpus is None) == (index is None):
        raise SettingsError("Say what to search: either --corpus FILE or --index DIR.")
    loaded = load_all(files)
    questions = draw(loaded.questions, limit, seed=seed)
    if not questions:
        raise SettingsError("There is no question to search for: see the faults of the files.")
    info = cached_index(corpus) if corpus else index_info(index or Path())
    # a policy that never stops, so that each turn that any policy could reach is recorded
    settings = load_settings({"policy": "threshold", "answer_at": 1e9, "abstain_below": -1e9, "patience": 1_000})
    agent = open_agent(info.folder, settings=settings.model_copy(update={"max_seconds": None}))
    scorer = RinseScorer.small()
    episodes = record(agent, scorer, questions, traces)
    choice = choose(episodes)
    return Report(
        benchmark="thresholds",
        settings={
            "questions": [file.name for file in files],
            "corpus": info.manifest.corpus.model_dump(),
            "limit": limit,
            "scorer": scorer.fingerprint,
            "answer_at": choice.answer_at,
            "abstain_below": choice.abstain_below,
            "min_turns": choice.min_turns,
        },
        seed=seed,
        rows=choice.rows,
        failures=fault_counts(loaded.faults),
    )


def record(
    agent: SearchAgent, scorer: SufficiencyScorer, questions: Sequence[Question], folder: Path
) -> list[Episode]:
    """Search for each question, or read its trace if it is there; one trace file a question.

    A trace that another scorer wrote is scored again from its texts: what was searched does not depend on it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    episodes = []
    for question in track(questions, description="searches", console=Console(stderr=True)):
        key = hashlib.sha256(f"{question.dataset}/{question.id}".encode()).hexdigest()[:24]
        file = folder / f"{key}.jsonl"
        if not file.exists() or load_trace(file).result is None:
            file.unlink(missing_ok=True)
            agent.run_sync(question.question, trace=file)
        episodes.append(_episode(question, load_trace(file), scorer))
    return episodes


def _episode(question: Question, recorded: RecordedSearch, scorer: SufficiencyScorer) -> Episode:
    evidence = [recorded.evidence_after(turn["number"]) for turn in recorded.turns]
    states = tuple(read_state(turn["state"]) for turn in recorded.turns)
    if recorded.header["scorer"] != scorer.fingerprint:
        scores = [scorer.score(recorded.question, found).score if len(found) else None for found in evidence]
        states = tuple(replace(state, scores=tuple(scores[: i + 1])) for i, state in enumerate(states))
    complete = tuple(
        question.answerable and None not in support_ranks(question.support, found) for found in evidence
    )
    return Episode(dataset=question.dataset, states=states, complete=complete)


def replay(episode: Episode, policy: StopPolicy) -> tuple[bool, bool, int]:
    """What the policy would have done: does it answer, is the support complete then, after how many calls."""
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
        "utility": _mean([answered * (1 if complete else -COST) for answered, complete, _ in ends]),
        "correct_decisions": _mean([answered == complete for answered, complete, _ in ends]),
        "answered_when_sufficient": _mean(sufficient),
        "abstained_when_insufficient": _mean(insufficient),
        "calls_per_question": _mean([calls for _, _, calls in ends]),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One setting of the band and how it did."""

    answer_at: float
    abstain_below: float
    min_turns: int
    rows: tuple[Row, ...]
    """Figures of each dataset."""

    @property
    def value(self) -> float:
        """Mean over datasets of the utility of a search: 1 for an answer on complete support, -`COST` for one on
        incomplete support, 0 for an abstention (Chow's reject option); at most 1.

        Correct decisions would not do: they count an early abstention as right although searching on would have
        completed the support.
        """
        return fmean(float(row["utility"] or 0.0) for row in self.rows)

    @property
    def calls(self) -> float:
        """Mean over datasets of calls per question."""
        return fmean(float(row["calls_per_question"] or 0.0) for row in self.rows)


def choose(episodes: Sequence[Episode], *, steps: int = 12) -> Choice:
    """The cheapest setting whose value is within `NEAR` of the best one; ties to the lower thresholds.

    Candidates for both thresholds are quantiles of all scores seen, for the least turns all that were recorded.

    Raises:
        SettingsError: no search found anything to score.
    """
    scores = [score for episode in episodes for score in episode.states[-1].scores if score is not None]
    if not scores:
        raise SettingsError("No search found anything to score: there is no score to choose a threshold among.")
    grid = sorted({round(float(value), 2) for value in np.quantile(scores, np.linspace(0.0, 0.9, steps))})
    most = max(len(episode.states) for episode in episodes)
    choices = [
        _tried(episodes, answer_at=high, abstain_below=low, min_turns=turns)
        for high in grid
        for low in grid[: grid.index(high) + 1]
        for turns in range(1, most + 1)
    ]
    best = max(choice.value for choice in choices)
    near = [choice for choice in choices if choice.value >= best - NEAR]
    return min(near, key=lambda choice: (choice.calls, choice.answer_at, choice.abstain_below))


def _tried(episodes: Sequence[Episode], *, answer_at: float, abstain_below: float, min_turns: int) -> Choice:
    policy = build_policy("band", answer_at=answer_at, abstain_below=abstain_below, min_turns=min_turns)
    by_dataset: dict[str, list[Episode]] = {}
    for episode in episodes:
        by_dataset.setdefault(episode.dataset, []).append(episode)
    rows: list[Row] = [
        {"dataset": name, "policy": "band", "split": "train", "n": len(group), **rates(group, policy)}
        for name, group in by_dataset.items()
    ]
    return Choice(answer_at=answer_at, abstain_below=abstain_below, min_turns=min_turns, rows=tuple(rows))


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
