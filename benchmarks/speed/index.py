"""`python -m benchmarks speed index`: what an index costs to build and to ask, by its size, beside its rivals."""

from __future__ import annotations

import json
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from agent.progress import build_progress
from retrieval import Passage
from retrieval.index import LocalIndex, Progress, TransformerEncoder, build_index

from ..errors import SettingsError
from ..hops.filler import random_unit
from ..lanes import Lanes, Lost
from ..output import Report, Row
from ..progress import counted
from .index_rivals import CANDIDATES, NumpyDot, RankBm25
from .index_texts import PASSAGE_WORDS, QUERY_WORDS, VOCABULARY, write_passages, write_queries
from .texts import PASSAGE_WORDS as ENCODED_WORDS
from .texts import Writer

SIZES = (5_000, 37_000, 300_000)
"""Passages."""
DIMS = 384
"""Width of the random vectors: that of the default encoder."""
K = 10
"""Passages that are asked for."""
RIVAL_SECONDS = 20.0
"""A rival is asked until so much time is spent, at least `RIVAL_LEAST` times."""
RIVAL_LEAST = 3
ENCODED = 64
"""Passages that the default encoder reads, to tell what it adds to a build."""
SECONDS = 3 * 3_600.0
"""Deadline of one size."""

CASES: Mapping[str, tuple[str, ...]] = {
    "sparse": ("rank_bm25",),
    "dense": ("numpy_dot",),
    "fused": ("rank_bm25", "numpy_dot"),
}
"""What is asked, and the rivals whose time together it is compared with."""

Ask: TypeAlias = Callable[[str], object]
Times: TypeAlias = dict[str, list[float]]
"""Milliseconds of every query, by who was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSpeedOptions:
    """How large and how often.

    Raises:
        SettingsError: a number below its least value.
    """

    sizes: tuple[int, ...] = SIZES
    """Passages of each index, all different."""
    queries: int = 100
    """Of each size."""
    seed: int = 0
    """Of texts, vectors and queries."""

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < CANDIDATES or self.queries < 1:
            raise SettingsError(
                f"Expected sizes of at least {CANDIDATES} passages and at least 1 query, got "
                f"{', '.join(map(str, self.sizes)) or 'no size'} and {self.queries}."
            )


class HashEncoder:
    """Random unit rows, seeded by the text: an encoder that costs nothing, which counts what time it took."""

    name = "hash"
    fingerprint = f"hash-{DIMS}"
    dims = DIMS

    def __init__(self) -> None:
        self.seconds = 0.0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Encoder.encode`."""
        begun = time.perf_counter()
        rows = np.array([random_unit(text, DIMS) for text in texts], dtype=np.float32).reshape(-1, DIMS)
        self.seconds += time.perf_counter() - begun
        return rows


def run_speed_index(options: IndexSpeedOptions | None = None, *, encoder: str | None = None) -> Report:
    """Build and ask an index of each size, in a process of its own with one thread; progress goes to stderr.

    Rivals are asked the same queries in turns with the index. Its files were just written: the system has them in
    memory.

    Args:
        options: See there.
        encoder: Name of the backbone whose time is measured apart; None = the default one.
    """
    options = options or IndexSpeedOptions()
    rows: list[Row] = []
    failures: list[dict[str, object]] = []

    def on_done(size: int | None, result: list[Row] | Lost) -> None:
        if isinstance(result, Lost):
            failures.append(
                {"case": "encoder" if size is None else "size", "passages": size, "reason": result.detail}
            )
        else:
            rows.extend(result)

    lanes: Lanes[int | None, list[Row]] = Lanes(
        partial(open_gauge, options, encoder), processes=1, seconds=SECONDS, what="building and asking indexes"
    )
    lanes.run([[size] for size in (None, *sorted(set(options.sizes)))], on_done)
    return Report(
        benchmark="speed index",
        settings={
            "sizes": sorted(set(options.sizes)),
            "queries": options.queries,
            "k": K,
            "candidates": CANDIDATES,
            "threads": 1,
            "passage_words": PASSAGE_WORDS,
            "query_words": QUERY_WORDS,
            "vocabulary": VOCABULARY,
            "dims": DIMS,
            "encoded_passage_words": ENCODED_WORDS,
            "rival_seconds": RIVAL_SECONDS,
        },
        seed=options.seed,
        rows=[*rows, *growth(rows)],
        failures=failures,
    )


def open_gauge(options: IndexSpeedOptions, encoder: str | None) -> Callable[[int | None], list[Row]]:
    """In a process of its own: measures an index of so many passages; None = the encoder alone."""

    def measure(size: int | None) -> list[Row]:
        return [_encoder_row(encoder)] if size is None else _size_rows(size, options)

    return measure


