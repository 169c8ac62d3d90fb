"""Learn then Test where the truth is known: searches from a simple model, the risk of each threshold in closed
form.

A pair is a question and its twin. The question's evidence becomes complete with turn T (geometric, or never);
the twin's never does. A look scores u + noise, and `gain` more once the evidence is complete; u belongs to the
pair, so its two searches depend on each other. The policy answers at the first look with a score of at least the
threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, norm

from policies.calibration.cases import divided, spread
from policies.calibration.feasible import Feasible
from policies.calibration.ltt import LEARNED, learn_then_test
from policies.calibration.outcomes import Outcomes

from ..output import Report, Row

Floats: TypeAlias = NDArray[np.float64]
_NODES = 64
"""Of the quadrature over u; with 32 the risk differs in the 12th digit at most."""


@dataclass(frozen=True)
class Population:
    """The model's numbers. Not the figures of any real corpus: only known ones."""

    looks: int = 6
    never: float = 0.2
    """Share of the questions whose evidence never becomes complete."""
    found: float = 0.35
    """Probability that a turn completes the evidence."""
    gain: float = 2.9
    noise: float = 0.9
    between: float = 0.5
    """Deviation of u between pairs."""

    @cached_property
    def starts(self) -> Floats:
        """(looks + 1,) probability that a question's evidence is complete from look 0, 1, ... on; last: never."""
        waits = self.found * (1 - self.found) ** np.arange(self.looks)
        found = (1 - self.never) * waits
        return np.append(found, 1 - found.sum())

    @property
    def mu(self) -> float:
        """Share of searches, twins included, that no policy can answer with support."""
        return float((self.starts[-1] + 1) / 2)

    def draw(self, pairs: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.intp]]:
        """Scores (pairs, 2, looks), and the look (pairs, 2) from which on the evidence is complete."""
        question = rng.choice(self.looks + 1, size=pairs, p=self.starts)
        start = np.stack([question, np.full(pairs, self.looks)], axis=1)
        base = rng.normal(0, self.between, size=(pairs, 1, 1))
        complete = np.arange(self.looks) >= start[..., None]
        scores = base + rng.normal(0, self.noise, size=(pairs, 2, self.looks)) + self.gain * complete
        return scores, start

    def truth(self, threshold: float) -> tuple[float | None, float]:
        """Risk and coverage of answering at the first score of at least the threshold; no simulation in it."""
        nodes, weights = _quadrature()
        base = self.between * nodes
        low = norm.cdf((threshold - base) / self.noise)  # a look without support stays below
        high = norm.cdf((threshold - base - self.gain) / self.noise)
        before = np.arange(self.looks + 1)
        wrong = 1 - low[:, None] ** before
        answered = 1 - low[:, None] ** before * high[:, None] ** (self.looks - before)
        twin = float(weights @ wrong[:, -1])
        coverage = (float(weights @ answered @ self.starts) + twin) / 2
        errors = (float(weights @ wrong @ self.starts) + twin) / 2
        return (errors / coverage if coverage else None), coverage


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Nodes and weights of the mean over a standard normal variable."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    return nodes, weights / weights.sum()


def outcomes(scores: Floats, start: NDArray[np.intp], candidates: Floats) -> Outcomes:
    """What `policies.calibration.outcomes.play_all` finds with `ScoreThreshold`, all at once."""
    looks = scores.shape[-1]
    highest = np.maximum.accumulate(scores, axis=-1)
    stop = (highest[..., None] < candidates).sum(axis=-2)
    answered = stop < looks
    wrong = answered & (stop < start[..., None])
    return Outcomes(
        candidates=candidates,
        answered=answered.mean(axis=1),
        wrong=wrong.mean(axis=1),
        off_record=np.zeros((len(scores), len(candidates))),
    )


@dataclass(frozen=True, slots=True)
class Sample:
    """One draw, ready for a rule."""

    outcomes: Outcomes
    raw: Outcomes
    """Of one search of each pair, drawn."""
    learn: NDArray[np.intp]
    test: NDArray[np.intp]
    alpha: float
    delta: float


Rule: TypeAlias = Callable[[Sample], float | None]
"""From a draw to a threshold, or to None."""


def ltt(sample: Sample) -> float | None:
    """The product's own."""
    return learn_then_test(
        sample.outcomes, sample.learn, sample.test, alpha=sample.alpha, delta=sample.delta
    ).parameter


