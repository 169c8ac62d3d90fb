"""The dense index against numpy, and its files against what may happen to them."""

from __future__ import annotations

import resource
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from retrieval.errors import IndexCorruptError, IndexFolderError
from retrieval.index.dense import DenseIndex, VectorFile, are_unit, whole_rows

Rows = NDArray[np.float32]


def unit(seed: int, count: int, dims: int = 8) -> Rows:
    rows = np.random.default_rng(seed).normal(size=(count, dims))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def names(numbers: Sequence[int]) -> dict[int, str]:
    return {number: f"id{number:03d}" for number in numbers}


def written(path: Path, rows: Rows, block: int = 4) -> Path:
    with closing(VectorFile(path, dims=rows.shape[1])) as file:
        for start in range(0, len(rows), block):
            file.append(rows[start : start + block])
        file.sync()
    return path


def on_disk(path: Path, rows: Rows) -> DenseIndex:
    return DenseIndex.open(written(path, rows), rows=len(rows), dims=rows.shape[1])


@settings(max_examples=60)
@given(
    seed=st.integers(0, 1000),
    count=st.integers(0, 30),
    repeats=st.integers(1, 4),
    k=st.integers(-1, 40),
    excluded=st.sets(st.integers(0, 40)),
    dead=st.sets(st.integers(0, 120)),
)
def test_results_are_those_of_numpy(  # noqa: PLR0917 - hypothesis passes them by name
    seed: int, count: int, repeats: int, k: int, excluded: set[int], dead: set[int]
) -> None:
    """R07: never more than there are, never a dead row; equal rows come by id, also at place k."""
    rows = np.repeat(unit(seed, count), repeats, axis=0)
    query = unit(seed + 1, 1)[0]
    exclude = frozenset(f"id{number:03d}" for number in excluded)
    scores = rows @ query if len(rows) else np.zeros(0)
    order = sorted(
        (number for number in range(len(rows)) if number not in excluded | dead),
        key=lambda number: (-round(float(scores[number]), 5), number),
    )
    living = len(rows) - len([number for number in dead if number < len(rows)])
    found = DenseIndex(rows).search(
        query, k, lambda numbers: names([one for one in numbers if one not in dead]), exclude, living=living
    )
    assert [key for key, _ in found] == [f"id{number:03d}" for number in order[: max(k, 0)]]
    np.testing.assert_allclose([score for _, score in found], scores[order[: max(k, 0)]], atol=1e-5)


def test_three_vectors_give_three_hits_and_an_empty_index_none(tmp_path: Path) -> None:
    """R07, also through the files."""
    assert len(on_disk(tmp_path / "three", unit(1, 3)).search(unit(2, 1)[0], 10, names)) == 3
    empty = on_disk(tmp_path / "none", unit(1, 0))
    assert (len(empty), empty.dims, empty.search(unit(2, 1)[0], 10, names)) == (0, 8, [])


def test_files_give_the_same_results_as_memory(tmp_path: Path) -> None:
    rows = unit(3, 21)
    opened = on_disk(tmp_path / "v", rows)
    for query in unit(4, 5):
        assert opened.search(query, 7, names) == DenseIndex(rows).search(query, 7, names)
    vector = opened.row(20)
    np.testing.assert_array_equal(vector, rows[20])
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1.0


def test_threads_get_the_results_of_one(tmp_path: Path) -> None:
    opened, queries = on_disk(tmp_path / "v", unit(5, 50)), list(unit(6, 40))
    alone = [opened.search(query, 5, names) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda query: opened.search(query, 5, names), queries)) == alone


@pytest.mark.parametrize("query", [np.zeros(7), np.full(8, np.nan), np.full(8, np.inf), np.zeros((1, 8))])
def test_queries_that_mean_nothing_are_refused(query: Rows) -> None:
    with pytest.raises(ValueError, match="8 finite numbers"):
        DenseIndex(unit(1, 3)).search(query.astype(np.float32), 1, names)


def test_a_damaged_row_is_no_hit() -> None:
    """A score that is not a number never ranks."""
    rows = unit(1, 6)
    rows[2], rows[4] = np.nan, np.inf
    found = DenseIndex(rows).search(unit(2, 1)[0], 6, names)
    assert {key for key, _ in found} == {"id000", "id001", "id003", "id005"}


