"""`python -m benchmarks speed score`: a scorer's time, beside a language model's and a cross-encoder's."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from retrieval.backbones import find_backbone
from retrieval.errors import BackboneError
from retrieval.index.encoder import DEFAULT_ENCODER
from rinse import SufficiencyScorer
from rinse.local_generator import LocalGenerator

from ..errors import SettingsError
from ..output import Report, Row
from ..progress import counted
from .cases import CASES, GROWTH
from .clock import Clock, MakeScorer, generation_ms
from .rivals import TOKENS, CrossEncoder
from .texts import PASSAGE_WORDS, Writer

LARGE = 15
"""With so many passages a rival takes several seconds to half a minute."""
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
    rivals: int = 2
    """Of these, in how many the rivals are measured too; once where a set has `LARGE` passages or more."""
    threads: int = 2
    """Of torch, for everything that is measured."""
    cases: tuple[str, ...] = tuple(CASES)
    seed: int = 0
    """Of the texts."""

    def __post_init__(self) -> None:
        unknown = sorted(set(self.cases) - set(CASES))
        if unknown or not self.cases:
            raise SettingsError(f"Unknown case {', '.join(unknown) or '(none)'}. Known: {', '.join(CASES)}.")
        if min(self.repeat, self.rivals, self.threads) < 1:
            raise SettingsError(
                f"Expected at least one repetition, one of the rivals and one thread, got {self.repeat}, "
                f"{self.rivals} and {self.threads}."
            )

    def rival_repeat(self, passages: int) -> int:
        """How often the rivals are measured on a set of so many passages."""
        return 1 if passages >= LARGE else min(self.rivals, self.repeat)


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
    """Time every case; what is compared is timed in turns, in the same process.

    The cross-encoder and the scorer without memory get the same text. The language model is timed once for each
    number of passages, on text of its own: a case's generation is the sum over its sets.

    Args:
        make_scorer: Makes a scorer that remembers nothing; models that are loaded already may be shared.
        generator: The language model; None = not measured.
        cross_encoder: Scores the passages that are new to a question.
        options: See there.
    """
    options = options or SpeedOptions()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    clock = Clock(make_scorer, cross_encoder)
    sizes = _generated_sizes(options.cases) if generator else ()
    times: dict[str, Times] = {name: defaultdict(list) for name in options.cases}
    generated: dict[int, list[float]] = {size: [] for size in sizes}
    total = options.repeat * len(options.cases) + sum(map(options.rival_repeat, sizes))
    with _threads(options.threads), counted("speed score", total=total) as advance:
        _warm_up(clock, generator)
        for repetition in range(options.repeat):
            for name in options.cases:
                _measure(clock, name, repetition, options, times[name])
                advance()
            for size in sizes:
                if generator and repetition < options.rival_repeat(size):
                    writer = Writer(f"{options.seed}/generation/{size}/{repetition}")
                    generated[size].append(generation_ms(generator, writer, size))
                    advance()
    for name in options.cases:
        if generator and CASES[name].generated:
            times[name]["generation"] = [sum(float(np.median(generated[size])) for size in _sizes(name))]
    rows = [_row(name, found) for name, found in times.items()]
    return Report(
        benchmark="speed score",
        settings=_settings(options, make_scorer(), generator) | {"load_before": load},
        seed=options.seed,
        rows=[*rows, *_growth(times)],
    )


def _warm_up(clock: Clock, generator: LocalGenerator | None) -> None:
    """Load what is loaded on first use, and let the libraries choose their kernels."""
    clock.score(CASES["first5"], Writer("warm-up"))
    for _ in clock.rivals(CASES["first5"], Writer("warm-up")):
        pass
    if generator:
        generation_ms(generator, Writer("warm-up"), 1)


def _measure(clock: Clock, name: str, repetition: int, options: SpeedOptions, times: Times) -> None:
    """One repetition of a case: the scorer, then its rivals on the same text."""
    case, seed = CASES[name], f"{options.seed}/{name}/{repetition}"
    times["score"].append(clock.score(case, Writer(seed)))
    if repetition < options.rival_repeat(max(_sizes(name))):
        for what, ms in clock.rivals(case, Writer(seed)):
            times[what].append(ms)


def _sizes(name: str) -> list[int]:
    """Passages of each set that the case times."""
    return [len(step.evidence) for step in CASES[name].make(Writer("sizes")).timed]


def _generated_sizes(names: Sequence[str]) -> tuple[int, ...]:
    """How many passages the language model must be timed with, for all cases together."""
    return tuple(sorted({size for name in names if CASES[name].generated for size in _sizes(name)}))


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
    for rival in ("generation", "cross_encoder", "scratch", "one_by_one"):
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
        "rivals_repeat": f"{options.rival_repeat(1)}, once with {LARGE} passages or more",
        "threads": options.threads,
        "cases": list(options.cases),
        "passage_words": PASSAGE_WORDS,
        "scorer": scorer.fingerprint,
        "generator": generator and f"{generator.name} ({generator.fingerprint[:12]}), float32, KV cache",
        "generated_tokens": TOKENS,
        "cross_encoder": f"a BERT of the size of {DEFAULT_ENCODER}, one output, pairs new to the question",
    }
