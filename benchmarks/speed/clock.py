"""Times one case once: the scorer, then what else could be done with the same text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

from retrieval import EvidenceSet
from rinse import SufficiencyScorer
from rinse.local_generator import LocalGenerator

from .cases import Case, Step
from .rivals import TOKENS, CrossEncoder, judge_prompt
from .texts import Writer

MakeScorer: TypeAlias = Callable[[], SufficiencyScorer]


class Clock:
    """Measures milliseconds of wall time.

    Args:
        make: Makes a scorer that remembers nothing.
        cross: Scores the passages that are new to a question.
    """

    def __init__(self, make: MakeScorer, cross: CrossEncoder) -> None:
        self._make, self._cross = make, cross

    def score(self, case: Case, writer: Writer) -> float:
        """The scorer on what is timed, after what comes before."""
        scenario = case.make(writer)
        scorer = self._fresh()
        _score(scorer, scenario.before)
        return _at_once(scorer, scenario.timed) if case.at_once else _score(scorer, scenario.timed)

    def rivals(self, case: Case, writer: Writer) -> Iterator[tuple[str, float]]:
        """What is compared and its time; the writer must write what it wrote for `score`."""
        scenario = case.make(writer)
        if case.remembers:
            yield "scratch", sum(_score(self._fresh(), [step]) for step in scenario.timed)
        if case.at_once:
            yield "one_by_one", _score(self._fresh(), scenario.timed)
        steps = [step for step in scenario.timed if step.new]
        if steps:
            begun = time.perf_counter()
            for step in steps:
                self._cross.scores(step.question, step.new)
            yield "cross_encoder", _since(begun)

    def _fresh(self) -> SufficiencyScorer:
        """A scorer that has loaded what it needs and knows none of the text that is timed."""
        scorer = self._make()
        other = Writer("other")
        scorer.score(other.question(), EvidenceSet.of(other.passages(1)))
        return scorer


def generation_ms(generator: LocalGenerator, writer: Writer, passages: int) -> float:
    """The language model on a question and so many passages."""
    prompt = judge_prompt(writer.question(), writer.passages(passages))
    begun = time.perf_counter()
    generator.generate(prompt, max_tokens=TOKENS, exact=True)
    return _since(begun)


def _score(scorer: SufficiencyScorer, steps: Sequence[Step]) -> float:
    begun = time.perf_counter()
    for step in steps:
        scorer.score(step.question, step.evidence)
    return _since(begun)


def _at_once(scorer: SufficiencyScorer, steps: Sequence[Step]) -> float:
    """Each step in a thread of its own."""
    with ThreadPoolExecutor(len(steps)) as pool:
        begun = time.perf_counter()
        for done in [pool.submit(scorer.score, step.question, step.evidence) for step in steps]:
            done.result()
        return _since(begun)


def _since(begun: float) -> float:
    return (time.perf_counter() - begun) * 1000
