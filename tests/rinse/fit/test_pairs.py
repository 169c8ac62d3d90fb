"""Files of training pairs, and what is drawn to pad them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.contrasts.file import write_contrasts
from benchmarks.contrasts.model import Contrast, Made, Side
from retrieval import Passage
from rinse.fit import lines
from rinse.fit.errors import PairsError
from rinse.fit.groups import TrainingGroup, TrainingSide
from rinse.fit.padding import Padding
from rinse.fit.pairs import stream_pairs

_PAIR = {"question": "Who built the bridge?", "sufficient": ["Ann built it."], "insufficient": ["It is red."]}


def _write(path: Path, *lines: Any) -> Path:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    content = text.encode("utf-8", "surrogatepass")
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.jsonl.gz"])
def test_both_forms_of_a_users_pair(tmp_path: Path, name: str) -> None:
    """Two sets for one question, two questions for one set; plain and packed."""
    passage = {"text": "The tower is old.", "title": "Tower", "source_id": "t"}
    swap = {"question": "Is it old?", "insufficient_question": "Is it tall?", "passages": [passage]}
    sets, questions = stream_pairs(_write(tmp_path / name, _PAIR, "", swap | {"family": "mine", "group": "g"}))
    assert [(side.question, side.sufficient) for side in questions.sides] == [
        ("Is it old?", True),
        ("Is it tall?", False),
    ]
    assert (
        questions.sides[0].passages
        == questions.sides[1].passages
        == (Passage(text="The tower is old.", title="Tower", source_id="t"),)
    )
    assert (questions.family, questions.group) == ("mine", "g")
    assert (sets.family, sets.group) == ("own", f"{name}:1")
    assert [side.passages[0].text for side in sets.sides] == ["Ann built it.", "It is red."]
    assert list(sets.pairs()) == [(0, 1)]


def test_a_line_of_the_benchmark(tmp_path: Path) -> None:
    """`sufficit fit` and the benchmark read the same files; fields that only the benchmark needs are let be."""
    line = {
        "format": "sufficit-contrast-1", "dataset": "towns", "split": "train", "construction": "native",
        "group": "q1", "cluster": "q1", "passages": [{"text": "Ann built it."}, {"text": "It is red."}],
        "sides": [
            {"id": "a", "question": "Who?", "answers": ["Ann"], "sufficient": True, "passages": [1, 0],
             "made": {"how": "annotated", "record": "q1"}, "support": [0]},
            {"id": "b", "question": "Who?", "sufficient": False, "passages": [1],
             "made": {"how": "removed", "record": "q1"}},
        ],
    }  # fmt: skip
    (group,) = stream_pairs(_write(tmp_path / "contrasts.jsonl", line))
    good, bad = group.sides
    assert (group.family, group.group) == ("towns", "q1")
    assert [passage.text for passage in good.passages] == ["It is red.", "Ann built it."]
    assert good.support == (Passage(text="Ann built it.").id,)
    assert (good.answers, bad.answers) == (("Ann",), ())


def test_what_the_benchmark_writes_is_read(tmp_path: Path) -> None:
    """Two parsers of one format must not drift apart."""
    passages = [Passage(text="Ann built it.", title="Bridge", section="Past"), Passage(text="It is red.")]
    contrast = Contrast(
        dataset="towns",
        split="train",
        construction="deletion",
        group="q1",
        cluster="q1",
        passages={passage.id: passage for passage in passages},
        sides=tuple(
            Side(
                id=str(kept),
                question="Who?",
                answers=("Ann",),
                sufficient=kept == 2,
                passages=tuple(passage.id for passage in passages[-kept:]),
                made=Made(how="removed", record="q1"),
            )
            for kept in (2, 1)
        ),
    )
    write_contrasts(tmp_path / "c.jsonl.gz", [contrast])
    (group,) = stream_pairs(tmp_path / "c.jsonl.gz")
    assert [side.passages for side in group.sides] == [tuple(passages), (passages[1],)]
    assert [side.sufficient for side in group.sides] == [True, False]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{", "Invalid JSON"),
        (_PAIR | {"sufficient": None}, "either"),
        (_PAIR | {"passages": ["x"]}, "either"),
        (_PAIR | {"question": " "}, "question is blank; expected some text"),
        (_PAIR | {"sufficient": [" "]}, r"sufficient\.0\.text is blank"),
        (_PAIR | {"sufficient": [5]}, r"sufficient\.0 must be a text in quotes or"),
        (_PAIR | {"sufficient": "x"}, "sufficient must be a list"),
        (_PAIR | {"family": "a b"}, "family must be letters, digits"),
        (_PAIR | {"question": float("nan")}, "JSON has no NaN"),
        (_PAIR | {"colour": float("inf")}, "JSON has no NaN and no Infinity"),
        ([_PAIR, _PAIR], "this is a JSON list. Write one object a line"),
        ("[", "this is a JSON list"),
        ("\ud800", "not UTF-8"),
        ("a\0b", "no text file"),
        (_PAIR | {"insufficient": [{"title": "no text"}]}, "text"),
        (_PAIR | {"colour": "red"}, "colour"),
        (_PAIR | {"sufficient": ["x"] * 1001}, "1000"),
        ({"format": "sufficit-contrast-1", "dataset": "d", "group": "g", "passages": [], "sides": []}, "needs a"),
    ],
)
def test_a_bad_line_is_named_with_what_was_expected(tmp_path: Path, line: Any, expected: str) -> None:
    """Pairs that were silently left out would change what is fitted."""
    path = _write(tmp_path / "pairs.jsonl", _PAIR, line)
    with pytest.raises(PairsError, match=rf"pairs\.jsonl, line 2: .*{expected}.*Expected a pair such as") as error:
        list(stream_pairs(path))
    assert "\\S" not in str(error.value), "a pattern is no explanation"


def test_files_that_cannot_be_read_are_typed_errors(tmp_path: Path) -> None:
    """Absent, empty, damaged: each with a remedy, none with a traceback of gzip."""
    with pytest.raises(PairsError, match="Cannot read"):
        list(stream_pairs(tmp_path / "absent"))
    with pytest.raises(PairsError, match="empty"):
        list(stream_pairs(_write(tmp_path / "empty.jsonl", "")))
    with pytest.raises(PairsError, match="empty"):
        list(stream_pairs(_write(tmp_path / "blank.jsonl", "", " ", "")))
    with pytest.raises(PairsError, match="Is a directory"):
        list(stream_pairs(tmp_path))
    damaged = _write(tmp_path / "damaged.gz", _PAIR)
    damaged.write_bytes(damaged.read_bytes()[:-9])
    with pytest.raises(PairsError, match="damaged"):
        list(stream_pairs(damaged))


def test_a_line_without_end_is_not_held_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small gzip file may unpack to anything."""
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 1000)
    with pytest.raises(PairsError, match="at most 1000 bytes"):
        list(stream_pairs(_write(tmp_path / "bomb.gz", "x" * 100_000)))


