"""The stream of the simulator: repeats, related and new questions are what they are called, by seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.coverage.stream import Ask, clusters, make_stream, ties
from benchmarks.datasets import Record
from benchmarks.errors import SettingsError
from tests.benchmarks.coverage_towns import town_records


@pytest.fixture
def records(tmp_path: Path) -> tuple[Record, ...]:
    return town_records(tmp_path)


def _many(records: tuple[Record, ...], times: int) -> list[Record]:
    """Copies with other ids, groups and passages."""
    found = []
    for number in range(times):
        for record in records:
            moved = tuple(
                replace(one, passage=replace(one.passage, text=f"{one.passage.text} {number}"))
                for one in record.passages
            )
            found.append(
                replace(record, id=f"{record.id}-{number}", group=f"{record.group}-{number}", passages=moved)
            )
    return found


def test_each_kind_is_what_it_is_called(records: tuple[Record, ...]) -> None:
    """A repeat was asked before, a related one shares a tie with what was, a new one none."""
    asked: set[str] = set()
    touched: set[str] = set()
    for ask in make_stream(_many(records, 40), 120, seed=3):
        if ask.kind == "repeat":
            assert ask.record.id in asked
        elif ask.kind == "related":
            assert ask.record.id not in asked
            assert ties(ask.record) & touched
        else:
            assert ask.record.answerable
            assert not ties(ask.record) & touched
        asked.add(ask.record.id)
        touched |= ties(ask.record)


def test_shares_are_those_that_were_asked_for(records: tuple[Record, ...]) -> None:
    """40, 30 and 30 %; where nothing related is left, a new question stands in."""
    kinds = Counter(ask.kind for ask in make_stream(_many(records, 200), 600, seed=0))
    assert 0.35 < kinds["repeat"] / 600 < 0.45
    assert 0.2 < kinds["related"] / 600 < 0.35


def test_the_seed_decides(records: tuple[Record, ...]) -> None:
    many = _many(records, 20)
    assert make_stream(many, 50, seed=1) == make_stream(many, 50, seed=1)
    assert make_stream(many, 50, seed=1) != make_stream(many, 50, seed=2)


def test_early_questions_are_repeated_most(records: tuple[Record, ...]) -> None:
    """Zipf: the question that came first is repeated more often than any that came in the second half."""
    stream = make_stream(_many(records, 200), 600, seed=0)
    repeats = Counter(ask.record.id for ask in stream if ask.kind == "repeat")
    late = {ask.record.id for ask in stream[300:] if ask.kind == "new"}
    assert repeats[stream[0].record.id] > max(repeats[name] for name in late)


def test_too_few_records_are_said(records: tuple[Record, ...]) -> None:
    with pytest.raises(SettingsError, match="too few"):
        make_stream(records, 100, seed=0)


def test_what_hangs_together_is_one_cluster(records: tuple[Record, ...]) -> None:
    """A question, its repeat and another one of its town are resampled as one; another town is not."""
    osterby, tolvik = records[:3], records[3]
    chosen = (osterby[0], tolvik, osterby[2], osterby[0])
    stream = [Ask(number=number, kind="new", record=record) for number, record in enumerate(chosen)]
    found = clusters(stream)
    assert found[0] == found[2] == found[3]
    assert found[1] != found[0]
