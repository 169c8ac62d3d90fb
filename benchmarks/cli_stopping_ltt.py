"""The command about promised risks. Part of the command line of `benchmarks.cli`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .cli import Json, Seed, app, reporting


@app.command()
def ltt(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN]...", help="What `record` wrote. Default: a simulated population."),
    ] = None,
    *,
    alpha: Annotated[
        list[float] | None, typer.Option("--alpha", help="Demanded risk; may be repeated. Default: 0.1 and 0.2.")
    ] = None,
    delta: Annotated[float, typer.Option("--delta", help="Allowed probability that the risk is higher.")] = 0.05,
    draws: Annotated[
        int | None, typer.Option("--draws", min=1, help="Samples. Default: 2000, or 200 splits of a RUN.")
    ] = None,
    pairs: Annotated[
        list[int] | None,
        typer.Option("--pairs", min=3, help="Simulated: questions of a sample. Default: 100 and 300."),
    ] = None,
    policy: Annotated[
        list[str] | None, typer.Option("--policy", help="RUN: threshold (default), band, ...; may be repeated.")
    ] = None,
    min_turns: Annotated[
        int | None,
        typer.Option("--min-turns", min=1, help="RUN: turns before a score counts. Default: as shipped."),
    ] = None,
    abstain_below: Annotated[
        float | None, typer.Option("--abstain-below", help="RUN, band: second threshold. Default: as shipped.")
    ] = None,
    calibrated: Annotated[
        float, typer.Option("--calibrated", help="RUN: share of the groups that each split calibrates on.")
    ] = 2 / 3,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Are certified risks kept? Learn then Test on a population whose risk is known, or on recorded searches.

    Simulated: pairs of a question and its twin without support; the true risk and coverage of every threshold are
    known in closed form. ltt is what `sufficit calibrate` does; exact-binomial tests one search of each pair;
    observed takes the threshold whose observed risk looks right. violations: share of all samples whose threshold
    has a true risk above alpha, beside violations_at_most, which is delta plus three standard errors; certified:
    share of samples with a threshold; coverage and risk: true means over these; coverage_at_most: (1 - mu) /
    (1 - alpha), what any policy could answer.

    RUN: the certificate of all groups, then split_...: over splits by group, with held-out risk and coverage. Its
    violations are a description: a held-out risk is an estimate.

    [bold]Examples[/bold]

      python -m benchmarks ltt --json

      python -m benchmarks ltt dev.run.jsonl.gz --policy band --policy threshold --alpha 0.2
    """
    with reporting(as_json=as_json) as reports:
        alphas = tuple(alpha or (0.1, 0.2))
        if runs:
            from .stopping.resplit import ResplitOptions, certify_recorded

            options = ResplitOptions(
                runs=tuple(runs),
                policies=tuple(dict.fromkeys(policy or ["threshold"])),
                alphas=alphas,
                delta=delta,
                calibrated=calibrated,
                splits=draws or 200,
                min_turns=min_turns,
                abstain_below=abstain_below,
                seed=seed,
            )
            reports.append(certify_recorded(options))
        else:
            from .stopping.simulate import simulate

            reports.append(
                simulate(
                    alphas=alphas, delta=delta, pairs=tuple(pairs or (100, 300)), draws=draws or 2_000, seed=seed
                )
            )
