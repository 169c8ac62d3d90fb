"""Models of transformers are loaded without its remarks: what matters is raised by who loads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """Without the library's table of weights that are left out on purpose; what is missing is raised instead."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.set_verbosity(before)
