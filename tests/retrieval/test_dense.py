"""The dense index against numpy, and its files against what may happen to them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from retrieval.errors import IndexCorruptError
from retrieval.index.dense import IDS, VECTORS, DenseIndex, VectorFile, are_unit, write_ids

Rows = NDArray[np.float32]


def unit(seed: int, count: int, dims: int = 8) -> Rows:
    rows = np.random.default_rng(seed).normal(size=(count, dims))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def in_memory(rows: Rows) -> DenseIndex:
    return DenseIndex(rows, np.array([b"id%03d" % number for number in range(len(rows))], dtype="S64"))


def on_disk(folder: Path, rows: Rows) -> DenseIndex:
    write_ids(folder, [f"id{number:03d}" for number in range(len(rows))])
    with VectorFile(folder, rows=len(rows), dims=rows.shape[1], block=4) as file:
        for start in range(0, len(rows), 4):
            file.append(rows[start : start + 4])
    return DenseIndex.open(folder)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 1000),
    count=st.integers(0, 30),
    repeats=st.integers(1, 4),
    k=st.integers(-1, 40),
    excluded=st.sets(st.integers(0, 40)),
)
def test_results_are_those_of_numpy(seed: int, count: int, repeats: int, k: int, excluded: set[int]) -> None:
    """R07: never more than there are, never an id that does not exist; equal rows come by id, also at place k."""
    rows = np.repeat(unit(seed, count), repeats, axis=0)
    query = unit(seed + 1, 1)[0]
    exclude = frozenset(f"id{number:03d}" for number in excluded)
    scores = rows @ query if len(rows) else np.zeros(0)
    order = sorted(
        (number for number in range(len(rows)) if number not in excluded),
        key=lambda number: (-round(float(scores[number]), 5), number),
    )
    found = in_memory(rows).search(query, k, exclude)
    assert [key for key, _ in found] == [f"id{number:03d}" for number in order[: max(k, 0)]]
    np.testing.assert_allclose([score for _, score in found], scores[order[: max(k, 0)]], atol=1e-5)


def test_three_vectors_give_three_hits_and_an_empty_index_none(tmp_path: Path) -> None:
    """R07, also through the files."""
    (tmp_path / "three").mkdir()
    (tmp_path / "none").mkdir()
    assert len(on_disk(tmp_path / "three", unit(1, 3)).search(unit(2, 1)[0], 10)) == 3
    empty = on_disk(tmp_path / "none", unit(1, 0))
    assert (len(empty), empty.dims, empty.search(unit(2, 1)[0], 10)) == (0, 8, [])


def test_files_give_the_same_results_as_memory(tmp_path: Path) -> None:
    rows = unit(3, 21)
    opened = on_disk(tmp_path, rows)
    for query in unit(4, 5):
        assert opened.search(query, 7) == in_memory(rows).search(query, 7)
    key, vector = opened.row(20)
    assert key == "id020"
    np.testing.assert_array_equal(vector, rows[20])
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1.0


def test_threads_get_the_results_of_one(tmp_path: Path) -> None:
    opened, queries = on_disk(tmp_path, unit(5, 50)), list(unit(6, 40))
    alone = [opened.search(query, 5) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda query: opened.search(query, 5), queries)) == alone


@pytest.mark.parametrize("query", [np.zeros(7), np.full(8, np.nan), np.full(8, np.inf), np.zeros((1, 8))])
def test_queries_that_mean_nothing_are_refused(query: Rows) -> None:
    with pytest.raises(ValueError, match="8 finite numbers"):
        in_memory(unit(1, 3)).search(query.astype(np.float32), 1)


def test_a_damaged_row_is_no_hit() -> None:
    """A score that is not a number never ranks."""
    rows = unit(1, 6)
    rows[2], rows[4] = np.nan, np.inf
    found = in_memory(rows).search(unit(2, 1)[0], 6)
    assert {key for key, _ in found} == {"id000", "id001", "id003", "id005"}


@pytest.mark.parametrize("stopped_after", [0, 1, 4, 5, 9])
@pytest.mark.parametrize("torn", [0, 13])
def test_writing_goes_on_where_it_was_killed(tmp_path: Path, stopped_after: int, torn: int) -> None:
    """A killed writer leaves whole blocks and perhaps a torn one; the file ends up the same, byte by byte."""
    rows, block = unit(7, 18), 2
    on_disk_whole = _write(tmp_path, rows, block)
    (tmp_path / VECTORS).unlink()
    with VectorFile(tmp_path, rows=18, dims=8, block=block) as file:
        for number in range(stopped_after):
            file.append(rows[number * block : (number + 1) * block])
    with (tmp_path / VECTORS).open("ab") as handle:
        handle.write(b"x" * torn)
    with VectorFile(tmp_path, rows=18, dims=8, block=block) as file:
        assert file.done == stopped_after * block
    assert _write(tmp_path, rows, block) == on_disk_whole


def _write(folder: Path, rows: Rows, block: int) -> bytes:
    with VectorFile(folder, rows=len(rows), dims=rows.shape[1], block=block) as file:
        while file.done < len(rows):
            file.append(rows[file.done : file.done + block])
    return (folder / VECTORS).read_bytes()


def test_blocks_that_never_reached_the_disk_are_written_again(tmp_path: Path) -> None:
    """After a power cut a file may have its length but zeros inside."""
    rows = unit(8, 12)
    whole = _write(tmp_path, rows, 4)
    damaged = bytearray(whole)
    damaged[-8 * 4 * 6 : -8 * 4 * 5] = bytes(8 * 4)
    (tmp_path / VECTORS).write_bytes(damaged)
    with VectorFile(tmp_path, rows=12, dims=8, block=4) as file:
        assert file.done == 4
    assert _write(tmp_path, rows, 4) == whole


def test_a_file_for_another_shape_is_begun_again(tmp_path: Path) -> None:
    _write(tmp_path, unit(9, 6), 2)
    with VectorFile(tmp_path, rows=7, dims=8, block=2) as file:
        assert file.done == 0


@pytest.mark.parametrize("rows", [np.ones((1, 8)), np.full((1, 8), np.nan), unit(1, 1, dims=7), unit(1, 3)])
def test_rows_that_do_not_fit_are_not_written(tmp_path: Path, rows: Rows) -> None:
    with VectorFile(tmp_path, rows=2, dims=8, block=2) as file, pytest.raises(ValueError, match=r"rows"):
        file.append(rows.astype(np.float32))


def test_unit_rows_are_told_from_others() -> None:
    assert are_unit(unit(1, 5))
    assert are_unit(unit(1, 0))
    assert not are_unit(unit(1, 5) * np.float32(1.01))


@pytest.mark.parametrize("file", [VECTORS, IDS])
@pytest.mark.parametrize("content", [None, b"", b"\x93NUMPY\x01\x00", b"junk" * 100])
def test_unreadable_files_are_a_typed_error(tmp_path: Path, file: str, content: bytes | None) -> None:
    on_disk(tmp_path, unit(1, 5))
    (tmp_path / file).unlink()
    if content is not None:
        (tmp_path / file).write_bytes(content)
    with pytest.raises(IndexCorruptError, match="Build the index again"):
        DenseIndex.open(tmp_path)


def test_truncated_vectors_and_pickles_are_a_typed_error(tmp_path: Path) -> None:
    on_disk(tmp_path, unit(1, 5))
    whole = (tmp_path / VECTORS).read_bytes()
    (tmp_path / VECTORS).write_bytes(whole[:-1])
    with pytest.raises(IndexCorruptError):
        DenseIndex.open(tmp_path)
    np.save(tmp_path / VECTORS, np.array([object()]), allow_pickle=True)
    with pytest.raises(IndexCorruptError):
        DenseIndex.open(tmp_path)
    np.save(tmp_path / VECTORS, unit(1, 5).astype(np.float64))
    with pytest.raises(IndexCorruptError, match="float32"):
        DenseIndex.open(tmp_path)
