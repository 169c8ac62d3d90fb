"""Small contrasts for tests of cues: an invented world of random words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.contrasts.model import Added, Construction, Contrast, Made, Side
from retrieval import Passage

SideOf = tuple[str, bool, Sequence[str]]
"""Question, label and the texts of the evidence."""


def contrast(
    group: str,
    *sides: SideOf,
    added: Sequence[str] = (),
    construction: Construction = "substitution",
    made: Sequence[Made] = (),
) -> Contrast:
    texts = [text for _, _, evidence in sides for text in evidence]
    passages = {passage.id: passage for passage in (Passage(text=text) for text in [*texts, *added])}
    return Contrast(
        dataset="toy",
        split="dev",
        construction=construction,
        group=group,
        cluster=group,
        passages=passages,
        sides=tuple(
            Side(
                id=f"s{at}",
                question=question,
                answers=(),
                sufficient=sufficient,
                passages=tuple(Passage(text=text).id for text in evidence),
                made=made[at] if made else Made(how="annotated", record=group),
            )
            for at, (question, sufficient, evidence) in enumerate(sides)
        ),
        added=tuple(Added(passage=Passage(text=text).id) for text in added),
    )


def words(random: np.random.Generator, number: int) -> str:
    return " ".join(f"w{at}" for at in random.integers(0, 60, size=number))


def world(groups: int, *, seed: int = 0, planted: str = "", asked: str = "", added: int = 0) -> list[Contrast]:
    """Groups of one sufficient and two insufficient sides of two passages of random words.

    `planted` stands in one passage of each sufficient side, `asked` in its question, which else is that of all.
    """
    random = np.random.default_rng(seed)
    made = []
    for at in range(groups):
        question, kept = f"where is {words(random, 3)}", words(random, 12)
        first, second, third = (words(random, 12) for _ in range(3))
        made.append(
            contrast(
                f"g{at}",
                (f"{question} {asked}".strip(), True, [kept, f"{first} {planted}".strip()]),
                (question, False, [kept, second]),
                (question, False, [kept, third]),
                added=[words(random, 12) for _ in range(added)],
            )
        )
    return made
