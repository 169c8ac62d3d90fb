"""The evidence of one search: a set of passages that only grows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .passage import Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSet:
    """The deduplicated, append-only union of the passages found so far.

    A value: `add` returns another set. Order is order of arrival and carries no meaning; the order for a
    reader with room for k is a `Ranking`.
    """

    passages: tuple[Passage, ...] = ()
    """Distinct by `Passage.id`, in order of arrival."""
    new_ids: tuple[str, ...] = ()
    """Ids that the latest `add` brought, in order of arrival."""

    @classmethod
    def of(cls, passages: Iterable[Passage]) -> EvidenceSet:
        """The set of these passages; all of them are new."""
        return cls().add(passages)

    def add(self, passages: Iterable[Passage]) -> EvidenceSet:
        """The union with `passages`. A text known already gains the new source, and is not new.

        Blank texts are no evidence and are left out. Cost: linear in the size of both.
        """
        known = {passage.id: passage for passage in self.passages}
        before = set(known)
        for passage in passages:
            if not passage.text.strip():
                continue
            seen = known.get(passage.id)
            known[passage.id] = passage if seen is None else seen.merged_with(passage)
        new = tuple(key for key in known if key not in before)
        return EvidenceSet(passages=tuple(known.values()), new_ids=new)

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of all passages, in order of arrival."""
        return tuple(passage.id for passage in self.passages)

    @property
    def new(self) -> tuple[Passage, ...]:
        """The passages that the latest `add` brought."""
        fresh = set(self.new_ids)
        return tuple(passage for passage in self.passages if passage.id in fresh)

    def __len__(self) -> int:
        """The number of distinct passages, |E| of the paper."""
        return len(self.passages)

    def __iter__(self) -> Iterator[Passage]:
        return iter(self.passages)

    def __contains__(self, key: object) -> bool:
        return any(passage.id == key for passage in self.passages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """An order of passages for a reader with room for k, separate from the set itself."""

    ids: tuple[str, ...] = ()
    """Passage ids, best first, each once."""
    scores: tuple[float, ...] = ()
    """One score an id, not increasing; comparable inside one ranking only."""

    def top(self, evidence: EvidenceSet, k: int) -> tuple[Passage, ...]:
        """The best `k` passages of `evidence`, best first."""
        by_id = {passage.id: passage for passage in evidence}
        return tuple(by_id[key] for key in self.ids if key in by_id)[: max(k, 0)]
