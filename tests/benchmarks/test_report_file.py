"""Writing a report: found out early whether it can be, never half, never in the way of the figures."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.cli import app
from benchmarks.errors import RunFileError, SettingsError
from benchmarks.report.figures import digits, interval, number
from benchmarks.report.page import LONGEST, Page, Section, Text, page_html, require_report, shown, write_page
from benchmarks.report.pareto import front
from benchmarks.report.replayed import fixed_calls
from tests.benchmarks.episodes_world import world, write_run

SMALL = Page(title="A small report", lead=[Text(paragraphs=["One & two"])], sections=[])


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """No half-written page, and nothing left beside it."""
    file = tmp_path / "report.html"
    file.write_text("old", encoding="utf-8")
    write_page(SMALL, file)
    assert file.read_text(encoding="utf-8") == page_html(SMALL)
    assert "One &amp; two" in page_html(SMALL)
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_cannot_be_written_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="Cannot write the report"):
        write_page(SMALL, tmp_path / "missing" / "report.html")
    with pytest.raises(RunFileError, match="folder that exists"):
        require_report(tmp_path / "missing" / "report.html")
    with pytest.raises(RunFileError, match="folder that exists"):
        require_report(tmp_path)


def test_without_its_libraries_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The libraries are an extra: most people never make a report."""
    monkeypatch.setattr(
        "benchmarks.report.page.find_spec",
        lambda name: None if name == "matplotlib" else importlib.util.find_spec(name),
    )
    with pytest.raises(SettingsError, match=r"needs matplotlib.*pip install 'sufficit\[report\]'"):
        require_report(tmp_path / "report.html")


def test_the_command_writes_a_report_beside_its_figures(tmp_path: Path) -> None:
    """Figures go to stdout as ever."""
    run = write_run(tmp_path / "toy.run.jsonl", world(4))
    file = tmp_path / "report.html"
    arguments = ["replay", str(run), "--policy", "never,fixed-2", "--draws", "20", "--html", str(file), "--json"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith('{"benchmark": "replay"')
    text = file.read_text(encoding="utf-8")
    assert "<h2" in text
    assert str(tmp_path) not in text


def test_the_command_refuses_before_it_measures(tmp_path: Path) -> None:
    """Minutes of replay are not lost to a folder that is not there."""
    done = CliRunner().invoke(app, ["replay", str(tmp_path / "no.run"), "--html", str(tmp_path / "no" / "r.html")])
    assert done.exit_code == 1
    assert "folder that exists" in done.stderr


def test_long_and_hidden_text_is_tamed() -> None:
    """A name of a dataset may be anything that a file can hold."""
    assert shown("a\u202eb\x00c\nd\ud800") == "abc d\ufffd"
    assert len(shown("a" * 10_000)) == LONGEST + 1


def test_sections_are_headed_and_numbered() -> None:
    text = page_html(Page(title="T", lead=[], sections=[Section(title="<i>", blocks=[])]))
    assert '<h2 id="s1">&lt;i&gt;</h2>' in text
    assert '<a href="#s1">&lt;i&gt;</a>' in text


def test_figures_are_shown_as_people_write_them() -> None:
    """A true minus, no minus before a zero, a dash for what is undefined or not finite (case E02)."""
    assert digits(-0.1234) == "\N{MINUS SIGN}0.123"
    assert digits(-0.0001) == "0.000"
    assert digits(0.625, 1, percent=True) == "62.5"
    assert digits(number({"a": float("nan")}, "a")) == digits(None)
    assert number({"a": True}, "a") is None
    assert interval({"a_lo": -1.0, "a_hi": 2.0}, "a", 1) == "[\N{MINUS SIGN}1.0, 2.0]"
    assert interval({"a_lo": None, "a_hi": 2.0}, "a") == ""


def test_the_front_holds_what_nothing_beats() -> None:
    """Equal calls: the better one; equal figures: the cheaper one."""
    policies = [("a", 1.0, 50.0), ("b", 1.0, 40.0), ("c", 2.0, 50.0), ("d", 3.0, 60.0), ("e", 4.0, 55.0)]
    assert [name for name, _, _ in front(policies)] == ["a", "d"]


def test_fixed_numbers_of_calls_are_told_by_name() -> None:
    assert [fixed_calls(name) for name in ("single", "fixed-6", "fixed-x", "gated-6")] == [1, 6, None, None]