def test_a_row_that_was_replaced_ten_thousand_times_hides_nothing() -> None:
    """However many dead rows lie nearest to the query, the living ones behind them are found."""
    rows = np.repeat(unit(1, 1), 10_000, axis=0)
    rows[[17, 9_999]] = unit(2, 2)
    found = DenseIndex(rows).search(
        rows[0], 5, lambda numbers: names([one for one in numbers if one in (17, 9_999)]), living=2
    )
    assert {key for key, _ in found} == {"id017", "id9999"}


@pytest.mark.parametrize("stopped_after", [0, 1, 4, 5, 9])
@pytest.mark.parametrize("torn", [0, 13])
def test_a_killed_build_has_its_whole_blocks(tmp_path: Path, stopped_after: int, torn: int) -> None:
    """A killed writer leaves whole blocks and perhaps a torn one; written on, the file is the same to the byte."""
    rows, block, path = unit(7, 18), 2, tmp_path / "v"
    written(path, rows[: stopped_after * block])
    with path.open("ab") as handle:
        handle.write(b"x" * torn)
    done = whole_rows(path, rows=18, dims=8, block=block)
    assert done == stopped_after * block
    with closing(VectorFile(path, dims=8, done=done)) as file:
        file.append(rows[done:])
    assert path.read_bytes() == rows.tobytes()


def test_blocks_that_never_reached_the_disk_do_not_count(tmp_path: Path) -> None:
    """After a power cut a file may have its length but zeros inside."""
    path = written(tmp_path / "v", unit(8, 12))
    damaged = bytearray(path.read_bytes())
    damaged[-8 * 4 * 6 : -8 * 4 * 5] = bytes(8 * 4)
    path.write_bytes(damaged)
    assert whole_rows(path, rows=12, dims=8, block=4) == 4
    assert whole_rows(tmp_path / "missing", rows=12, dims=8, block=4) == 0


def test_what_lies_beyond_the_named_rows_is_overwritten(tmp_path: Path) -> None:
    rows, path = unit(9, 9), tmp_path / "v"
    written(path, rows[:6])
    with closing(VectorFile(path, dims=8, done=4)) as file:
        file.append(rows[6:])
        assert file.done == 7
    assert path.read_bytes() == np.concatenate([rows[:4], rows[6:]]).tobytes()


@pytest.mark.parametrize("rows", [np.ones((1, 8)), np.full((1, 8), np.nan), unit(1, 1, dims=7), np.zeros(8)])
def test_rows_that_do_not_fit_are_not_written(tmp_path: Path, rows: Rows) -> None:
    with closing(VectorFile(tmp_path / "v", dims=8)) as file, pytest.raises(ValueError, match=r"rows"):
        file.append(rows.astype(np.float32))
    assert (tmp_path / "v").read_bytes() == b""


def test_unit_rows_are_told_from_others() -> None:
    assert are_unit(unit(1, 5))
    assert are_unit(unit(1, 0))
    assert not are_unit(unit(1, 5) * np.float32(1.01))


def test_vectors_shorter_than_named_are_a_typed_error(tmp_path: Path) -> None:
    """For readers and writers alike; a file that is missing is left to whoever knows why."""
    path = written(tmp_path / "v", unit(1, 5))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(IndexCorruptError, match="expected 160"):
        DenseIndex.open(path, rows=5, dims=8)
    with pytest.raises(IndexCorruptError, match="Build the index again"):
        VectorFile(path, dims=8, done=5)
    with pytest.raises(FileNotFoundError):
        DenseIndex.open(tmp_path / "missing", rows=5, dims=8)


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file may grow beyond 100 bytes, which the system refuses as it refuses a write to a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("small_files")
def test_a_full_disk_is_a_typed_error(tmp_path: Path) -> None:
    """It says that nothing is lost and what to do."""
    with (
        closing(VectorFile(tmp_path / "v", dims=8)) as file,
        pytest.raises(IndexFolderError, match=r"cannot be written.*as it was at the last commit.*Make room"),
    ):
        file.append(unit(1, 9))
