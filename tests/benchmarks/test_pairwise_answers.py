"""Shared answers on disk: whole or absent, for any number of processes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from benchmarks.errors import RunFileError
from benchmarks.pairwise.answers import FolderAnswers
from rinse.baselines.answers import SharedAnswer

ANSWER = SharedAnswer(text="the é ferry", tokens=("the", " é"), logprobs=(-0.1, -2.5e-17), seconds=1.25)
KEY = "ab" * 32


def test_what_was_kept_comes_back_to_the_last_digit_in_another_run(tmp_path: Path) -> None:
    """A rerun must read the very answer that it would have generated."""
    FolderAnswers(tmp_path / "new folder").put(KEY, ANSWER)
    assert FolderAnswers(tmp_path / "new folder").get(KEY) == ANSWER
    assert FolderAnswers(tmp_path / "new folder").get("cd" * 32) is None


@pytest.mark.parametrize("content", [b"", b'{"text": "th', b"[]", b'{"text": 1}', b"\xff\xfe"])
def test_a_file_that_holds_no_answer_is_absent_and_replaced(tmp_path: Path, content: bytes) -> None:
    """A full disk or another program may have left it; it must end no run and give no figure."""
    answers = FolderAnswers(tmp_path)
    answers.put(KEY, ANSWER)
    (file,) = tmp_path.rglob("*.json")
    file.write_bytes(content)
    assert answers.get(KEY) is None
    answers.put(KEY, ANSWER)
    assert answers.get(KEY) == ANSWER


def test_writers_of_one_answer_disturb_no_reader(tmp_path: Path) -> None:
    """Two processes may generate the same answer at once: a reader sees it whole or not at all."""
    answers = FolderAnswers(tmp_path)
    answers.put(KEY, ANSWER)

    def write() -> None:
        for _ in range(50):
            answers.put(KEY, ANSWER)

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    seen = [answers.get(KEY) for _ in range(200)]
    for writer in writers:
        writer.join()
    assert set(seen) == {ANSWER}
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    """A file in its place is a typed error with the path, for reading and for writing."""
    (tmp_path / "answers").write_text("")
    with pytest.raises(RunFileError, match="answers"):
        FolderAnswers(tmp_path / "answers").put(KEY, ANSWER)
    with pytest.raises(RunFileError, match="answers"):
        FolderAnswers(tmp_path / "answers").get(KEY)


def test_no_number_that_is_none(tmp_path: Path) -> None:
    """NaN never gets into a file."""
    broken = SharedAnswer(text="", tokens=(), logprobs=(float("nan"),), seconds=0.0)
    with pytest.raises(ValueError, match="JSON"):
        FolderAnswers(tmp_path).put(KEY, broken)
    assert not list(tmp_path.rglob("*.json"))
