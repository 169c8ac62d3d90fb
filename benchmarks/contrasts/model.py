"""A contrast: one group of sufficient and insufficient sides, as one line of a JSONL file.

`sufficit fit` and `python -m benchmarks pairwise` read the same files. A line is complete in itself: it holds each
passage once, and its sides name passages by id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from retrieval import EvidenceSet, Passage

Construction: TypeAlias = Literal[
    "substitution",
    "hard-substitution",
    "deletion",
    "question-swap",
    "unrelated-swap",
    "native",
    "retrieval",
    "made-swap",
]

CONSTRUCTIONS: tuple[Construction, ...] = get_args(Construction)
"""All of them, in the order in which tables print them."""

ON_DEMAND: frozenset[Construction] = frozenset({"made-swap"})
"""Built only where they are asked for by name: material to fit on, not a test."""

HEADLINE: frozenset[Construction] = frozenset({"hard-substitution", "deletion", "question-swap", "retrieval"})
"""Those that count. Plain substitution is solved by cues and stands in tables for comparison with the paper only,
an unrelated question for the cross-check; what a dataset brings of its own is reported beside them. Made swaps are
for fitting: nobody checked that their questions have no answer."""

Screen: TypeAlias = Literal["answer", "title", "support"]
"""Why an added passage might change a label: it holds an answer string, it bears the title of a passage of the
group, or it holds most of what is support of one of the group's questions (RINSE, appendix F)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """How a side came to be."""

    how: str
    """`annotated`, `replaced-random`, `replaced-title`, `replaced-near-miss`, `removed`, `unrelated-question`,
    `near-question`, `edited-question`, `retrieved`."""
    record: str
    """Id of the record whose question it asks."""
    removed: str | None = None
    """Id of the passage that was taken out."""
    inserted: str | None = None
    """Id of the passage that came in its place."""
    rank: int | None = None
    """Rank of the inserted passage for the question, 1 = best."""
    systems: tuple[str, ...] = ()
    """The retrievers that returned this set."""
    top_score: float | None = None
    """Best cosine of a retrieved passage with the question, on one scale for all retrievers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A question and a set of passages, with the label."""

    id: str
    """Distinct within the contrast."""
    question: str
    answers: tuple[str, ...]
    """Accepted answers of the question, for screens; empty where none is known."""
    sufficient: bool
    passages: tuple[str, ...]
    """Ids, in the order in which the side presents them (shuffled once with the seed where we made it)."""
    made: Made
    support: tuple[str, ...] = ()
    """Ids of those passages that are annotated as support of this question; of an insufficient side what is left
    of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """A passage of another question that may be added to every side of the group."""

    passage: str
    """Its id."""
    flags: tuple[Screen, ...] = ()
    """Empty: nothing speaks against it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Sides that belong together: every sufficient one is paired with every insufficient one."""

    dataset: str
    split: str
    construction: Construction
    group: str
    """Distinct within dataset and construction."""
    cluster: str
    """What is resampled as one: the article of SQuAD, else the group."""
    passages: Mapping[str, Passage]
    """All passages of sides and additions by id."""
    sides: tuple[Side, ...]
    """At least one sufficient and one insufficient side, ids distinct."""
    added: tuple[Added, ...] = ()
    """Shared additions in their order: a condition of k adds the first k to every side."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What no two contrasts share."""
        return self.dataset, self.construction, self.group

    def pairs(self) -> Iterator[tuple[Side, Side]]:
        """Every sufficient side with every insufficient one, in the order of the sides."""
        for good in self.sides:
            for bad in self.sides:
                if good.sufficient and not bad.sufficient:
                    yield good, bad

    def evidence(self, side: Side, *, added: int = 0) -> EvidenceSet:
        """The side's passages, then the first `added` shared additions."""
        extra = [one.passage for one in self.added[:added]]
        return EvidenceSet.of(self.passages[key] for key in (*side.passages, *extra))
