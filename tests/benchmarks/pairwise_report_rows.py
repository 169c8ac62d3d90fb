"""Rows as `python -m benchmarks pairwise` gives them, made up: what a report of them must show is known."""

from __future__ import annotations

from typing import Any

from benchmarks.output import Report, Row

HOSTILE = "<script>alert(1)</script>:make"
LONG = "package.module.that.has.a.very.long.name.indeed:" + "factory" * 30
SAMPLE = "lm-sample"
FIGURES: dict[str, tuple[float | None, float | None]] = {
    "rinse-small": (0.8, 0.7),
    "yes-no": (0.55, 0.45),
    "p-true": (0.8, 0.5),
    HOSTILE: (0.6, None),
    LONG: (0.52, 0.58),
    "cue-min-idf": (0.62, 0.75),
    "question-overlap": (0.5, 0.4),
}
"""Accuracy on the two headline tests; None = not one side could be scored."""
TIMES = {"rinse-small": 48.0, "yes-no": 310.0, "p-true": 905.0, LONG: 0.07}
TESTS = (("fine", "deletion"), ("other", "question-swap"))


def report() -> Report:
    """Two tests on a sample and on all groups, with additions on all; one scorer that was not run here."""
    rows = [row for subset in ("all", SAMPLE) for row in _subset(subset)]
    rows += [_added(system, count) for system in ("rinse-small", "cue-min-idf") for count in (5, 20)]
    rows.append(_row("fine", "deletion", "cue-controlled", "rinse-small", 0.7) | {"headline": False})
    rows += [_about(name, "run") for name in ("rinse-small", "yes-no", "p-true")]
    rows.append(_about("crag", "not_run_here") | {"missing": "crag-evaluator"})
    settings: dict[str, Any] = {
        "data": [],
        "contrasts": ["a b.contrasts.jsonl.gz"],
        "build": {"corpus": None, "constructions": None},
        "scorers": ["rinse-small", "yes-no", "p-true", HOSTILE, LONG],
        "added": [0, 5, 20],
        "limit": None,
        "limit_lm": 40,
        "held_out": True,
        "sample_subset": SAMPLE,
        "histograms": [_histogram(name, *test) for name in ("rinse-small", "yes-no") for test in TESTS],
    }
    failures = [{"kind": "not_scored", "system": HOSTILE, "count": 3}]
    return Report(
        benchmark="pairwise",
        settings=settings,
        seed=7,
        rows=rows,
        failures=failures,
        versions={"sufficit": "0.1"},
        machine={"cores": 2},
    )


def _subset(subset: str) -> list[Row]:
    rows: list[Row] = []
    for system, figures in FIGURES.items():
        if subset == "all" and system in {"yes-no", "p-true"}:
            continue
        rows += [_row(*test, subset, system, one) for test, one in zip(TESTS, figures, strict=True)]
        known = [figure for figure in figures if figure is not None]
        if len(known) == len(figures):
            times: Row = {"ms_p50": None, "ms_p95": None, "records_per_second": None}
            if system in TIMES:
                times = {
                    "ms_p50": TIMES[system],
                    "ms_p95": 4 * TIMES[system],
                    "records_per_second": 1000 / TIMES[system],
                }
            rows.append(_summary("macro", subset, system, sum(known) / len(known)) | times)
            rows.append(_summary("worst", subset, system, min(known)))
    return rows


def _row(dataset: str, construction: str, subset: str, system: str, figure: float | None) -> Row:
    return {
        "dataset": dataset,
        "construction": construction,
        "subset": subset,
        "added": 0,
        "headline": True,
        "system": system,
        "n": 0 if figure is None else 1200,
        "groups": 40,
        **_interval("pairwise_accuracy", figure),
        "auroc": figure,
        "paper": 0.577 if (dataset, system) == ("other", "cue-min-idf") else None,
        "reference": "rinse-small",
        **_interval("difference", None if figure is None else figure - 0.8),
    }


def _summary(name: str, subset: str, system: str, figure: float) -> Row:
    row = _row(name, "headline", subset, system, figure)
    return {key: value for key, value in row.items() if key not in {"groups", "auroc", "paper"}} | {"n": 2}


def _added(system: str, count: int) -> Row:
    figure = (FIGURES[system][0] or 0.0) - count / 200
    row = _row("fine", "deletion", "all", system, figure) | {"added": count, "headline": False}
    return row | _interval("fall", count / 200)


def _interval(name: str, figure: float | None) -> Row:
    if figure is None:
        return {name: None, f"{name}_lo": None, f"{name}_hi": float("nan")}
    return {name: figure, f"{name}_lo": figure - 0.05, f"{name}_hi": figure + 0.05}


def _about(name: str, status: str) -> Row:
    return {
        "kind": "system",
        "system": name,
        "status": status,
        "backbone": "a reranker and a reader" if name == "rinse-small" else "SmolLM2-135M-Instruct",
        "reads": "answer" if name == "p-true" else "evidence",
        "source": "a paper",
        "missing": None,
        "paper_backbone": "1.5B",
        "paper_average": 0.664,
        "paper_average_lo": 0.66,
        "paper_average_hi": 0.67,
        "paper_worst": 0.5,
        "paper_ms_p50": 31.8,
    }


def _histogram(system: str, dataset: str, construction: str) -> dict[str, Any]:
    return {
        "system": system,
        "dataset": dataset,
        "construction": construction,
        "subset": SAMPLE,
        "edges": [0.0, 0.5, 1.0, 1.5],
        "sufficient": [1, 2, 7],
        "insufficient": [5, 3, 2],
    }
