"""Labelled searches for a calibration: read from a run, or made from a user's traces, and reduced to numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from policies.calibration.cases import Case
from policies.errors import CalibrationDataError
from rinse.fit.errors import LineError
from rinse.fit.lines import fault, numbered_lines

from .episodes import Episode
from .errors import LabelledError
from .labels import label_traces, read_labels
from .observe import probed_record

_NOT_THE_SEARCH = frozenset({"questions", "code"})
"""What a run depends on besides the identity of its searches: which questions, and the code that ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSearch:
    """What a calibration keeps of an episode."""

    dataset: str
    case: Case


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationData:
    """Searches of one identity, with labels."""

    search: Mapping[str, Any]
    """As `identity.search_identity` gives it; from traces only what their headers tell."""
    files: Mapping[str, str]
    """SHA-256 of each file that was read, by name; of all traces together, in order of their names."""
    searches: tuple[LabelledSearch, ...]
    faults: tuple[str, ...] = ()
    """Lines and files that were left out, in words."""

    @property
    def cases(self) -> tuple[Case, ...]:
        """Without their datasets."""
        return tuple(search.case for search in self.searches)

    def of(self, dataset: str | None) -> CalibrationData:
        """Those of one dataset; None = all.

        Raises:
            LabelledError: there is none.
        """
        if dataset is None:
            return self
        kept = tuple(search for search in self.searches if search.dataset == dataset)
        if not kept:
            known = ", ".join(sorted({search.dataset for search in self.searches})) or "none"
            raise LabelledError(f"No search belongs to the dataset {dataset!r}. There are: {known}.")
        return CalibrationData(search=self.search, files=self.files, searches=kept, faults=self.faults)


class _Header(BaseModel):
    """First line of a run."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, frozen=True, extra="forbid")

    type: Literal["run"]
    format: Literal[1]
    depends_on: dict[str, Any]


class _TierTold(BaseModel):
    name: str
    k: int


class _BudgetTold(BaseModel):
    max_turns: int | None
    max_calls: int | None


class _TraceHeader(BaseModel):
    """What the first line of a trace tells of the identity of a search; other fields are let be."""

    scorer: str
    tiers: list[_TierTold]
    budget: _BudgetTold
    search: dict[str, Any] | None = None
    """The whole identity, where the agent knew it."""


def read_runs(paths: Sequence[Path]) -> CalibrationData:
    """Searches that `python -m benchmarks record` wrote, of one or several files; a search counts once.

    Raises:
        LabelledError: a file cannot be read or is no run, the runs differ in more than their questions, or they
        hold
            no search that can be used.
    """
    searches: dict[tuple[str, str, bool], LabelledSearch] = {}
    faults: list[str] = []
    identities: dict[str, Mapping[str, Any]] = {}
    named = _named(paths)
    for name, path in named.items():
        lines = _lines(path)
        identities[name] = _identity(path, lines)
        for number, line in lines:
            try:
                episode = Episode.model_validate_json(line)
                _require_scorer(episode, identities[name])
                searches.setdefault(episode.key, labelled(episode))
            except ValidationError as error:
                faults.append(f"{name}, line {number}: {fault(line, error)}")
            except CalibrationDataError as error:
                faults.append(f"{name}, line {number}: {error}")
    return _checked(identities, {name: _sha256(path) for name, path in named.items()}, searches.values(), faults)


def read_traces(folder: Path, labels: Path) -> CalibrationData:
    """Traces of a user's searches with labels; see `agent.labels`.

    Raises:
        LabelledError: folder or labels cannot be read, the searches differ in more than their questions, or no
            search has a label.
    """
    episodes, faults = label_traces(folder, read_labels(labels))
    identities: dict[str, Mapping[str, Any]] = {}
    searches: list[LabelledSearch] = []
    for episode in episodes:
        name = f"{episode.id}.jsonl"
        try:
            search, identity = labelled(episode), trace_identity(episode.trace[0])
        except (ValidationError, CalibrationDataError) as error:
            faults.append(f"{name}: it cannot be used ({type(error).__name__})")
            continue
        searches.append(search)
        identities[name] = identity
    together = "".join(_sha256(folder / name) for name in identities)
    files = {
        labels.name: _sha256(labels),
        f"{len(identities)} traces": hashlib.sha256(together.encode()).hexdigest(),
    }
    return _checked(identities, files, searches, faults)


def labelled(episode: Episode) -> LabelledSearch:
    """What a calibration keeps of it.

    Raises:
        pydantic.ValidationError: its trace is not one of ours.
        CalibrationDataError: not one label for each look.
    """
    case = Case(
        group=f"{episode.dataset}/{episode.group}", recorded=probed_record(episode), complete=episode.sufficient
    )
    return LabelledSearch(dataset=episode.dataset, case=case)


def trace_identity(header: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of the searches, as far as the first line of a trace tells it.

    Raises:
        pydantic.ValidationError: it is none of ours.
    """
    told = _TraceHeader.model_validate(header)
    return told.search or told.model_dump(exclude={"search"})


def _checked(
    identities: Mapping[str, Mapping[str, Any]],
    files: Mapping[str, str],
    searches: Iterable[LabelledSearch],
    faults: Sequence[str],
) -> CalibrationData:
    """All of one identity, and at least one."""
    kept = tuple(searches)
    if not kept:
        why = f" The first fault: {faults[0]}" if faults else ""
        raise LabelledError(f"There is no labelled search in {', '.join(sorted(files)) or 'these files'}.{why}")
    first_name, first = next(iter(identities.items()))
    for name, other in identities.items():
        changed = sorted(part for part in first.keys() | other.keys() if first.get(part) != other.get(part))
        if changed:
            raise LabelledError(
                f"The searches of {name} and {first_name} differ in {', '.join(changed)}. A threshold is "
                "calibrated on searches of one kind: calibrate them apart."
            )
    return CalibrationData(search=first, files=files, searches=kept, faults=tuple(faults))


def _named(paths: Sequence[Path]) -> dict[str, Path]:
    """By name without folders; a name that comes again gets a number."""
    named: dict[str, Path] = {}
    for path in paths:
        again = sum(other.name == path.name for other in named.values())
        named[f"{path.name} ({again + 1})" if again else path.name] = path
    return named


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        yield from numbered_lines(path)
    except LineError as error:
        raise LabelledError(str(error)) from error


def _identity(path: Path, lines: Iterator[tuple[int, bytes]]) -> Mapping[str, Any]:
    _, first = next(lines)
    try:
        depends_on = _Header.model_validate_json(first).depends_on
    except ValidationError as error:
        raise LabelledError(
            f"{path} is no run with labels: its first line must be a 'run' record of format 1. Write one with: "
            "python -m benchmarks record --help; or pass your own searches with --traces and --labels."
        ) from error
    return {name: value for name, value in depends_on.items() if name not in _NOT_THE_SEARCH}


def _require_scorer(episode: Episode, identity: Mapping[str, Any]) -> None:
    if episode.scorer != identity.get("scorer", episode.scorer):
        raise CalibrationDataError(f"the search {episode.id!r} was scored by another scorer than the run names.")


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise LabelledError(f"Cannot read {path} ({error.strerror}).") from error
