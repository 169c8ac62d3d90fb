"""What a stream is made of: halves that share nothing, and one draw for one seed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.coverage.layout import StreamOptions, depends_on, lay_out, may_ask
from benchmarks.coverage.stream import Ask
from benchmarks.datasets import load_records
from benchmarks.errors import DatasetError, SettingsError
from tests.benchmarks.coverage_towns import write_records

TOWNS = frozenset({"towns"})


@pytest.fixture
def options(tmp_path: Path) -> StreamOptions:
    return StreamOptions(records=(write_records(tmp_path / "towns.jsonl"),), questions=4, seed=3)


def test_the_fit_and_the_report_share_no_group(options: StreamOptions) -> None:
    """A dataset of which there is one file is divided by groups: nothing is judged that bars were chosen on."""
    records = load_records(options.records).records
    fit, report = (
        {record.group for record in records if may_ask(record, replace(options, halved=TOWNS, half=half))}
        for half in ("fit", "report")
    )
    assert fit
    assert report
    assert not fit & report
    assert fit | report == {record.group for record in records if may_ask(record, options)}


def test_one_seed_gives_one_stream_in_one_world(options: StreamOptions) -> None:
    """Two runs on the same input meet the same questions, pages and moments."""
    one, other = lay_out(options), lay_out(options)
    assert one.way == other.way
    assert one.world == other.world
    assert _stream(replace(options, seed=4)) != one.way.stream


def test_what_a_stream_depends_on_is_told_by_content(options: StreamOptions) -> None:
    """A file that was changed is not taken for the one that a run was made with."""
    told = depends_on(options)
    (file,) = options.records
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows[:-1]))
    assert depends_on(options)["records"] != told["records"]


def test_a_file_that_is_not_there_is_named(options: StreamOptions, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"Cannot read .*none\.jsonl.*Name a file that is there"):
        depends_on(replace(options, records=(tmp_path / "none.jsonl",)))


def test_a_stream_without_halves_is_refused() -> None:
    with pytest.raises(SettingsError, match="halves"):
        StreamOptions(records=(), questions=3)


def _stream(options: StreamOptions) -> tuple[Ask, ...]:
    return lay_out(options).way.stream