def growth(rows: Iterable[Row]) -> list[Row]:
    """For each case the exponent of time between neighbouring sizes: 1 = in proportion to the size, 0 = none."""
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for row in rows:
        figure = row.get("build_seconds", row.get("ms_p50"))
        if row["case"] != "encoder" and isinstance(figure, float) and isinstance(row["passages"], int):
            found[str(row["case"])][row["passages"]] = figure
    out: list[Row] = []
    for case, by_size in found.items():
        sizes = sorted(by_size)
        for one, other in pairwise(sizes):
            exponent = math.log(by_size[other] / by_size[one]) / math.log(other / one)
            out.append({"case": "growth", "of": case, "from": one, "passages": other, "exponent": exponent})
    return out


def _encoder_row(name: str | None) -> Row:
    encoder = TransformerEncoder.named(name) if name else TransformerEncoder.named()
    encoder.encode([Writer("warm-up").passage().full_text])
    texts = [passage.full_text for passage in Writer("encoded").passages(ENCODED)]
    begun = time.perf_counter()
    encoder.encode(texts)
    seconds = time.perf_counter() - begun
    return {"case": "encoder", "passages": ENCODED, "encode_seconds_per_1000": seconds * 1000 / ENCODED}


def _size_rows(size: int, options: IndexSpeedOptions) -> list[Row]:
    with TemporaryDirectory() as name:
        corpus, folder = Path(name) / "corpus.jsonl", Path(name) / "index"
        with corpus.open("w", encoding="utf-8") as file:
            file.writelines(_line(passage) for passage in write_passages(size, seed=options.seed))
        build = _build(corpus, folder, size)
        begun = time.perf_counter()
        with LocalIndex.open(folder, HashEncoder()) as index:
            build["open_ms"] = (time.perf_counter() - begun) * 1000
            begun = time.perf_counter()
            bm25 = RankBm25(passage.text for passage in write_passages(size, seed=options.seed))
            build["rank_bm25_build_seconds"] = time.perf_counter() - begun
            dot = NumpyDot(size, DIMS, seed=options.seed)
            asks: dict[str, Ask] = {
                "sparse": lambda query: index.by_words(query, K),
                "rank_bm25": bm25.search,
                "dense": lambda query: index.by_vectors(query, K),
                "numpy_dot": dot.search,
                "fused": lambda query: index.search(query, K),
            }
            times = race(asks, write_queries(options.queries, seed=options.seed))
    return [build, *(_query_row(case, size, times) for case in CASES)]


def _build(corpus: Path, folder: Path, size: int) -> Row:
    encoder = HashEncoder()
    phases: dict[str, float] = defaultdict(float)
    with build_progress() as show:
        begun = last = time.perf_counter()

        def progress(state: Progress) -> None:
            nonlocal last
            now = time.perf_counter()
            phases[state.phase] += now - last
            last = now
            show(state)

        build_index(corpus, folder, encoder=encoder, progress=progress)
        seconds = time.perf_counter() - begun - encoder.seconds
    size_on_disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return {
        "case": "build",
        "passages": size,
        "build_seconds": seconds,
        "build_seconds_per_1000": seconds * 1000 / size,
        "bytes_per_1000": size_on_disk * 1000 / size,
        **{f"{phase}_seconds": spent for phase, spent in phases.items()},
    }


def race(asks: Mapping[str, Ask], queries: Sequence[str]) -> Times:
    """Ask all of them each query, one after the other, and take the times; a slow one is asked fewer queries.

    The first query is asked twice: what is loaded on first use is not counted.
    """
    times: Times = {name: [] for name in asks}
    for ask in asks.values():
        ask(queries[0])
    with counted("queries", total=len(queries)) as advance:
        for query in queries:
            for name, ask in asks.items():
                spent = times[name]
                if name not in CASES and len(spent) >= RIVAL_LEAST and sum(spent) > RIVAL_SECONDS * 1000:
                    continue
                begun = time.perf_counter()
                ask(query)
                spent.append((time.perf_counter() - begun) * 1000)
            advance()
    return times


def _query_row(case: str, size: int, times: Times) -> Row:
    row: Row = {"case": case, "passages": size, **_quantiles("", times[case])}
    together = 0.0
    for rival in CASES[case]:
        row |= _quantiles(f"{rival}_", times[rival])
        together += float(np.median(times[rival]))
    row[f"ratio_to_{'_and_'.join(CASES[case])}"] = float(np.median(times[case])) / together
    return row


def _quantiles(prefix: str, times: Sequence[float]) -> Row:
    return {
        f"{prefix}n": len(times),
        f"{prefix}ms_p50": float(np.quantile(times, 0.5)),
        f"{prefix}ms_p95": float(np.quantile(times, 0.95)),
    }


def _line(passage: Passage) -> str:
    return json.dumps({"id": passage.source_id, "text": passage.text}) + "\n"
