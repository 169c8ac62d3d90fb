"""`python -m benchmarks quick`: whole searches over questions whose support is annotated."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent import Settings, load_settings
from agent.build import open_agent
from policies.named import DEFAULT_POLICY, needs_thresholds
from retrieval.index import IndexInfo, index_info

from .corpus import cached_index, demo_index, require_one_source
from .datasets import Fault, Question
from .datasets.demo import load_demo_questions
from .datasets.reading import fault_counts
from .datasets.sample import draw, load_all
from .environment import versions
from .outcome import Failure, Outcome
from .output import Report, Row
from .progress import counted
from .runfile import RunFile
from .runner import SearchFunction, search_all
from .summary import rows

LABELS = {"system": "rinse-small", "construction": "retrieval", "subset": "all"}
"""What is the same in all rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickOptions:
    """What to run. See `python -m benchmarks quick --help`.

    Raises:
        SettingsError: options that do not go together.
    """

    questions: tuple[Path, ...] = ()
    """Files of questions; none: the demo's own."""
    corpus: Path | None = None
    """What to search; its index is built once and kept in a cache."""
    index: Path | None = None
    """An index to search instead."""
    policies: tuple[str, ...] = (DEFAULT_POLICY,)
    """Names that `build_policy` understands, distinct."""
    limit: int | None = None
    """Most questions of each dataset."""
    seed: int = 0
    """Chooses them."""
    out: Path | None = None
    """Run file; None = none."""
    concurrency: int = 1
    """Searches at once."""
    search: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the searches as `load_settings` takes them: `k`, `max_turns`, `answer_at` and so on."""

    def __post_init__(self) -> None:
        require_one_source(self.questions, self.corpus, self.index)


def run_quick(options: QuickOptions) -> Report:
    """Search with every policy, judge and sum up. Blocking; progress goes to stderr.

    Raises:
        DatasetError, RunFileError: see there.
        CorpusError, IndexFolderError, BackboneError: the corpus, its index or the model cannot be used.
        ConfigError, PolicyParameterError: a policy or a setting is unknown or out of range.
    """
    loaded = load_all(options.questions) if options.questions else load_demo_questions()
    questions = draw(loaded.questions, options.limit, seed=options.seed)
    settings = {policy: search_settings(policy, options.search) for policy in options.policies}
    if options.index:
        index = index_info(options.index)
    else:
        index = cached_index(options.corpus) if options.corpus else demo_index()
    agents = {policy: open_agent(index.folder, settings=settings[policy]) for policy in options.policies}
    depends_on = _depends_on(options, index, settings)
    table, failures = measure(
        questions,
        {policy: agent.run for policy, agent in agents.items()},
        concurrency=options.concurrency,
        run_file=None if options.out is None else RunFile(options.out, depends_on),
    )
    return Report(
        benchmark="quick",
        settings=depends_on
        | {"policies": options.policies, "limit": options.limit, "concurrency": options.concurrency},
        seed=options.seed,
        rows=table,
        failures=[*fault_counts(loaded.faults), *failures],
    )


def search_settings(policy: str, flags: Mapping[str, Any]) -> Settings:
    """The user's settings with this policy and no limit on time: a slow machine must not change an outcome."""
    thresholds = {} if needs_thresholds(policy) else {"answer_at": None, "abstain_below": None}
    return load_settings({**flags, **thresholds, "policy": policy}).model_copy(update={"max_seconds": None})


def measure(
    questions: Sequence[Question],
    searches: Mapping[str, SearchFunction],
    *,
    concurrency: int = 1,
    run_file: RunFile | None = None,
) -> tuple[list[Row], list[dict[str, Any]]]:
    """Search, judge, write down, sum up.

    Args:
        questions: Distinct by dataset and id.
        searches: How to search, by the policy's name.
        concurrency: Searches at once.
        run_file: Where outcomes are written; what it holds already is not searched again.

    Returns:
        Rows as `summary.rows` gives them, and the failures: searches that raised, faulty lines of the run file.
    """
    known = {} if run_file is None else run_file.outcomes
    wanted = {(policy, question.dataset, question.id) for policy in searches for question in questions}
    outcomes = [outcome for key, outcome in known.items() if key in wanted]
    failures: list[Failure] = []
    with counted("searches", total=len(wanted), done=len(outcomes)) as advance:

        def on_record(record: Outcome | Failure) -> None:
            if run_file is not None:
                run_file.append(record)
            if isinstance(record, Outcome):
                outcomes.append(record)
            else:
                failures.append(record)
            advance()

        asyncio.run(
            search_all(
                questions,
                searches,
                concurrency=concurrency,
                on_record=on_record,
                skip=lambda policy, question: (policy, question.dataset, question.id) in known,
            )
        )
    faults: Sequence[Fault] = () if run_file is None else run_file.faults
    described = [failure.model_dump(exclude={"type"}) for failure in failures]
    return rows(outcomes, failures, labels=LABELS), [*described, *map(dataclasses.asdict, faults)]


def _depends_on(options: QuickOptions, index: IndexInfo, settings: Mapping[str, Settings]) -> dict[str, Any]:
    """All that outcomes depend on, without paths: they tell where files lay, not what was in them."""
    manifest = index.manifest
    common = next(iter(settings.values())).model_dump(mode="json", exclude={"index", "policy", "trace"})
    data = {
        "questions": {path.name: _sha256(path) for path in options.questions} or "demo",
        "corpus": manifest.corpus.model_dump(),
        "encoder": manifest.encoder.model_dump(),
        "chunks": manifest.settings.model_dump(),
        "search": common,
        "code": {name: versions()[name] for name in ("sufficit", "commit")},
    }
    plain: dict[str, Any] = json.loads(json.dumps(data))
    return plain


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
