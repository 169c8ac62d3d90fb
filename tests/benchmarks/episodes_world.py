"""Recorded searches with known outcomes, invented: one call a turn, the horizon six calls, one tier."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from agent.episodes import Episode, Probe
from policies import Budget, SearchState
from retrieval import Spend

HORIZON = 6
SUPPORT = 2
_STATE = TypeAdapter(SearchState)


def state(turn: int, scores: Sequence[float | None], *, new: int = 5, dry: bool = False) -> SearchState:
    """What a policy saw after this turn; each turn makes one call, takes a second and brings `new` passages."""
    spend = Spend(calls=turn, seconds=float(turn), tokens=10 * turn)
    return SearchState(
        turn=turn,
        tier="local",
        scores=tuple(scores),
        new_passages=(new,) * turn,
        passages=new * turn,
        tier_turns=turn,
        spend=spend,
        left=Budget(max_turns=HORIZON, max_calls=HORIZON, max_seconds=None).left(spend, turns=turn),
        nothing_to_ask=dry,
    )


def episode(
    name: str,
    scores: Sequence[float | None],
    found: Sequence[int],
    *,
    texts: Sequence[str | None] = (),
    margins: Sequence[float | None] = (),
    new: int = 5,
    **changes: Any,
) -> Episode:
    """A search with these scores and so many pieces of support after each look. It ends early if looks are few."""
    turns = len(scores)
    states = [state(at, scores[:at], new=new, dry=at == turns and turns < HORIZON) for at in range(1, turns + 1)]
    texts = texts or ("Lenne",) * turns
    margins = margins or (0.5,) * turns
    full: dict[str, Any] = {
        "dataset": "toy",
        "split": "dev",
        "id": name,
        "group": name,
        "question": f"Where does {name} flow?",
        "answers": ("Lenne",),
        "support": SUPPORT,
        "found": tuple(found),
        "probes": tuple(
            None if text is None else Probe(text=text, margin=margin)
            for text, margin in zip(texts, margins, strict=True)
        ),
        "gold_answer": "the Lenne",
        "scorer": "toy-scorer",
        "trace": tuple(
            {"type": "turn", "scored": True, "state": _STATE.dump_python(one, mode="json")} for one in states
        ),
    }
    return Episode(**(full | changes))


def world(
    questions: int,
    *,
    seed: int = 0,
    dataset: str = "toy",
    split: str = "dev",
    hopeless: bool = False,
    signal: float = 2.0,
) -> list[Episode]:
    """Questions and their twins. A score is noise, plus `signal` once the support is complete.

    Args:
        questions: How many; each is a group of two searches.
        seed: Of everything that is drawn.
        dataset: Its name.
        split: In front of the names of questions, too.
        hopeless: No search ever finds the second piece of support.
        signal: How far the score tells the two apart, in standard deviations.
    """
    random = np.random.default_rng([seed, *dataset.encode()])
    made = []
    for at in range(questions):
        for twin in (False, True):
            never = hopeless or twin or random.random() < 0.2
            first = HORIZON + 1 if never else int(random.integers(1, HORIZON))
            found = [0 if twin else SUPPORT if turn >= first else 1 for turn in range(1, HORIZON + 1)]
            scores = [float(random.normal()) + signal * (pieces == SUPPORT) for pieces in found]
            texts = ["Lenne" if pieces == SUPPORT else f"Tessel {turn // 2}" for turn, pieces in enumerate(found)]
            margins = [float(random.random()) + (pieces == SUPPORT) for pieces in found]
            made.append(
                episode(
                    f"{split}-q{at}",
                    scores,
                    found,
                    texts=texts,
                    margins=margins,
                    dataset=dataset,
                    split=split,
                    twin=twin,
                    gold_answer=None if twin else "the Lenne",
                )
            )
    return made


def write_run(file: Path, episodes: Iterable[Episode], **depends_on: Any) -> Path:
    """A run file as `python -m benchmarks record` writes it."""
    header = {"type": "run", "format": 1, "depends_on": depends_on or {"corpus": "toy"}}
    lines = [json.dumps(header), *(one.model_dump_json() for one in episodes)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file
