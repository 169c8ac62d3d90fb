"""What the span reader is trained on: passages with the answer, and the same passages made to lack it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from retrieval import Passage
from retrieval.text import sentences, terms

from ..readers.states import plain_text
from .answers import holds, occurrences
from .groups import TrainingGroup, TrainingSide


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanExample:
    """A question, a passage, and where the answer stands in it."""

    question: str
    passage: Passage
    """Its text is plain already."""
    start: int
    """First character of the answer; of an example without one, where the answer was taken out."""
    end: int | None
    """One past the answer's last character; None = the passage does not answer."""


def span_examples(groups: Iterable[TrainingGroup]) -> list[SpanExample]:
    """A positive and a made negative for every question with a known answer (RINSE, appendix E).

    The positive is the first passage of a sufficient side that holds an answer, known support first. Its negative
    has every sentence with an answer replaced by a window of another passage of the group, as many words long,
    that shares the most terms with the question; where no passage is long enough, the negative is a passage of the
    group without an answer. A negative in which an answer survives is dropped with its positive: the reader then
    sees as many answers as nulls. Groups without answers give nothing.
    """
    made: dict[tuple[str, str], tuple[SpanExample, SpanExample]] = {}
    for group in groups:
        everything = list({passage.id: passage for side in group.sides for passage in side.passages}.values())
        for side in group.sides:
            if side.sufficient and side.answers:
                for pair in _pair(side, everything):
                    made.setdefault((side.question, pair[0].passage.id), pair)
    return [example for pair in made.values() for example in pair]


def _pair(side: TrainingSide, donors: Sequence[Passage]) -> Iterator[tuple[SpanExample, SpanExample]]:
    """The pair of one side, if there is one."""
    ranked = sorted(side.passages, key=lambda passage: passage.id not in side.support)  # stable
    for passage in ranked:
        text = plain_text(passage.text)
        found = occurrences(text, side.answers)
        if not found:
            continue
        start, end = found[0]
        positive = SpanExample(question=side.question, passage=_with(passage, text), start=start, end=end)
        negative = _negative(side, passage, text, found, donors)
        if negative is not None:
            yield positive, negative
        return


def _negative(
    side: TrainingSide,
    passage: Passage,
    text: str,
    found: Sequence[tuple[int, int]],
    donors: Sequence[Passage],
) -> SpanExample | None:
    clean = [donor for donor in donors if donor.id != passage.id and not holds(donor.full_text, side.answers)]
    asked = set(terms(side.question))
    replaced = _replaced(asked, text, found, [plain_text(donor.text) for donor in clean])
    if replaced is not None:
        candidate, at = _with(passage, replaced[0]), replaced[1]
    elif clean:
        donor = max(clean, key=lambda one: (_shared(asked, one.text), one.id))
        candidate, at = _with(donor, plain_text(donor.text)), 0
    else:
        return None
    if holds(candidate.full_text, side.answers):  # the reader sees the heading too
        return None
    return SpanExample(question=side.question, passage=candidate, start=at, end=None)


def _replaced(
    asked: set[str], text: str, found: Sequence[tuple[int, int]], donors: Sequence[str]
) -> tuple[str, int] | None:
    """The text with each sentence that holds an answer replaced, and where the first replacement begins."""
    gone = [(left, right) for left, right in sentences(text) if any(a < right and b > left for a, b in found)]
    pieces, at, used = [], 0, set[str]()
    for left, right in gone:
        window = _window(asked, len(text[left:right].split()), donors, used)
        if window is None:
            return None
        used.add(window)
        pieces += [text[at:left], window]
        at = right
    return ("".join([*pieces, text[at:]]), gone[0][0]) if gone else None


def _window(asked: set[str], words: int, donors: Sequence[str], used: set[str]) -> str | None:
    """The run of so many words that shares the most terms with the question; ties by its text."""
    step = max(words // 2, 1)
    runs = {
        " ".join(split[begin : begin + words])
        for split in (donor.split() for donor in donors)
        for begin in range(0, len(split) - words + 1, step)
    } - used
    return max(runs, key=lambda run: (_shared(asked, run), run), default=None)


def _shared(asked: set[str], text: str) -> int:
    return len(asked.intersection(terms(text)))


def _with(passage: Passage, text: str) -> Passage:
    return Passage(text=text, title=passage.title, section=passage.section, source_id=passage.source_id)
