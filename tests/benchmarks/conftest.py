"""Shared by the tests of benchmarks."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator

import pytest

_IMPORTS = [
    "tests.scorers",
    "benchmarks.pairwise.scoring",
    "benchmarks.cues",
    "benchmarks.gate.work",
    "benchmarks.hops.search",
    "benchmarks.contrasts.searches",
    "benchmarks.stopping.record",
    "scipy.optimize",
    "scipy.sparse",
    "faiss",
    "torch",
    "transformers.models.bert.modeling_bert",
]


@pytest.fixture(scope="module")
def quick_lanes() -> Iterator[None]:
    """Lanes begin as forks of one process that has imported everything, models' libraries too, not from nothing.

    For tests of what lanes compute; `test_lanes` is about how they begin and end, and leaves them as they are.
    """
    multiprocessing.set_forkserver_preload(_IMPORTS)
    context = multiprocessing.get_context("forkserver")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multiprocessing, "get_context", lambda _: context)
        yield
