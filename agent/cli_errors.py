"""What a fault looks like on the command line: one message on stderr and an exit status."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

from policies import PolicyError
from retrieval import RetrievalError
from rinse import RinseError

from .errors import AgentError, ConfigError
from .plain import plain

P = ParamSpec("P")
T = TypeVar("T")

FAILURE, USAGE, INTERRUPT = 1, 2, 130


def reported(command: Callable[P, T]) -> Callable[P, T]:
    """Turn the product's own errors into a message and a status; any other is a bug and keeps its traceback."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return command(*args, **kwargs)
        except KeyboardInterrupt:
            typer.echo("Interrupted.", err=True)
            raise typer.Exit(INTERRUPT) from None
        except (ConfigError, PolicyError) as error:
            typer.echo(plain(f"Usage: {error}"), err=True)
            raise typer.Exit(USAGE) from None
        except (AgentError, RetrievalError, RinseError) as error:
            typer.echo(plain(f"Error: {error}"), err=True)
            raise typer.Exit(FAILURE) from None

    return run
