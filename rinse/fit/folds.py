"""From stored readings to everything light of a profile: head, direction, size corrections. No model is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..size import SizeCorrection, fit_padded_correction
from .balance import pair_weights
from .conditional import deviation_of_sides, fit_conditional_head
from .direction import fit_direction
from .errors import FitError
from .groups import TrainingGroup
from .readable import read_pairs
from .readings import GroupReadings

PENALTY = 1.0
"""Strength of the L2 penalty on the weights of standardised features, against one group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LightParts:
    """What a fold fits."""

    head: NDArray[np.float64]
    """Shape `(n_features,)`."""
    direction: NDArray[np.float32]
    """Shape `(dims,)`."""
    corrections: Mapping[str, SizeCorrection]
    """By reader: `content`, `span`, `latent`."""
    groups: int
    pairs: int


def fit_light_parts(
    groups: Sequence[TrainingGroup], readings: Sequence[GroupReadings], *, penalty: float = PENALTY
) -> LightParts:
    """Fit all that the paper refits a fold (RINSE, section 4, appendix D).

    Head and direction see the pairs as they are; line, mean and deviation the records; the curves of span and
    latent reader also the padded copies. Pairs of which one side could not be read are left out.

    Args:
        groups: Of the families that the fold keeps.
        readings: Of each group, in the same order.
        penalty: See `PENALTY`.

    Raises:
        FitError: there is no pair, or something cannot be fitted; says what to add.
    """
    pairs = read_pairs(groups, [read.readings for read in readings])
    if not pairs.good:
        raise FitError("No pair could be read on both sides, so there is nothing to fit. Add pairs.")
    good, bad = (np.stack([one.features for one in side]) for side in (pairs.good, pairs.bad))
    weights, count = pair_weights(pairs.keys), len({(family, group) for family, _, group in pairs.keys})
    head = fit_conditional_head(
        good, bad, weights=weights, scale=deviation_of_sides(good, bad), penalty=penalty / count
    )
    direction = fit_direction(
        np.stack([one.state for one in pairs.good]), np.stack([one.state for one in pairs.bad]), weights=weights
    )
    return LightParts(
        head=head,
        direction=direction,
        corrections=_corrections(readings, head, direction),
        groups=count,
        pairs=len(pairs.good),
    )


def _corrections(
    readings: Sequence[GroupReadings],
    head: NDArray[np.float64],
    direction: NDArray[np.float32],
) -> dict[str, SizeCorrection]:
    flat = [(f"{number}:{one.side}", one) for number, read in enumerate(readings) for one in read.readings]
    names = [name for name, _ in flat]
    sizes = [one.passages for _, one in flat]
    padded = [one.added > 0 for _, one in flat]
    raw = {
        "content": [float(one.features @ head) for _, one in flat],
        "span": [one.margin for _, one in flat],
        "latent": [float(one.state.astype(np.float64) @ direction.astype(np.float64)) for _, one in flat],
    }
    made = {}
    for reader, values in raw.items():
        try:
            made[reader] = fit_padded_correction(values, sizes, names, padded=padded, curve=reader != "content")
        except ValueError as error:
            raise FitError(
                f"The size correction of the {reader} reader cannot be fitted: {error} Padding draws from other "
                "questions of a family: give more questions, or smaller sizes with --padding."
            ) from error
    return made
