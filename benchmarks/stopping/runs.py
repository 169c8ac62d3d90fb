"""Recorded searches, read back for a replay: what policies saw and what was true then, without passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agent.episodes import Episode
from agent.observe import probed_record
from policies import SearchState
from policies.replay import Recorded

from ..datasets.lines import Fault, fields_fault, stream_lines
from ..errors import RunFileError
from ..runfile import Header


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One recorded search, reduced to what a replay needs. Looks are the turns of its trace, at least one."""

    dataset: str
    split: str
    id: str
    group: str
    """The dataset in front, so that groups of two datasets never share a name."""
    twin: bool
    answerable: bool
    recorded: Recorded
    """What policies see, with the observations of `probe` and `gold`."""
    found: tuple[int, ...]
    """Annotated pieces of support in the evidence after each look."""
    support: int
    """How many there are."""
    complete: tuple[bool, ...]
    """Whether the evidence held all of them, after each look."""
    scored: tuple[int, ...]
    """Passages that were scored up to each look, the same one counted each time."""
    answers: tuple[str, ...]
    probes: tuple[str | None, ...]
    """What would have been answered after each look; None where nothing would have been."""
    gold_answer: str | None
    scorer: str
    """Fingerprint of the scorer."""

    @property
    def states(self) -> tuple[SearchState, ...]:
        """What policies see after each look."""
        return self.recorded.states


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """All that some run files hold."""

    depends_on: tuple[Mapping[str, Any], ...]
    """Of each file, see `runfile.Header`."""
    searches: tuple[Search, ...]
    """In the files' order, each once."""
    faults: tuple[Fault, ...]
    """Lines that could not be used."""

    @property
    def datasets(self) -> tuple[str, ...]:
        """In alphabetical order."""
        return tuple(sorted({search.dataset for search in self.searches}))


def load_runs(paths: Iterable[Path]) -> Run:
    """Read files that `python -m benchmarks record` wrote, plain or gzip, line by line.

    A line that cannot be used is a fault, not the end; the second line of one search is one.

    Raises:
        DatasetError: a file cannot be opened.
        RunFileError: a file does not begin like a run, or the scores of two scorers are mixed.
    """
    headers, faults = [], []
    searches: dict[tuple[str, str, bool], Search] = {}
    for path in paths:
        header, found, wrong = load_run(path)
        headers.append(header.depends_on)
        faults += wrong
        for search in found:
            searches.setdefault((search.dataset, search.id, search.twin), search)
    scorers = sorted({search.scorer for search in searches.values()})
    if len(scorers) > 1:
        raise RunFileError(
            f"The runs hold scores of {len(scorers)} scorers ({', '.join(one[:12] for one in scorers)}); their "
            "scales differ, so no policy can be compared on both. Replay the runs of one scorer at a time."
        )
    return Run(depends_on=tuple(headers), searches=tuple(searches.values()), faults=tuple(faults))


def load_run(path: Path) -> tuple[Header, list[Search], list[Fault]]:
    """One file, see `load_runs`.

    Raises:
        DatasetError: the file cannot be opened.
        RunFileError: it does not begin like a run.
    """
    lines = stream_lines(path)
    first = next(lines, (1, b""))[1]
    try:
        header = Header.model_validate_json(first if isinstance(first, bytes) else b"")
    except ValidationError as error:
        raise RunFileError(
            f"{path} is no recorded run: its first line must be of type 'run'. "
            "Write one with: python -m benchmarks record --out FILE"
        ) from error
    searches: list[Search] = []
    faults: list[Fault] = []
    known: set[tuple[str, str, bool]] = set()
    for number, line in lines:
        item = line if isinstance(line, Fault) else _read(line, file=path.name, number=number)
        if isinstance(item, Search) and (key := (item.dataset, item.id, item.twin)) in known:
            item = _fault(path.name, number, "repeated_id", f"{key} stands in an earlier line, which counts.")
        if isinstance(item, Fault):
            faults.append(item)
        else:
            known.add(key)
            searches.append(item)
    return header, searches, faults


def reduced(episode: Episode) -> Search:
    """What a replay needs of a recorded search.

    Raises:
        ValueError: the trace holds no turn, or fewer or more than were labelled.
        pydantic.ValidationError: the trace is not one of ours.
    """
    states = probed_record(episode).states
    looks = {len(states), len(episode.found), len(episode.probes) or len(states)}
    if looks != {len(states)} or not states:
        raise ValueError(
            f"{len(states)} turns in the trace, labels for {len(episode.found)}, probes for "
            f"{len(episode.probes)}: expected as many of each, and at least one."
        )
    scored, total = [], 0
    for turn, state in zip(episode.turns(), states, strict=True):
        total += state.passages if turn["scored"] else 0
        scored.append(total)
    probes = episode.probes or (None,) * len(states)
    return Search(
        dataset=episode.dataset,
        split=episode.split,
        id=episode.id,
        group=f"{episode.dataset}/{episode.group}",
        twin=episode.twin,
        answerable=episode.answerable,
        recorded=Recorded(_observed(episode, states)),
        found=episode.found,
        support=episode.support,
        complete=episode.sufficient,
        scored=tuple(scored),
        answers=episode.answers,
        probes=tuple(None if probe is None else probe.text for probe in probes),
        gold_answer=episode.gold_answer,
        scorer=episode.scorer,
    )


def _observed(episode: Episode, states: Sequence[SearchState]) -> list[SearchState]:
    """The states with what the observers `probe` and `gold` would have seen; `gold` exists in benchmarks only."""
    complete = episode.sufficient
    first = next((state.spend.calls for state, whole in zip(states, complete, strict=True) if whole), None)
    future = {} if first is None else {"gold.first_complete": float(first)}
    return [
        replace(
            state,
            observations={
                **state.observations,
                **future,
                "gold.found": float(found),
                "gold.support": float(episode.support),
                "gold.complete": float(whole),
            },
        )
        for state, found, whole in zip(states, episode.found, complete, strict=True)
    ]


def _read(line: bytes, *, file: str, number: int) -> Search | Fault:
    try:
        return reduced(Episode.model_validate_json(line))
    except ValidationError as error:
        return fields_fault(error, file=file, line=number)
    except (ValueError, KeyError, TypeError) as error:
        return _fault(file, number, "bad_fields", f"{type(error).__name__}: {error}")


def _fault(file: str, number: int, kind: str, detail: str) -> Fault:
    return Fault(file=file, line=number, kind=kind, detail=detail)
