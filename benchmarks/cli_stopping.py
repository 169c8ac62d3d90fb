"""The benchmark of stop policies. Part of the command line of `benchmarks.cli`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .cli import Json, Seed, app, names, reporting


@app.command()
def replay(
    *,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Files that `record` wrote, plain or .gz.")],
    tune: Annotated[
        list[Path] | None,
        typer.Option(
            "--tune",
            help="A run of training questions: parameters are chosen on it, never on RUN. May be repeated. "
            "Without it shipped parameters are used and policies that have none are left out.",
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy", help="fixed-2, band, ltt-0.10, ...; may be repeated, or separated by commas. Default: all."
        ),
    ] = None,
    wrong: Annotated[
        float, typer.Option("--wrong", help="Cost of an answer without support; one with it is 1.")
    ] = 0.5,
    call_price: Annotated[float, typer.Option("--call-price", help="Cost of one call, in the same unit.")] = 0.05,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Also write how each search ended under each policy, a JSON line each."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", help="Also write one HTML file to look at: plots and tables. Needs sufficit\\[report]."
        ),
    ] = None,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Draws of the bootstrap.")] = 2_000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the draws and of splits.")] = 17,
    as_json: Json = False,
) -> None:
    """Which stop policy decides best? Every policy on the same recorded searches, with intervals and exact regret.

    Nothing is searched: each policy is shown what was known after each call of a recorded search, and its end is
    held against the annotated support. Complete support is the annotators' word; other text may answer, too.

    Policies: never, single, fixed-K, until-dry, random (as many calls as the default), threshold,
    threshold-at-end, band, bars, decaying, no-gain, gated-no-gain, novelty, stability, tasr, probed, utility,
    ltt-RISK, conformal-SHARE, ragflow, gated-K (K calls, then the threshold), default (what `sufficit ask`
    does), oracle-support, oracle-utility; llm-stop and llm-sufficient need searches recorded with a model.
    The default is always among them: others are compared with it.

    The utility of a search: 1 for an answer on complete support, minus --wrong for one without, 0 for none, minus
    --call-price for each call. Regret is what it lacks of the best end that the record allows.

    [bold]Examples[/bold]

      python -m benchmarks replay dev.run.jsonl.gz --tune train.run.jsonl.gz

      python -m benchmarks replay hotpotqa.run.jsonl musique.run.jsonl --policy fixed-6,band --json

      python -m benchmarks replay dev.run.jsonl --wrong 2 --call-price 0.01 --out ends.jsonl

      python -m benchmarks replay dev.run.jsonl.gz --tune train.run.jsonl.gz --html report.html
    """
    with reporting(as_json=as_json) as reports:
        from policies.utility import Utility

        from .report.page import require_report, write_page
        from .report.stopping import replay_page
        from .stopping.replaying import ReplayOptions, run_replay

        options = ReplayOptions(
            runs=tuple(runs),
            tune=tuple(tune or ()),
            policies=names(policy or ()),
            utility=Utility(wrong=wrong, call_price=call_price),
            out=out,
            draws=draws,
            seed=seed,
        )
        if html is not None:
            require_report(html)
        report = run_replay(options)
        if html is not None:
            write_page(replay_page(report), html)
        reports.append(report)


@app.command("stop-fit")
def stop_fit(
    *,
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Files that `record` wrote for training questions.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Entries of other scorers in this file stay.")],
    wrong: Annotated[
        float, typer.Option("--wrong", help="Cost of an answer without support; one with it is 1.")
    ] = 0.5,
    call_price: Annotated[float, typer.Option("--call-price", help="Cost of one call, in the same unit.")] = 0.05,
    refusal_price: Annotated[
        float,
        typer.Option(
            "--refusal-price", min=0.0, help="Cost of refusing all that have support, beside what is lost."
        ),
    ] = 0.25,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Choose the default stop policy: bars for each turn that are worth most at the declared prices.

    Also fits the thresholds of `band`, the calibration and the hazards of `utility`. To ship them, write to
    policies/shipped.json. The figures printed are cross-validated: five times, bars are chosen on four fifths of
    the groups and judged on the rest. Report `replay` on other questions.

    [bold]Example[/bold]

      python -m benchmarks stop-fit hotpotqa.train.run.jsonl musique.train.run.jsonl --out policies/shipped.json
    """
    with reporting(as_json=as_json) as reports:
        from policies.utility import Utility

        from .stopping.fit import StopFitOptions, run_stop_fit

        options = StopFitOptions(
            runs=tuple(runs),
            out=out,
            utility=Utility(wrong=wrong, call_price=call_price),
            refusal_price=refusal_price,
            seed=seed,
        )
        reports.append(run_stop_fit(options))
