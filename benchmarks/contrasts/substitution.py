"""Substitution: a needed passage is replaced, so that the number of passages says nothing.

`substitution` is the paper's rule (RINSE, appendix B): distractors at random and by a word of the title. `hard`
takes the near miss that a real retriever returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from retrieval import Passage

from ..datasets.records import Record, RecordPassage
from .model import Contrast, Made, Side
from .near import answer_strings, holds_answer, near_any
from .pool import Pool
from .sides import Dropped, contrast, generator, own_passages, record_side, removable, replaced

FEWEST_SUPPORT = 2
FEWEST_PASSAGES = 4
"""The paper's: with fewer a replacement leaves no set to speak of."""
NEAR_MISSES = 2
"""Hard sides of one record, each with another support passage replaced: a chain of two hops has two."""

Ranked = Callable[[str], Iterable[Passage]]
"""Passages for a question, best first, from a retriever."""


def eligible(record: Record) -> bool:
    """Whether the paper's rule applies: at least two supporting passages, four in all."""
    return record.answerable and len(record.support) >= FEWEST_SUPPORT and len(record.passages) >= FEWEST_PASSAGES


def substitution(record: Record, pool: Pool, *, seed: int, alone: bool = True) -> Contrast | Dropped:
    """One support passage replaced twice: by a random one, and by one with a similar title.

    Neither bears a title of the record's support, nor is it one of the record's passages or nearly one.
    """
    draw = generator(seed, "substitution", record.dataset, record.id)
    support = removable(record)
    if not support:
        return Dropped(dataset=record.dataset, group=record.group, reason="support_twice")
    removed = draw.choice(support).passage
    own = own_passages(record)
    gold_titles = {one.passage.title for one in record.support}

    # ids too: a text without a word overlaps with nothing, not even with itself
    taken = {one.id for one in own}

    def first(found: Iterator[Passage]) -> Passage | None:
        fits = (
            passage
            for passage in found
            if passage.title not in gold_titles
            and passage.id not in taken
            and not near_any(passage.text, (one.text for one in own))
        )
        return next(fits, None)

    at_random = first(pool.draws(draw))
    if at_random is None:
        return Dropped(dataset=record.dataset, group=record.group, reason="no_random_distractor")
    taken.add(at_random.id)
    by_title = first(pool.draws_like(removed.title, draw))
    if by_title is None:
        return Dropped(dataset=record.dataset, group=record.group, reason="no_title_distractor")
    sides = [_whole(record, seed)]
    for how, inserted in (("replaced-random", at_random), ("replaced-title", by_title)):
        made = Made(how=how, record=record.id, removed=removed.id, inserted=inserted.id)
        sides.append(_broken(record, removed, inserted, made=made, seed=seed))
    return contrast(record, "substitution", sides, [*own, at_random, by_title], alone=alone)


def hard(record: Record, ranked: Ranked, *, seed: int, alone: bool) -> Contrast | Dropped:
    """A support passage replaced by the best-ranked passage for the question that does not help.

    It is none of the record's passages nor nearly one, and holds neither an answer string nor what the annotators
    took from the passage that it replaces (the rule by which MuSiQue's authors choose contexts).
    """
    own = own_passages(record)
    candidates = list(enumerate(ranked(record.question), start=1))
    support = removable(record)
    generator(seed, "hard", record.dataset, record.id).shuffle(support)
    sides, extra = [_whole(record, seed)], []
    for gone in support[:NEAR_MISSES]:
        found = _near_miss(record, gone, candidates)
        if found is not None:
            rank, inserted = found
            made = Made(
                how="replaced-near-miss",
                record=record.id,
                removed=gone.passage.id,
                inserted=inserted.id,
                rank=rank,
            )
            sides.append(_broken(record, gone.passage, inserted, made=made, seed=seed))
            extra.append(inserted)
    if not extra:
        reason = "no_near_miss" if support else "support_twice"
        return Dropped(dataset=record.dataset, group=record.group, reason=reason)
    return contrast(record, "hard-substitution", sides, [*own, *extra], alone=alone)


def _near_miss(
    record: Record, gone: RecordPassage, candidates: Iterable[tuple[int, Passage]]
) -> tuple[int, Passage] | None:
    strings = answer_strings((*record.answers, *gone.hop_answers))
    own = own_passages(record)
    taken, texts = {passage.id for passage in own}, [passage.text for passage in own]
    fits = (
        (rank, passage)
        for rank, passage in candidates
        if passage.id not in taken and not holds_answer(passage, strings) and not near_any(passage.text, texts)
    )
    return next(fits, None)


def _whole(record: Record, seed: int) -> Side:
    made = Made(how="annotated", record=record.id)
    return record_side(record, own_passages(record), name="whole", sufficient=True, made=made, seed=seed)


def _broken(record: Record, removed: Passage, inserted: Passage, *, made: Made, seed: int) -> Side:
    passages = replaced(own_passages(record), removed.id, inserted)
    name = f"{made.how}:{removed.id[:12]}"
    return record_side(record, passages, name=name, sufficient=False, made=made, seed=seed)