def test_padding_is_of_others_nested_and_keeps_the_label() -> None:
    """Of the same family, none of the group's own, none with an answer; each size holds the smaller one."""
    groups = [
        TrainingGroup(
            family="odd" if number % 2 else "even",
            group=str(number),
            sides=(
                TrainingSide(
                    question="Which?",
                    passages=(Passage(text=f"Note {number} {'gold' * (number == 4)}"),),
                    sufficient=True,
                    answers=("Gold",),
                ),
            ),
        )
        for number in range(12)
    ]
    padding = Padding(groups, seed=3)
    drawn = padding.draw(groups[0], 100)
    assert {passage.text.strip() for passage in drawn} == {"Note 2", "Note 6", "Note 8", "Note 10"}
    assert padding.draw(groups[0], 2) == drawn[:2]
    assert Padding(list(reversed(groups)), seed=3).draw(groups[0], 100) == drawn


def test_nothing_suffices_for_no_question(tmp_path: Path) -> None:
    """A pair whose good side is empty points the wrong way; it is refused with its line, not fitted on."""
    line = {"question": "Who?", "sufficient": [], "insufficient": ["Ann built it."]}
    with pytest.raises(PairsError, match=r"line 1: the set that suffices needs at least one passage\."):
        list(stream_pairs(_write(tmp_path / "pairs.jsonl", line)))
