"""Made question swaps: of datasets whose questions are all answerable, for fitting and never for reporting.

The passage stays, the question changes: to one about a passage like it, or to one about another name or number.
Nobody checked these questions by hand; what is measured on them is no headline.

A third kind, the answer's sentence replaced in the passage, is not made here: the passages of its sides differ, so
it would not be a swap, and `sufficit fit` makes such passages itself for the span reader (`rinse.fit.negatives`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from retrieval import Passage
from retrieval.index.encoder import Encoder
from retrieval.text import terms
from rinse.fit.answers import holds, occurrences

from ..datasets.records import Record
from ..overlap import question_digest
from ..progress import counted
from .edits import Asked, Names, edits
from .model import Contrast, Made, Side
from .near import near_any
from .sides import Dropped, contrast, generator, own_passages, record_side

PER_PASSAGE = 6
"""Questions of one passage: some datasets ask dozens about one sentence."""
CANDIDATES = 6
"""Near questions among which two are drawn: the nearest alone are the same few for many passages."""
DEPTH = 120
"""Nearest questions that are looked at for them."""
SWAPS = 2
"""Insufficient sides of each kind."""
RARE = 0.02
"""Share of the dataset's passages up to which a term names something, rather than what all of them are about."""
_BATCH = 512
"""Questions between two signs of progress."""


def eligible(record: Record) -> bool:
    """Whether its only passage holds an answer word for word; a yes or no is found in many without meaning."""
    return record.answerable and len(record.passages) == 1 and bool(_told(record))


def made_swaps(
    records: Iterable[Record], encoder: Encoder, *, seed: int, per_passage: int = PER_PASSAGE
) -> list[Contrast | Dropped]:
    """Each eligible question with at most two near and two edited ones over the same passage.

    A near question is drawn among the six most similar ones (cosine) of the dataset that belong to another
    passage, not nearly this one, have no answer that occurs in this passage, and name something that this passage
    lacks: "Who scored first?" can be asked of any game. An edited one has a name or number replaced, see
    `edits.edits`.

    A question that several records ask is kept once, by dataset and id. Deterministic; independent of the records'
    order. Time grows with the square of a dataset's questions: seconds for 5,000. Progress goes to stderr.

    Args:
        records: Those that are `eligible`.
        encoder: Turns questions into unit vectors.
        seed: Of every draw.
        per_passage: Questions kept of one passage, drawn by the seed.
    """
    wanted, made = _chosen(records, seed, per_passage)
    by_dataset: dict[str, list[Record]] = defaultdict(list)
    for record in wanted:
        by_dataset[record.dataset].append(record)
    shared = Counter((record.dataset, record.group) for record in wanted)
    vectors = _encoded([record.question for record in wanted], encoder)
    begin = 0
    with counted("Swapping questions", total=len(wanted)) as advance:
        for same in by_dataset.values():
            swaps = _Dataset(same, vectors[begin : begin + len(same)], seed)
            begin += len(same)
            for place, record in enumerate(same):
                made.append(swaps.contrast(place, alone=shared[record.dataset, record.group] == 1))
                advance()
    return made


def _chosen(
    records: Iterable[Record], seed: int, per_passage: int
) -> tuple[list[Record], list[Contrast | Dropped]]:
    """Each question once and not too many of one passage, by dataset and id; and the others, with the reason."""
    dropped: list[Contrast | Dropped] = []
    asked: set[bytes] = set()
    by_passage: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda one: (one.dataset, one.id)):
        digest = question_digest(record.question)
        if digest in asked:
            dropped.append(_dropped(record, "question_twice"))
        else:
            asked.add(digest)
            by_passage[record.dataset, record.passages[0].passage.id].append(record)
    kept: list[Record] = []
    for names, same in by_passage.items():
        generator(seed, "made-swap", *names).shuffle(same)
        kept += same[:per_passage]
        dropped += [_dropped(record, "passage_full") for record in same[per_passage:]]
    return sorted(kept, key=lambda one: (one.dataset, one.id)), dropped


