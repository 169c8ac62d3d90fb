"""Commands about time, and about what must not change a score. Part of the command line of `benchmarks.cli`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .cli import Json, Seed, app, reporting

speed = typer.Typer(no_args_is_help=True, help="How long things take, beside what else could be done.")
app.add_typer(speed, name="speed")


@speed.callback()
def _speed() -> None:
    """Keeps the name of a single command necessary."""


@speed.command()
def score(
    *,
    repeat: Annotated[int, typer.Option("--repeat", help="Repetitions of each case, each with another text.")] = 5,
    rivals: Annotated[
        int, typer.Option("--rivals", help="Repetitions of what is compared; one where sets are large.")
    ] = 2,
    threads: Annotated[int, typer.Option("--threads", help="Threads of everything that is measured.")] = 2,
    case: Annotated[
        list[str] | None, typer.Option("--case", help="Only this case; may be repeated. Default: all.")
    ] = None,
    without_generation: Annotated[
        bool, typer.Option("--without-generation", help="Don't measure the language model: it takes most time.")
    ] = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Milliseconds of the default scorer, by what it has seen before, and as ratios to what else could be done.

    first5: five new passages of 120 words; known5: an earlier search read them for another question;
    next5: five known ones and five new ones; unchanged: the same set again; passages20, 50, 120: all new;
    five-turn: a search of five turns with five new passages each, scored after each; concurrent4: four searches
    at the same time, five new passages each.

    The text is invented. ratio_to_generation: to SmolLM2-135M-Instruct generating 24 tokens after question and
    passages, up to 25 of them, timed once for each number of passages; ratio_to_cross_encoder: to a cross-encoder
    on each passage that is new to the question; ratio_to_scratch: to the same scorer without its memory;
    ratio_to_one_by_one: to the four searches one after another. Below 1 the scorer is faster.

    Times are honest on a machine that does nothing else; `load_before` in the settings says what it did.

    [bold]Examples[/bold]

      python -m benchmarks speed score --json

      python -m benchmarks speed score --without-generation --case first5 --case known5
    """
    with reporting(as_json=as_json) as reports:
        from rinse.scorer import RinseScorer

        from .speed.cases import CASES
        from .speed.score import SpeedOptions, default_cross_encoder, local_generator, run_speed_score

        options = SpeedOptions(
            repeat=repeat, rivals=rivals, threads=threads, cases=tuple(case or CASES), seed=seed
        )
        reports.append(
            run_speed_score(
                RinseScorer.small,
                generator=None if without_generation else local_generator(),
                cross_encoder=default_cross_encoder(),
                options=options,
            )
        )


@app.command()
def invariance(
    *,
    contrasts: Annotated[list[Path], typer.Option("--contrasts", help="What `contrasts` wrote; may be repeated.")],
    records: Annotated[int, typer.Option("--records", help="Sides of contrasts that are scored.")] = 2_000,
    scorer: Annotated[
        str, typer.Option("--scorer", help="rinse-small, minilm-cosine, package.module:factory.")
    ] = "rinse-small",
    seed: Seed = 17,
    as_json: Json = False,
) -> None:
    """Does a score depend on what it must not depend on? The largest difference, and decisions that change.

    Every set is scored in order of arrival; then shuffled and built up turn by turn with repeats, by a scorer that
    has seen nothing (one record in ten), with other records at the same time, with one and with two threads, and
    in another process. Decisions are those of the thresholds that are shipped for the scorer.

    Exit status 1 if a difference reaches 0.0001 or a decision changes.

    [bold]Example[/bold]

      python -m benchmarks invariance --contrasts dev.contrasts.jsonl.gz --records 2000 --json
    """
    with reporting(as_json=as_json) as reports:
        from .invariance import InvarianceOptions, holds, run_invariance
        from .pairwise.systems import resolve

        options = InvarianceOptions(contrasts=tuple(contrasts), records=records, seed=seed)
        reports.append(run_invariance(resolve(scorer).maker(None), options))
    if not holds(reports[0]):
        raise typer.Exit(1)
