"""What the figures of a report depend on."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..contrasts.model import Contrast

if TYPE_CHECKING:
    from .run import PairwiseOptions


def settings_of(options: PairwiseOptions, contrasts: Sequence[Contrast]) -> dict[str, Any]:
    """What the figures depend on: names of files, not where they lay, and the contrasts by content."""
    digest = hashlib.sha256()
    for one in contrasts:
        digest.update(repr((one.key, [(side.id, side.question, side.passages) for side in one.sides])).encode())
        digest.update(repr([extra.passage for extra in one.added]).encode())
    build = dataclasses.asdict(options.build) | {
        name: path.name if path else None
        for name, path in (("corpus", options.build.corpus), ("index", options.build.index))
    }
    return {
        "data": [path.name for path in options.data],
        "contrasts": [path.name for path in options.contrasts],
        "contrasts_digest": digest.hexdigest()[:16],
        "build": build,
        "scorers": list(options.scorers),
        "added": list(options.added),
        "cues_added": list(options.cues_added),
        "limit": options.limit,
        "limit_lm": options.limit_lm,
        "minutes": options.minutes,
        "weights": {name: Path(folder).name for name, folder in options.weights.folders},
        "held_out": options.held_out,
        "order": options.order,
        "ablation": options.ablation,
        "overlap_with": [path.name for path in options.overlap_with],
        "processes": options.scoring.processes,
        "draws": options.draws,
    }
