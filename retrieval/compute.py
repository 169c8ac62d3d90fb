"""Where blocking computation runs: a small pool of worker threads, off the event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@cache
def _pool() -> ThreadPoolExecutor:
    """Few threads: the model libraries bring their own parallelism, more threads only compete with it."""
    return ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1), thread_name_prefix="sufficit-compute")


async def in_worker(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking function in a worker thread and await its result.

    A thread cannot be stopped: when the caller is cancelled, a call that has not begun is dropped, one that
    runs is abandoned and its result thrown away.
    """
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_pool(), lambda: function(*args, **kwargs))