def exact_binomial(sample: Sample) -> float | None:
    """Rival: the same sequence, tested with an exact binomial tail on one search of each pair."""
    from mapie.risk_control import control_fwer

    learned, tested = sample.raw.rows(sample.learn), sample.raw.rows(sample.test)
    order = np.argsort(_tails(learned, sample.alpha), kind="stable")
    coverage = learned.coverage()
    order = order[coverage[order] >= coverage[order[0]]]
    passed = order[control_fwer(_tails(tested, sample.alpha)[order], sample.delta, "fixed_sequence")]
    return _widest(sample.outcomes, passed)


def observed(sample: Sample) -> float | None:
    """Rival that promises nothing: answers most among those whose observed risk is at most alpha."""
    answered, wrong = sample.outcomes.answered.sum(axis=0), sample.outcomes.wrong.sum(axis=0)
    return _widest(sample.outcomes, np.flatnonzero((answered > 0) & (wrong <= sample.alpha * answered)))


RULES: Mapping[str, Rule] = MappingProxyType({"ltt": ltt, "exact-binomial": exact_binomial, "observed": observed})


def simulate(
    *,
    alphas: tuple[float, ...] = (0.1, 0.2),
    delta: float = 0.05,
    pairs: tuple[int, ...] = (100, 300),
    draws: int = 2_000,
    seed: int = 0,
    population: Population = Population(),
) -> Report:
    """Draw calibration sets, let each rule choose a threshold, hold its true risk against alpha."""
    rows = [
        row
        for alpha in alphas
        for size in pairs
        for row in _rows(population, alpha=alpha, delta=delta, pairs=size, draws=draws, seed=seed)
    ]
    settings = {"population": asdict(population), "mu": population.mu, "delta": delta, "draws": draws}
    return Report(benchmark="ltt", settings=settings, seed=seed, rows=rows)


def _rows(population: Population, *, alpha: float, delta: float, pairs: int, draws: int, seed: int) -> list[Row]:
    rng = np.random.default_rng([seed, pairs])
    chosen: dict[str, list[float]] = {name: [] for name in RULES}
    for draw in range(draws):
        sample = _sample(population, rng, alpha=alpha, delta=delta, pairs=pairs, split=draw)
        for name, rule in RULES.items():
            threshold = rule(sample)
            if threshold is not None:
                chosen[name].append(threshold)
    bound = Feasible(mu=population.mu, alpha=alpha).coverage
    limit = delta + 3 * float(np.sqrt(delta * (1 - delta) / draws))
    return [
        {
            "rule": name,
            "alpha": alpha,
            "pairs": pairs,
            "draws": draws,
            **_figures(population, thresholds, alpha=alpha, draws=draws),
            "violations_at_most": limit,
            "coverage_at_most": bound,
        }
        for name, thresholds in chosen.items()
    ]


def _figures(population: Population, thresholds: list[float], *, alpha: float, draws: int) -> Row:
    truths = [population.truth(threshold) for threshold in thresholds]
    risks = [risk for risk, _ in truths if risk is not None]
    return {
        "violations": sum(risk > alpha for risk in risks) / draws,
        "certified": len(thresholds) / draws,
        "coverage": float(np.mean([coverage for _, coverage in truths])) if truths else None,
        "risk": float(np.mean(risks)) if risks else None,
    }


def _sample(
    population: Population, rng: np.random.Generator, *, alpha: float, delta: float, pairs: int, split: int
) -> Sample:
    scores, start = population.draw(pairs, rng)
    learn, test = divided(pairs, LEARNED, split)
    candidates = np.array(spread(scores[learn].ravel()))
    side = rng.integers(2, size=pairs)[:, None]
    one = outcomes(
        np.take_along_axis(scores, side[..., None], axis=1), np.take_along_axis(start, side, axis=1), candidates
    )
    return Sample(outcomes(scores, start, candidates), one, learn, test, alpha, delta)


def _tails(one: Outcomes, alpha: float) -> Floats:
    """(m,) probability of so few errors or fewer if the risk were alpha."""
    return np.asarray(binom.cdf(one.wrong.sum(axis=0), one.answered.sum(axis=0), alpha))


def _widest(all_pairs: Outcomes, places: NDArray[np.intp]) -> float | None:
    if not len(places):
        return None
    return float(all_pairs.candidates[places[np.argmax(all_pairs.coverage()[places])]])
