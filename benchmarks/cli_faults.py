"""`faults`. Part of the command line of `benchmarks.cli`."""

from __future__ import annotations

from typing import Annotated

import typer

from .cli import Json, Seed, app, reporting


@app.command()
def faults(
    *,
    fetches: Annotated[int, typer.Option("--fetches", min=1, help="Pages that are fetched.")] = 1_000,
    fault: Annotated[
        list[str] | None, typer.Option("--fault", help="Name of a fault; may be repeated. Default: all.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Fetch from a server on this machine that does everything wrong: does each fetch end as what it is?

    The server resets, stalls, drips, lies about length and coding, sends bombs of gzip and bodies without end,
    redirects in circles and into private networks, answers 402, 403, 429 and 503, and breaks HTTP. Of each fault
    one outcome is right. A page counts as whole only if it is the server's, byte by byte.

    Times out after three seconds: on a machine that is very busy a page that is fine may come too late.

    memory_growth_mb: by how much the largest memory of this process grew; the server has a process of its own.

    Exit status 1 if an outcome is another one, a page is not whole, or a fetch hangs.

    [bold]Example[/bold]

      python -m benchmarks faults --fetches 1000 --json
    """
    with reporting(as_json=as_json) as reports:
        from .faults import FaultOptions, run_faults

        reports.append(run_faults(FaultOptions(fetches=fetches, seed=seed, only=tuple(fault or ()))))
    from .faults import holds

    if not holds(reports[0]):
        raise typer.Exit(1)
