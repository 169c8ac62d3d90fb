"""`sufficit calibrate`: a threshold for a demanded risk, or why there is none."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from .cli_errors import FAILURE, reported
from .errors import ConfigError
from .plain import plain_line
from .verdict import verdict
from .wire import json_line

if TYPE_CHECKING:
    from policies.calibration import RefusalControl, RiskControl

    from .calibrating import Calibrated
    from .calibration_data import CalibrationData

EPILOG = (
    "Exit status: 0 a certificate was written, 1 nothing can be promised or a failure, 2 usage, 130 interrupt. "
    "What is promised, for which searches, and what is not: docs/calibration.md."
)
_DIGITS = 12  # of 1 - confidence, which is 0.050000000000000044 for 0.95
_SHOWN = 5  # warnings


def calibrate(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN]...", help="Searches with labels, which python -m benchmarks record wrote."),
    ] = None,
    *,
    out: Annotated[Path, typer.Option(help="File of the certificate; one that exists is replaced.")],
    traces: Annotated[
        Path | None, typer.Option(help="Instead of RUN: folder of your own traces; needs --labels.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="JSON lines, one a question: question, support, group?, answerable?")
    ] = None,
    risk: Annotated[
        float | None,
        typer.Option(help="Largest share of answered questions that may lack support. Default: 0.1."),
    ] = None,
    confidence: Annotated[float, typer.Option(help="That the risk is kept, over draws of the questions.")] = 0.95,
    refuse_at_most: Annotated[
        float | None,
        typer.Option(help="Instead of --risk: largest share of the questions with support that may be refused."),
    ] = None,
    policy: Annotated[str, typer.Option(help="threshold, band, probed, decaying or gated-K.")] = "threshold",
    abstain_below: Annotated[
        float | None, typer.Option(help="band: give up below this score. Default: as shipped.")
    ] = None,
    min_turns: Annotated[
        int | None, typer.Option(min=1, help="Turns before a score ends a search. Default: as shipped.")
    ] = None,
    patience: Annotated[int, typer.Option(min=1, help="Low scores in a row that give up.")] = 2,
    dataset: Annotated[str | None, typer.Option(help="Only the searches of this dataset.")] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Divides the questions into those to learn and to test on.")
    ] = 0,
    uncertified: Annotated[
        bool,
        typer.Option("--uncertified", help="Write the best guess, marked as such, where nothing is certified."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else there.")
    ] = False,
) -> None:
    """Find the threshold that answers most at a risk that you name, and certify it.

    "At most 10 % of the questions that it answers lack support, with 95 % confidence": that is --risk 0.1
    --confidence 0.95, for questions drawn as the recorded ones were. It first says what is feasible at all, and
    certifies nothing that the data cannot support; then it says about how many questions would be needed.

    For your own questions record searches that no score ends, and write down what each answer must rest on. A line
    of the labels: {"question": "Who built the bridge?", "support": ["Ann Lee built it in 1784."]}

    Example: sufficit calibrate --traces traces --labels labels.jsonl --risk 0.2 --out certificate.json
    """
    from .calibrating import CalibrateRequest
    from .calibrating import calibrate as find

    request = CalibrateRequest(
        policy=policy,
        promise="risk" if refuse_at_most is None else "refusals",
        share=_share(risk, refuse_at_most),
        delta=round(1 - confidence, _DIGITS),
        abstain_below=abstain_below,
        min_turns=min_turns,
        patience=patience,
        seed=seed,
    )
    data = _data(tuple(runs or ()), traces, labels).of(dataset)
    with Console(stderr=True).status("Replaying …"):
        done = find(data, request)
    written = done.certificate is not None and (done.promised or uncertified)
    if done.certificate is not None and written:
        from .certify import save_certificate

        save_certificate(done.certificate, out)
    _warn(done.warnings)
    if as_json:
        sys.stdout.write(json_line(_json(done, data, out if written else None)))
    else:
        _show(done, data, out if written else None)
    if not done.promised:
        raise typer.Exit(FAILURE)


def add_calibrate(app: typer.Typer) -> None:
    """Make `calibrate` a command of `app`."""
    app.command(epilog=EPILOG)(reported(calibrate))


def _share(risk: float | None, refuse_at_most: float | None) -> float:
    if risk is not None and refuse_at_most is not None:
        raise ConfigError("--risk and --refuse-at-most are two different promises. Ask for one of them.")
    if refuse_at_most is not None:
        return refuse_at_most
    return 0.1 if risk is None else risk


def _data(runs: tuple[Path, ...], traces: Path | None, labels: Path | None) -> CalibrationData:
    from .calibration_data import read_runs, read_traces

    if runs and (traces or labels):
        raise ConfigError("Give either RUN files, or --traces with --labels: they are calibrated apart.")
    if traces and labels:
        return read_traces(traces, labels)
    if not runs:
        raise ConfigError("Nothing to calibrate on. Give RUN files, or --traces DIR with --labels FILE.")
    return read_runs(runs)


def _warn(warnings: tuple[str, ...]) -> None:
    for warning in warnings[:_SHOWN]:
        typer.echo(plain_line(f"Warning: {warning}"), err=True)
    if len(warnings) > _SHOWN:
        typer.echo(f"Warning: and {len(warnings) - _SHOWN} more; --json lists all.", err=True)


def _json(done: Calibrated, data: CalibrationData, out: Path | None) -> dict[str, Any]:
    return {
        "promised": done.promised,
        "verdict": verdict(done),
        "feasible": {
            "mu": done.feasible.mu,
            "coverage_at_most": done.feasible.coverage,
            "abstention_at_least": done.feasible.abstention,
        },
        "control": asdict(done.control),
        "certificate": None if done.certificate is None else done.certificate.model_dump(mode="json"),
        "out": None if out is None else str(out),
        "searches": len(data.searches),
        "warnings": list(done.warnings),
    }


def _show(done: Calibrated, data: CalibrationData, out: Path | None) -> None:
    possible = done.feasible
    table = Table(show_header=False, box=None)
    table.add_row("searches", f"{len(data.searches)} in {len({case.group for case in data.cases})} groups")
    table.add_row("without support", f"{possible.mu:.1%} of the searches, whatever is answered")
    if done.certificate is None or done.certificate.delta is not None:
        table.add_row(
            f"feasible at risk {possible.alpha:g}",
            f"answer at most {possible.coverage:.1%}, refuse at least {possible.abstention:.1%}",
        )
    for name, value in _figures(done):
        table.add_row(name, value)
    Console(highlight=False).print(table)
    typer.echo(verdict(done))
    if out is not None:
        typer.echo(plain_line(f"Written to {out}"))


def _figures(done: Calibrated) -> list[tuple[str, str]]:
    if done.certificate is None:
        return []
    achieved, control = done.certificate.achieved, done.control
    rows = [
        ("threshold", f"{done.certificate.policy.answer_at:.6g}"),
        ("answers", f"{achieved.coverage:.1%} of the searches"),
        ("without support", "none answered" if achieved.risk is None else f"{achieved.risk:.1%} of the answered"),
    ]
    return rows + _tested(control)


def _tested(control: RiskControl | RefusalControl) -> list[tuple[str, str]]:
    from policies.calibration import RefusalControl

    if isinstance(control, RefusalControl):
        return [("refuses", f"{control.refused or 0.0:.1%} of {control.groups} searches with support")]
    rows = [("thresholds", f"{control.certified} of {control.candidates} passed on {control.tested} groups")]
    if control.p_value is not None:
        rows.append(("p-value", f"{control.p_value:.3g}, to pass: {control.delta:g}"))
    if control.off_record:
        rows.append(("off the record", f"{control.off_record:.1%} of the searches, counted as without support"))
    return rows
