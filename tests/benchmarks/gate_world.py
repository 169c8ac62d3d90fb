"""Small contrasts for tests of the gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks.contrasts.model import Construction, Contrast
from benchmarks.gate.draw import Drawn
from retrieval import Passage
from tests.benchmarks.sides import SideOf, contrast, world


def record(
    group: str,
    *,
    sufficient: bool,
    dataset: str = "toy",
    construction: Construction = "hard-substitution",
    passages: int = 2,
) -> Drawn:
    """One side of a contrast of its own."""
    texts = [f"passage {at} of {group}" for at in range(passages)]
    sides: list[SideOf] = [(f"asked of {group}", label, texts) for label in (True, False)]
    made = replace(contrast(group, *sides, construction=construction), dataset=dataset)
    return Drawn(contrast=made, side=next(side for side in made.sides if side.sufficient == sufficient))


def judged(groups: int) -> list[Contrast]:
    """Contrasts whose sufficient side alone holds the word that its question asks for; two insufficient sides."""
    return [
        replace(one, construction="hard-substitution") for one in world(groups, planted="amber", asked="amber")
    ]


def training(groups: int) -> list[Contrast]:
    """The same with other words."""
    made = world(groups, seed=1, planted="amber", asked="amber")
    return [replace(one, construction="hard-substitution", split="train", group=f"t{one.group}") for one in made]


def shuffled(contrasts: Sequence[Contrast], *, seed: int) -> list[Contrast]:
    """In another order, the sides too."""
    random = np.random.default_rng(seed)
    found = [
        replace(one, sides=tuple(one.sides[at] for at in random.permutation(len(one.sides)))) for one in contrasts
    ]
    return [found[at] for at in random.permutation(len(found))]


def long_passage(characters: int) -> Passage:
    """So many characters, the last one a hash sign."""
    return Passage(text="x" * (characters - 1) + "#")
