"""Unsupported twins: the same question over the same corpus, without the annotated support.

Nothing is taken out of the index: what is masked is left out of every answer at query time (`Request.exclude`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from retrieval import Passage, Request, Retrieved, Retriever

from ..contrasts.near import NEAR, grams
from ..datasets import Gold, GoldPassage, Question


@dataclass(frozen=True, slots=True)
class MaskedTier:
    """A tier that behaves as if some passages were not there. See `retrieval.Retriever`."""

    inner: Retriever
    masked: frozenset[str]
    """Ids of passages."""

    async def retrieve(self, request: Request) -> Retrieved:
        """What the tier finds apart from the masked passages, `request.k` hits where it has so many.

        Raises:
            TierError: as the inner tier.
        """
        return await self.inner.retrieve(replace(request, exclude=request.exclude | self.masked))


def find_masks(
    questions: Sequence[Question], passages: Iterable[Passage]
) -> dict[tuple[str, str], frozenset[str]]:
    """What must be masked for each question to lose its support: gold, its near copies, its articles.

    A near copy shares half or more of the 5-grams of the shorter text with a gold passage. Of an article every
    passage goes, since its other parts often repeat the fact; an article is known by its source and by its title.
    Texts that state the fact in other words remain: the label of a twin is "annotated support is not complete",
    never "not answerable".

    Args:
        questions: Distinct by dataset and id.
        passages: Of the whole corpus; read once. Linear in its words, see `_NearCopies` for the memory.

    Returns:
        Ids by `(dataset, question id)`, ids of gold that the corpus does not hold included.
    """
    gold = {one.passage_id for question in questions for one in question.support if isinstance(one, GoldPassage)}
    named = {_folded(name) for question in questions for one in question.support if (name := _article(one))}
    kept = list(passages)
    near = _NearCopies(passage for passage in kept if passage.id in gold)
    articles: dict[str, set[str]] = defaultdict(set)
    places: dict[str, set[str]] = {}
    copies: dict[str, set[str]] = defaultdict(set)
    for passage in kept:
        names = {_folded(place.title) for place in passage.provenance} & named
        keys = {f"title {name}" for name in names} | {f"source {place.source_id}" for place in passage.provenance}
        places[passage.id] = keys
        for key in keys:
            articles[key].add(passage.id)
        for other in near.of(passage):
            copies[other].add(passage.id)
    masks = {}
    for question in questions:
        masked: set[str] = set()
        for one in question.support:
            keys = {f"title {_folded(name)}" for name in (_article(one),) if name}
            if isinstance(one, GoldPassage):
                masked |= {one.passage_id, *copies[one.passage_id]}
                keys |= places.get(one.passage_id, set())
            masked |= {key for article in keys for key in articles[article]}
        masks[question.dataset, question.id] = frozenset(masked)
    return masks


class _NearCopies:
    """Finds near copies of some passages: for each 5-gram of theirs it holds the ids that have it."""

    def __init__(self, wanted: Iterable[Passage]) -> None:
        self._holders: dict[tuple[str, ...], list[str]] = defaultdict(list)
        self._sizes: dict[str, int] = {}
        for passage in wanted:
            own = grams(passage.text)
            self._sizes[passage.id] = len(own)
            for gram in own:
                self._holders[gram].append(passage.id)

    def of(self, passage: Passage) -> list[str]:
        """Ids of the wanted passages that this one is a near copy of, itself included."""
        own = grams(passage.text)
        shared = Counter(holder for gram in own for holder in self._holders.get(gram, ()))
        return [key for key, count in shared.items() if count >= NEAR * min(len(own), self._sizes[key])]


def _article(gold: Gold) -> str:
    return gold.title if isinstance(gold, GoldPassage) else gold.article


def _folded(title: str) -> str:
    return " ".join(title.split()).casefold()
