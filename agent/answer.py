"""Answers that are spans of the evidence, with the sentences that support them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from retrieval import EvidenceSet, Passage, Ranking
from retrieval.compute import in_worker
from retrieval.index.encoder import Encoder

from .episodes import Probe
from .errors import AnswerError
from .extract.asked import Asked, what_is_asked
from .extract.candidates import Candidate, find_candidates
from .extract.compare import compare
from .extract.reading import Finding, Reading, Statement, read
from .extract.worth import Question, signs, worth
from .seams import Answer, Citation

MAX_PASSAGES = 30
"""Passages that are read, the best ones of the ranking first."""
MAX_CITATIONS = 4


class ExtractiveAnswerer:
    """Answers with words of the evidence: a name, date or number, one of two options, yes or no, else a sentence.

    An `Answerer` without a language model. Made for English; in other languages it answers with the sentence that
    fits the question best. Deterministic; reads and encodes in a worker thread.

    Args:
        encoder: Compares sentences with the question where no shorter answer is found.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    async def answer(self, question: str, evidence: EvidenceSet, ranking: Ranking) -> Answer:
        """Answer `question`. See `Answerer`.

        Raises:
            AnswerError: there is no evidence.
        """
        return await in_worker(self._answer, question, evidence, ranking)

    def probe(self, question: str, evidence: EvidenceSet, ranking: Ranking) -> Probe:
        """The text that `answer` would give, and by how much it leads. Blocking; costs what an answer costs.

        The margin compares spans by their worth, a weighted sum that means something between spans of one question
        only. An answer that is not chosen by it has none: yes or no, one of two things, a whole sentence.

        Raises:
            AnswerError: there is no evidence.
        """
        found, _ = self._find(question, evidence, ranking)
        return Probe(text=found.text, margin=found.margin)

    def _answer(self, question: str, evidence: EvidenceSet, ranking: Ranking) -> Answer:
        found, reading = self._find(question, evidence, ranking)
        return Answer(text=found.text, citations=_citations(found, reading))

    def _find(self, question: str, evidence: EvidenceSet, ranking: Ranking) -> tuple[Finding, Reading]:
        passages = in_order(evidence, ranking)[:MAX_PASSAGES]
        reading = read(question, passages)
        if not reading.statements:
            raise AnswerError("There is no evidence to answer from. Search first, or abstain.")
        asked = what_is_asked(question)
        found = compare(question, asked, reading) if asked.kind in {"choice", "yes_no"} else None
        found = found or _best_span(question, asked, reading) or self._best_sentence(question, reading)
        return found, reading

    def _best_sentence(self, question: str, reading: Reading) -> Finding:
        """The sentence, its passage's heading in front, that is most like the question and covers most of it."""
        vectors = self._encoder.encode([question, *map(_with_heading, reading.statements)])
        fit = vectors[1:] @ vectors[0] + np.array([statement.coverage for statement in reading.statements])
        best = reading.statements[int(np.argmax(fit))]
        return Finding(text=best.text, statements=(best,))


def in_order(evidence: EvidenceSet, ranking: Ranking) -> list[Passage]:
    """All passages: those that the ranking knows in its order, then the others as they came."""
    ranked = ranking.top(evidence, len(ranking.ids))
    known = {passage.id for passage in ranked}
    return [*ranked, *(passage for passage in evidence if passage.id not in known)]


def _with_heading(statement: Statement) -> str:
    heading = statement.passage.heading
    return f"{heading}. {statement.text}" if heading else statement.text


def _best_span(question: str, asked: Asked, reading: Reading) -> Finding | None:
    """The span of the asked kind with the best signs, of equal ones the first; None if there is no such span."""
    against = Question.of(question, asked)
    spans: list[tuple[float, Candidate, Statement]] = []
    most: dict[str, float] = {}  # what the best span of each key is worth
    for statement in reading.statements:
        for candidate in _candidates(statement, asked):
            value = worth(signs(candidate, statement, reading, against))
            spans.append((value, candidate, statement))
            most[candidate.key] = max(value, most.get(candidate.key, value))
    if not spans:
        return None
    value, best, statement = max(spans, key=lambda span: span[0])
    others = [other for key, other in most.items() if key != best.key]
    margin = value - max(others) if others else None
    return Finding(text=best.text, statements=(statement,), margin=margin)


def _candidates(statement: Statement, asked: Asked) -> Iterable[Candidate]:
    """Spans of the sentence and, where a name is asked for, what its passage is about."""
    yield from (candidate for candidate in find_candidates(statement.text, asked) if candidate.key)
    if asked.kind not in {"date", "number"} and statement.title and statement.topic:
        yield Candidate(start=0, end=0, text=statement.title, key=statement.topic)


def _citations(found: Finding, reading: Reading) -> tuple[Citation, ...]:
    """The sentences of the answer, then those of other passages that bridge from the question to them."""
    partners = (reading.statements[s.partner] for s in found.statements if s.partner is not None)
    cited = (*found.statements, *partners)
    distinct = dict.fromkeys((s.passage.id, s.start, s.end, s.text) for s in cited)
    return tuple(
        Citation(passage_id=key, start=start, end=end, quote=text)
        for key, start, end, text in list(distinct)[:MAX_CITATIONS]
    )
