"""`python -m benchmarks speed score`: a scorer's time, beside a language model's and a cross-encoder's."""

from __future__ import annotations

import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from retrieval import EvidenceSet
from retrieval.backbones import find_backbone
from retrieval.errors import BackboneError
from retrieval.index.encoder import DEFAULT_ENCODER
from rinse import SufficiencyScorer
from rinse.local_generator import LocalGenerator

from ..errors import SettingsError
from ..output import Report, Row
from ..progress import counted
from .cases import CASES, GROWTH, Case, Step
from .rivals import TOKENS, CrossEncoder, judge_prompt
from .texts import PASSAGE_WORDS, Writer

MakeScorer: TypeAlias = Callable[[], SufficiencyScorer]
Times: TypeAlias = dict[str, list[float]]
"""Milliseconds of every repetition, by what was timed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedOptions:
    """How often and with what.

    Raises:
        SettingsError: a number is out of range, or there is no such case.
    """

    repeat: int = 5
    """Repetitions of each case, each with another text."""
    threads: int = 2
    """Of torch, for everything that is measured."""
    cases: tuple[str, ...] = tuple(CASES)
    seed: int = 0
    """Of the texts."""

    def __post_init__(self) -> None:
        unknown = sorted(set(self.cases) - set(CASES))
        if unknown or not self.cases:
            raise SettingsError(f"Unknown case {', '.join(unknown) or '(none)'}. Known: {', '.join(CASES)}.")
        if self.repeat < 1 or self.threads < 1:
            raise SettingsError(
                f"Expected at least one repetition and one thread, got {self.repeat} and {self.threads}."
            )


def local_generator() -> LocalGenerator | None:
    """The default model, loaded; None, and a line on stderr, where its weights are not on this machine."""
    try:
        generator = LocalGenerator.named()
        generator.load()
    except BackboneError as error:
        sys.stderr.write(f"No language model to compare with, so ratio_to_generation is empty. {error}\n")
        return None
    return generator


def default_cross_encoder() -> CrossEncoder:
    """As large as the default encoder. Raises what `find_backbone` raises."""
    return CrossEncoder(find_backbone(DEFAULT_ENCODER))


def run_speed_score(
    make_scorer: MakeScorer,
    *,
    generator: LocalGenerator | None,
    cross_encoder: CrossEncoder,
    options: SpeedOptions | None = None,
) -> Report:
    """Time every case; what is compared is timed in turns, in the same process, on the same text.

    Args:
        make_scorer: Makes a scorer that remembers nothing; models that are loaded already may be shared.
        generator: The language model; None = not measured.
        cross_encoder: Scores the passages that are new to a question.
        options: See there.
    """
    options = options or SpeedOptions()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    clock = _Clock(make_scorer, generator, cross_encoder)
    times: dict[str, Times] = {name: defaultdict(list) for name in options.cases}
    with (
        _threads(options.threads),
        counted("speed score", total=options.repeat * len(options.cases)) as advance,
    ):
        clock.warm_up()
        for repetition in range(options.repeat):
            for name in options.cases:
                for what, ms in clock.measure(CASES[name], Writer(f"{options.seed}/{name}/{repetition}")):
                    times[name][what].append(ms)
                advance()
    rows = [_row(name, found) for name, found in times.items()]
    return Report(
        benchmark="speed score",
        settings=_settings(options, make_scorer(), generator) | {"load_before": load},
        seed=options.seed,
        rows=[*rows, *_growth(times)],
    )


class _Clock:
    """Times a case once: the scorer first, then its rivals on the same text."""

    def __init__(self, make: MakeScorer, generator: LocalGenerator | None, cross: CrossEncoder) -> None:
        self._make, self._generator, self._cross = make, generator, cross

    def warm_up(self) -> None:
        """Load what is loaded on first use, and let the libraries choose their kernels."""
        for _ in self.measure(CASES["first5"], Writer("warm-up")):
            pass

    def measure(self, case: Case, writer: Writer) -> Iterator[tuple[str, float]]:
        """What was timed, and its milliseconds."""
        scenario = case.make(writer)
        scorer = self._fresh()
        for step in scenario.before:
            scorer.score(step.question, step.evidence)
        yield "score", _ms(scorer, scenario.timed)
        if case.remembers:
            yield "scratch", sum(_ms(self._fresh(), [step]) for step in scenario.timed)
        steps = [step for step in scenario.timed if step.new]
        if steps:
            begun = time.perf_counter()
            for step in steps:
                self._cross.scores(step.question, step.new)
            yield "cross_encoder", (time.perf_counter() - begun) * 1000
        if self._generator is not None and case.generated:
            begun = time.perf_counter()
            for step in scenario.timed:
                prompt = judge_prompt(step.question, step.evidence.passages)
                self._generator.generate(prompt, max_tokens=TOKENS, exact=True)
            yield "generation", (time.perf_counter() - begun) * 1000

    def _fresh(self) -> SufficiencyScorer:
        """A scorer that has loaded what it needs and knows none of the text that is timed."""
        scorer = self._make()
        other = Writer("other")
        scorer.score(other.question(), EvidenceSet.of(other.passages(1)))
        return scorer


def _ms(scorer: SufficiencyScorer, steps: Sequence[Step]) -> float:
    begun = time.perf_counter()
    for step in steps:
        scorer.score(step.question, step.evidence)
    return (time.perf_counter() - begun) * 1000


@contextmanager
def _threads(count: int) -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _row(name: str, times: Times) -> Row:
    score = times["score"]
    row: Row = {
        "case": name,
        "passages": CASES[name].passages,
        "n": len(score),
        "ms_p50": float(np.quantile(score, 0.5)),
        "ms_p95": float(np.quantile(score, 0.95)),
    }
    for rival in ("generation", "cross_encoder", "scratch"):
        other = float(np.median(times[rival])) if times[rival] else None
        row[f"{rival}_ms_p50"] = other
        row[f"ratio_to_{rival}"] = float(np.median(score)) / other if other else None
    return row


def _growth(times: dict[str, Times]) -> list[Row]:
    """Time by passage, and the slope of log time over log passages: 1 = in proportion to their number."""
    cases = {CASES[name].passages: name for name in ("first5", "passages20", "passages50", "passages120")}
    found = {n: float(np.median(times[cases[n]]["score"])) for n in GROWTH if cases[n] in times}
    if len(found) < 2:
        return []
    slope = np.polyfit(np.log(list(found)), np.log(list(found.values())), 1)[0]
    row: Row = {"case": "growth", "loglog_slope": float(slope)}
    return [row | {f"ms_per_passage@{n}": ms / n for n, ms in found.items()}]


def _settings(
    options: SpeedOptions, scorer: SufficiencyScorer, generator: LocalGenerator | None
) -> dict[str, Any]:
    return {
        "repeat": options.repeat,
        "threads": options.threads,
        "cases": list(options.cases),
        "passage_words": PASSAGE_WORDS,
        "scorer": scorer.fingerprint,
        "generator": generator and f"{generator.name} ({generator.fingerprint[:12]}), float32, KV cache",
        "generated_tokens": TOKENS,
        "cross_encoder": f"a BERT of the size of {DEFAULT_ENCODER}, one output, pairs new to the question",
    }
