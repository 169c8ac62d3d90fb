"""Fetches from a server that does everything wrong: does each end, in time, as what it is, with bounded memory?"""

from __future__ import annotations

import asyncio
import ipaddress
import multiprocessing
import random
import resource
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import numpy as np

from retrieval.web.fetch import Fetcher
from retrieval.web.guard import Address
from retrieval.web.settings import FetchSettings

from .errors import SettingsError
from .faultserver import Fault, all_faults, serve
from .output import Report, Row

MAX_BYTES = 1_000_000
TIMEOUT_SECONDS = 3.0
TOTAL_SECONDS = 60.0
GRACE_SECONDS = 5.0
"""A fetch that takes so much longer than its total time hangs."""
AT_ONCE = 32
HOSTS = 4
"""Of each fault: a host has a pace of its own."""
START_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultOptions:
    """What is measured."""

    fetches: int
    seed: int
    only: tuple[str, ...] = ()
    """Names of faults; empty: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One fetch, without its body."""

    fault: str
    outcome: str
    detail: str
    whole: bool
    """The body is the one that it must be: that of the page if `ok`, none otherwise."""
    seconds: float
    requests: int
    received: int


def run_faults(options: FaultOptions) -> Report:
    """Fetch from every fault in random order. One row for each fault, the first one for all.

    Raises:
        SettingsError: There is no such fault, or there are more faults than fetches.
    """
    faults = _chosen(options)
    if options.fetches < len(faults):
        raise SettingsError(f"{options.fetches} fetches are fewer than the {len(faults)} faults; ask for more.")
    order = [name for number in range(options.fetches // len(faults) + 1) for name in faults][: options.fetches]
    random.Random(options.seed).shuffle(order)  # noqa: S311  no secret
    before, began = _peak_mb(), time.monotonic()
    with _server(options.seed) as port:
        seen, tasks_left = asyncio.run(_fetch_all(order, faults, port, options.seed))
    together: Row = {
        "case": "all",
        **_figures(seen, faults),
        "tasks_left": tasks_left,
        "peak_memory_mb": _peak_mb(),
        "memory_growth_mb": _peak_mb() - before,
        "total_seconds": time.monotonic() - began,
    }
    by_fault: dict[str, list[Seen]] = defaultdict(list)
    for one in seen:
        by_fault[one.fault].append(one)
    rows = [together, *({"case": name, **_figures(by_fault[name], faults)} for name in faults)]
    wrong = [one for one in seen if _is_wrong(one, faults)]
    return Report(
        benchmark="faults",
        settings=asdict(options)
        | {"max_bytes": MAX_BYTES, "timeout_seconds": TIMEOUT_SECONDS, "at_once": AT_ONCE},
        seed=options.seed,
        rows=rows,
        failures=[{"fault": one.fault, "outcome": one.outcome, "detail": one.detail} for one in wrong],
    )


def _chosen(options: FaultOptions) -> dict[str, Fault]:
    faults = all_faults(options.seed)
    unknown = [name for name in options.only if name not in faults]
    if unknown:
        raise SettingsError(f"There is no fault {', '.join(unknown)}; there are {', '.join(faults)}.")
    return {name: faults[name] for name in options.only or faults}


def holds(report: Report) -> bool:
    """Whether every fetch ended as what it was, and nothing was left behind."""
    return not report.failures and report.rows[0]["tasks_left"] == 0


async def _fetch_all(
    order: Sequence[str], faults: Mapping[str, Fault], port: int, seed: int
) -> tuple[list[Seen], int]:
    hosts = frozenset(f"{name}.{number}.test" for name in faults for number in range(HOSTS))
    settings = FetchSettings(
        allow_private=hosts,
        max_bytes=MAX_BYTES,
        timeout_seconds=TIMEOUT_SECONDS,
        total_seconds=TOTAL_SECONDS,
        per_host_interval=0.0,
        total_concurrency=AT_ONCE,
        seed=seed,
    )
    turns = asyncio.Semaphore(AT_ONCE)
    before = len(asyncio.all_tasks())
    async with Fetcher(settings, resolve=_here) as fetcher:

        async def fetch(number: int, name: str) -> Seen:
            url = f"http://{name}.{number % HOSTS}.test:{port}/page-{number}"
            async with turns:
                return await _fetch(fetcher, url, name, faults[name])

        seen = await asyncio.gather(*(fetch(number, name) for number, name in enumerate(order)))
    await asyncio.sleep(0)
    return seen, len(asyncio.all_tasks()) - before


async def _fetch(fetcher: Fetcher, url: str, name: str, fault: Fault) -> Seen:
    began = time.monotonic()
    try:
        async with asyncio.timeout(TOTAL_SECONDS + GRACE_SECONDS):
            fetched = await fetcher.fetch(url)
    except TimeoutError:
        spent = time.monotonic() - began
        return Seen(fault=name, outcome="hang", detail=url, whole=True, seconds=spent, requests=0, received=0)
    return Seen(
        fault=name,
        outcome=fetched.outcome,
        detail=fetched.detail,
        whole=fetched.body == (fault.body if fetched.outcome == "ok" else b""),
        seconds=fetched.seconds,
        requests=fetched.attempts,
        received=fetched.bytes_received,
    )


async def _here(host: str, _port: int) -> Sequence[Address]:
    return [ipaddress.ip_address("127.0.0.1" if host.endswith(".test") else host)]


def _figures(seen: Sequence[Seen], faults: Mapping[str, Fault]) -> Row:
    outcomes = Counter(one.outcome for one in seen)
    seconds = [one.seconds for one in seen]
    return {
        "n": len(seen),
        "outcomes": ", ".join(f"{outcome} {count}" for outcome, count in outcomes.most_common()),
        "unexpected": sum(one.outcome != faults[one.fault].outcome for one in seen),
        "not_whole": sum(not one.whole for one in seen),
        "hangs": outcomes["hang"],
        "requests": sum(one.requests for one in seen),
        "received_mb": sum(one.received for one in seen) / 1e6,
        "seconds_p50": float(np.median(seconds)),
        "seconds_max": max(seconds),
    }


def _is_wrong(one: Seen, faults: Mapping[str, Fault]) -> bool:
    return one.outcome != faults[one.fault].outcome or not one.whole


@contextmanager
def _server(seed: int) -> Iterator[int]:
    """The port of a server in a process of its own: its memory is not ours."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=serve, args=(seed, there), daemon=True)
    process.start()
    try:
        if not here.poll(START_SECONDS):
            raise SettingsError(f"The server did not start within {START_SECONDS:.0f} s; is this machine busy?")
        yield here.recv()
    finally:
        process.terminate()
        process.join()


def _peak_mb() -> float:
    """The most memory that this process ever had, in megabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
