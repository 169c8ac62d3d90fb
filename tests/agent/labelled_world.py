"""Run files and traces made of numbers, for tests of `sufficit calibrate`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from agent.episodes import Episode
from policies import SearchState
from policies.calibration import Case

SCORER = "ab" * 32
SEARCH: dict[str, Any] = {
    "scorer": SCORER,
    "tiers": [{"name": "local", "k": 5}],
    "budget": {"max_turns": 6, "max_calls": 6},
    "queries_per_turn": 1,
    "planner": "gap",
    "corpus": {"name": "towns.jsonl", "sha256": "cd" * 32},
}
_STATE = TypeAdapter(SearchState)


def turns(case: Case) -> list[dict[str, Any]]:
    """The lines of a trace, as far as a calibration reads them."""
    return [
        {"type": "turn", "number": state.turn, "new": [], "state": _STATE.dump_python(state, mode="json")}
        for state in case.recorded.states
    ]


def episodes(cases: Sequence[Case], dataset: str = "towns") -> list[Episode]:
    """Each second search of a group is its twin."""
    known: set[str] = set()
    found = []
    for case in cases:
        found.append(
            Episode(
                dataset=dataset,
                split="dev",
                id=case.group,
                group=case.group,
                twin=case.group in known,
                question=f"Where is {case.group}?",
                support=1,
                found=tuple(map(int, case.complete)),
                scorer=SCORER,
                trace=tuple(turns(case)),
            )
        )
        known.add(case.group)
    return found


def write_run(path: Path, searches: Sequence[Episode], **changed: object) -> Path:
    """A run file; `changed` replaces parts of what it depends on."""
    depends_on = {**SEARCH, "questions": {"towns.jsonl": "ef" * 32}, "code": {}, **changed}
    lines = [json.dumps({"type": "run", "format": 1, "depends_on": depends_on})]
    lines += [search.model_dump_json() for search in searches]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_traces(folder: Path, cases: Sequence[Case]) -> Path:
    """A trace each, whose evidence holds the passage "gold GROUP" from the turn on that completes it."""
    folder.mkdir()
    for number, case in enumerate(cases):
        header = {
            "type": "search",
            "format": 1,
            "question": f"Where is {case.group}?",
            "policy": "threshold",
            "scorer": SCORER,
            "tiers": [{**tier, "price": 0.0, "timeout_seconds": 30.0} for tier in SEARCH["tiers"]],
            "budget": {**SEARCH["budget"], "max_seconds": None, "max_tokens": None, "max_price": None},
            "given": [],
        }
        lines = [header, *_with_gold(case)]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"search-{number:04}.jsonl").write_text(text, encoding="utf-8")
    return folder


def gold(group: str) -> str:
    """Text of the passage that a question rests on."""
    return f"The town {group} lies on the river."


def _with_gold(case: Case) -> list[dict[str, Any]]:
    from retrieval.passage import passage_id

    before = (False, *case.complete)
    return [
        {**turn, "new": [passage_id(gold(case.group))] if complete and not earlier else ["0" * 64]}
        for turn, complete, earlier in zip(turns(case), case.complete, before, strict=False)
    ]
