"""Results by key survive whatever ends a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.errors import RunFileError
from benchmarks.store import KeyedStore


def test_results_are_there_the_next_time(tmp_path: Path) -> None:
    """What was computed once is not computed again."""
    with KeyedStore(tmp_path / "deep" / "s.jsonl") as store:
        store.put("a", {"score": 1.5})
        store.put("a", {"score": 9.9})
    with KeyedStore(tmp_path / "deep" / "s.jsonl") as store:
        assert "a" in store
        assert "b" not in store
        assert store["a"] == {"score": 1.5}


@given(st.integers(min_value=0, max_value=200))
def test_a_file_cut_anywhere_keeps_every_whole_line(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    """Kill -9 in the middle of a write loses that line only, and the next result begins a line of its own."""
    path = tmp_path_factory.getbasetemp() / "cut.jsonl"
    path.unlink(missing_ok=True)
    with KeyedStore(path) as store:
        for number in range(5):
            store.put(f"k{number}", {"score": number / 3})
    content = path.read_bytes()[:cut]
    path.write_bytes(content)
    with KeyedStore(path) as store:
        kept = [number for number in range(5) if f"k{number}" in store]
        store.put("new", {"score": 7.0})
    assert len(kept) == content.count(b"\n")
    with KeyedStore(path) as store:
        assert store["new"] == {"score": 7.0}
        assert all(store[f"k{number}"] == {"score": number / 3} for number in kept)


def test_a_line_that_is_no_result_is_left_out(tmp_path: Path) -> None:
    """Damage in the middle costs that result only."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"key": "a", "score": 1}\nnoise\n[1]\n{"score": 2}\n{"key": "b", "score": 3}\n')
    with KeyedStore(path) as store:
        assert store["a"] == {"score": 1}
        assert store["b"] == {"score": 3}


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    """The second one says what to do; the first one's end frees the file."""
    path = tmp_path / "s.jsonl"
    with KeyedStore(path), pytest.raises(RunFileError, match="Another run"):
        KeyedStore(path)
    with KeyedStore(path) as store:
        assert "a" not in store


def test_no_number_that_is_none_is_kept(tmp_path: Path) -> None:
    """NaN never decides, and is never written (case S04)."""
    path = tmp_path / "s.jsonl"
    with KeyedStore(path) as store, pytest.raises(ValueError, match="JSON"):
        store.put("a", {"score": float("nan")})
    assert not path.exists() or not path.read_bytes()


def test_a_folder_in_the_place_of_the_file_is_a_typed_error(tmp_path: Path) -> None:
    """What cannot be used is said with its path."""
    (tmp_path / "s.jsonl").mkdir()
    with pytest.raises(RunFileError, match=r"s\.jsonl"):
        KeyedStore(tmp_path / "s.jsonl")
    with KeyedStore(tmp_path / "other.jsonl"):
        pass