def _encoded(questions: Sequence[str], encoder: Encoder) -> NDArray[np.float32]:
    """Shape (questions, dims)."""
    vectors = np.zeros((len(questions), encoder.dims), dtype=np.float32)
    with counted("Encoding questions", total=len(questions)) as advance:
        for begin in range(0, len(questions), _BATCH):
            batch = questions[begin : begin + _BATCH]
            vectors[begin : begin + len(batch)] = encoder.encode(batch)
            for _ in batch:
                advance()
    return vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A question with what is asked of it more than once."""

    record: Record
    digest: bytes
    anchors: frozenset[str]
    """Rare terms that question and passage share."""
    terms: frozenset[str]
    """Of the passage and its heading."""

    @property
    def passage(self) -> Passage:
        return self.record.passages[0].passage


class _Dataset:
    """The questions of one dataset, each of which may stand against another one's passage."""

    def __init__(self, records: Sequence[Record], vectors: NDArray[np.float32], seed: int) -> None:
        self._vectors, self._seed = vectors, seed
        passages = {one.id: one for record in records for one in own_passages(record)}
        held = {key: frozenset(terms(passage.full_text)) for key, passage in passages.items()}
        spread = Counter(term for found in held.values() for term in found)
        rare = frozenset(term for term, count in spread.items() if count <= max(1, RARE * len(held)))
        self._names = Names(passage.text for passage in passages.values())
        self._entries = [_entry(record, held[record.passages[0].passage.id], rare) for record in records]

    def contrast(self, place: int, *, alone: bool) -> Contrast | Dropped:
        """The question with all that could be made of it."""
        record, passages = self._entries[place].record, own_passages(self._entries[place].record)
        draw = generator(self._seed, "made-swap", record.dataset, record.id)
        near = list(islice(self._near(place), CANDIDATES))
        sides = [
            record_side(
                other.record,
                passages,
                name=f"near-question:{number}",
                sufficient=False,
                made=Made(how="near-question", record=other.record.id),
            )
            for number, other in enumerate(draw.sample(near, min(SWAPS, len(near))))
        ]
        asked = Asked(question=record.question, answers=_told(record), text=passages[0].text)
        changed = edits(asked, self._names, [one.passage.text for one in near], count=SWAPS, draw=draw)
        sides += [_edited(record, question, number) for number, question in enumerate(changed)]
        if not sides:
            return _dropped(record, "no_swap")
        made = Made(how="annotated", record=record.id)
        whole = record_side(record, passages, name="annotated", sufficient=True, made=made)
        return contrast(record, "made-swap", [whole, *sides], passages, alone=alone)

    def _near(self, place: int) -> Iterator[_Entry]:
        """Other questions that this passage does not answer, the most similar first, no two of the same words."""
        one = self._entries[place]
        # rounded: the last digits depend on the libraries' threads, and must not decide; ties by id
        cosines = np.round(self._vectors @ self._vectors[place], 4)
        for other in map(self._entries.__getitem__, np.argsort(-cosines, kind="stable")[:DEPTH].tolist()):
            if (
                other.digest != one.digest
                and other.passage.id != one.passage.id
                and other.anchors - one.terms
                and not holds(one.passage.full_text, other.record.answers)
                and not near_any(other.passage.text, (one.passage.text,))
            ):
                yield other


def _entry(record: Record, held: frozenset[str], rare: frozenset[str]) -> _Entry:
    anchors = held & rare & frozenset(terms(record.question))
    return _Entry(record=record, digest=question_digest(record.question), anchors=anchors, terms=held)


def _edited(record: Record, question: str, number: int) -> Side:
    return Side(
        id=f"edited-question:{number}",
        question=question,
        answers=(),
        sufficient=False,
        passages=tuple(passage.id for passage in own_passages(record)),
        made=Made(how="edited-question", record=record.id),
    )


def _told(record: Record) -> list[str]:
    """The answers that the passage holds as whole words."""
    text = record.passages[0].passage.text
    return [one for one in record.answers if one.lower() not in {"yes", "no"} and occurrences(text, (one,))]


def _dropped(record: Record, reason: str) -> Dropped:
    return Dropped(dataset=record.dataset, group=record.group, reason=reason)
