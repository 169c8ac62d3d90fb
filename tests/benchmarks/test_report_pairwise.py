"""The HTML report of `pairwise`: safe, self-contained, the same each time, and true to its rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import etree, html

from benchmarks.errors import SettingsError
from benchmarks.output import Report
from benchmarks.report.figures import NONE, digits
from benchmarks.report.page import page_html
from benchmarks.report.pairwise import pairwise_page, write_pairwise_figure, write_pairwise_report
from benchmarks.report.pairwise_repeat import pairwise_command
from benchmarks.report.pairwise_rows import compared
from tests.benchmarks import pairwise_report_rows as made

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def report() -> Report:
    return made.report()


@pytest.fixture(scope="module")
def text(report: Report) -> str:
    return page_html(pairwise_page(report))


@pytest.fixture(scope="module")
def page(text: str) -> html.HtmlElement:
    return html.document_fromstring(text)


def _texts(found: Sequence[Any]) -> list[str]:
    return [" ".join(str(one.text_content()).split()) for one in found]


def _table(page: html.HtmlElement, heading: str) -> html.HtmlElement:
    """The first table of the section of this heading."""
    return page.xpath("//section[normalize-space(h2)=$heading]//table", heading=heading)[0]


SAMPLE = "Headline tests: the groups that every scorer was shown"
WHOLE = "Headline tests: all groups"


def _cells(table: html.HtmlElement, system: str) -> dict[str, str]:
    """The figures of one line by column."""
    columns = _texts(table.xpath("./thead//th"))[1:]
    line = table.xpath("./tbody/tr[starts-with(normalize-space(th), $system)]", system=system)[0]
    return dict(zip(columns, _texts(line.xpath("./td")), strict=True))


def test_nothing_runs_and_nothing_is_fetched(page: html.HtmlElement, text: str) -> None:
    """A report is sent to others: opening it must not run code, call anyone, or depend on anything."""
    assert not page.xpath("//script | //link | //iframe | //object | //embed | //img | //*[local-name()='image']")
    attributes = [(str(key), str(value)) for one in page.iter() for key, value in one.attrib.items()]
    assert not [name for name, _ in attributes if name.startswith("on")]
    assert all(value.startswith("#") for name, value in attributes if name in {"href", "src", "xlink:href"})
    assert "@import" not in text
    assert set(re.findall(r"url\(([^)]*)\)", text)) <= {f"#{key}" for key in page.xpath("//@id")}
    assert set(re.findall(r"https?://[^\"'\s<]+", text)) <= {"http://www.w3.org/2000/svg"}


def test_names_are_shown_and_never_obeyed(page: html.HtmlElement, text: str) -> None:
    """A scorer of one's own is called by what was typed."""
    assert "<script" not in text
    assert [name for name in _texts(page.xpath("//th[@scope='row']")) if name.startswith(made.HOSTILE)]


def test_the_same_rows_give_the_same_bytes(report: Report, text: str, tmp_path: Path) -> None:
    """A report under version control changes when its figures do, and only then. It is written whole."""
    write_pairwise_report(report, tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == text
    assert [one.name for one in tmp_path.iterdir()] == ["r.html"]


def test_it_can_be_read_without_seeing_it(page: html.HtmlElement) -> None:
    """Captions, headed rows and columns, described drawings, ids of their own."""
    assert len(page.xpath("//table")) == len(page.xpath("//table/caption"))
    assert not page.xpath("//th[not(@scope)]")
    drawings = page.xpath("//*[local-name()='svg']")
    keys = page.xpath("//@id")
    assert len(keys) == len(set(keys))
    for drawing in drawings:
        assert all(key in keys for key in drawing.get("aria-labelledby").split())
        assert all(_texts(drawing.xpath("./*[local-name()='title' or local-name()='desc']")))


def test_drawings_follow_light_and_dark(page: html.HtmlElement) -> None:
    """Every colour of a drawing is one of the page."""
    styles = page.xpath("//*[local-name()='svg']//@style")
    assert not [style for style in styles if re.search(r"#[0-9a-fA-F]{3,8}\b|rgb\(", style.replace("url(#", ""))]


def test_every_system_stands_in_the_table_with_its_backbone(page: html.HtmlElement) -> None:
    """Scorers by what they read, cues apart; nobody is left out for a long name or a missing figure."""
    table = _table(page, SAMPLE)
    names = _texts(table.xpath("./tbody/tr[not(@class='group')]/th"))
    assert len(names) == len(made.FIGURES)
    assert "yes-no SmolLM2-135M-Instruct".replace(" ", "") in [name.replace(" ", "") for name in names]
    groups = table.xpath("./tbody")
    assert [len(group.xpath("./tr")) - 1 for group in groups] == [4, 1, 2]
    assert [one.split(":")[0] for one in _texts(table.xpath("./tbody/tr[@class='group']"))] == [
        "Scorers that read question and evidence",
        "Scorers that read a generated answer",
        "Cues",
    ]


def test_the_best_of_a_column_is_marked_equals_and_cues_included(page: html.HtmlElement) -> None:
    """A cue that beats every scorer must not be overlooked, nor one of two equals."""
    table = _table(page, SAMPLE)
    columns = _texts(table.xpath("./thead//th"))
    marked: dict[str, list[str]] = {}
    for line in table.xpath("./tbody/tr[td]"):
        for column, cell in zip(columns[1:], line.xpath("./td"), strict=True):
            if cell.xpath("./b"):
                marked.setdefault(column, []).append(str(line.xpath("./th/text()")[0]))
    assert marked == {
        "mean ↑": ["rinse-small"],
        "worst ↑": ["rinse-small"],
        "fine deletion, 1,200 pairs": ["rinse-small", "p-true"],
        "other question-swap, 1,200 pairs": ["cue-min-idf"],
    }


def test_figures_are_those_of_the_rows(page: html.HtmlElement) -> None:
    """Ours with intervals, times, and the paper's with its backbone."""
    cells = _cells(_table(page, SAMPLE), "yes-no")
    assert cells["mean ↑"] == "0.500[0.450, 0.550]"
    assert cells["worst ↑"] == "0.450[0.400, 0.500]"
    assert cells["mean minus rinse-small’s"] == f"{digits(-0.3)}[{digits(-0.35)}, {digits(-0.25)}]"
    assert cells["ms, median ↓"] == "310"
    assert cells["paper: backbone"] == "1.5B"
    assert cells["paper: mean"] == "0.664[0.660, 0.670]"
    assert cells["paper: worst"] == "0.500"


def test_undefined_figures_are_dashes(page: html.HtmlElement) -> None:
    """Case E02: who failed on a test has no figure there, no mean and no worst, and nothing reads NaN or None."""
    cells = _cells(_table(page, SAMPLE), made.HOSTILE)
    assert {cells[name] for name in ("mean ↑", "worst ↑", "other question-swap, 1,200 pairs")} == {NONE}
    assert cells["paper: mean"] == NONE
    assert not {"nan", "None", "null", "inf"} & {word.strip("[],") for word in page.text_content().split()}


def test_what_was_not_run_stands_apart(page: html.HtmlElement) -> None:
    """Its figures are the paper's alone: in no table or drawing of ours."""
    table = _table(page, "Not run here")
    assert _cells(table, "crag")["weights that are missing"] == "crag-evaluator"
    assert _cells(table, "crag")["paper: mean"] == "0.664[0.660, 0.670]"
    assert not [name for name in _texts(_table(page, SAMPLE).xpath(".//th")) if name.startswith("crag")]
    assert "crag" not in _texts(page.xpath("//*[local-name()='text']"))


def test_each_test_is_drawn_against_chance_and_the_best_cue(page: html.HtmlElement) -> None:
    """The best cue is named; a scorer without a figure is no mark."""
    figures = page.xpath("//section[normalize-space(h2)=$heading]//figure", heading=SAMPLE)
    captions = _texts([one for figure in figures for one in figure.xpath("./figcaption")])
    assert captions == [
        "fine deletion, 1,200 pairs. Best cue: cue-min-idf.",
        "other question-swap, 1,200 pairs. Best cue: cue-min-idf.",
    ]
    names = _texts(figures[1].xpath(".//*[local-name()='text']"))
    assert {"rinse-small", "yes-no", "p-true", "cue-min-idf"} <= set(names)
    assert not [name for name in names if name.startswith("<")]


def test_a_long_name_is_cut_in_a_drawing_and_whole_in_the_table(page: html.HtmlElement) -> None:
    """It neither widens a drawing nor is lost."""
    assert made.LONG in _texts(page.xpath("//th[@scope='row']"))
    assert all(len(one) < 60 for one in _texts(page.xpath("//*[local-name()='svg']//*[local-name()='text']")))


def test_every_section_has_its_drawings(page: html.HtmlElement) -> None:
    """Tests, times, distributions and additions, as many as rows give."""
    counts = {
        _texts(section.xpath("./h2"))[0]: len(section.xpath(".//figure")) for section in page.xpath("//section")
    }
    assert counts[SAMPLE] == counts[WHOLE] == 2
    assert counts["Accuracy against latency"] == 2
    assert counts["Scores of both sides"] == 2
    assert counts["Accuracy against added passages"] == 1


def test_what_was_run_is_said(page: html.HtmlElement) -> None:
    """Settings, versions, machine, failures; the paper's figure for a test made by the same rule."""
    section = page.xpath("//section[normalize-space(h2)='What was run']")[0]
    captions = _texts(section.xpath(".//caption"))
    assert captions == ["Settings", "Versions", "Machine that measured", "What could not be read or measured"]
    assert "not_scored" in section.text_content()
    assert _cells(_table(page, "Beside the paper"), "cue-min-idf")["paper"] == "0.577"


def test_who_ran_out_of_time_is_not_set_beside_whole_tests(page: html.HtmlElement, report: Report) -> None:
    """Its few groups are no figure of all of them; what it read of the sample is one, and the lack is told."""
    assert "Time was up (--minutes)" in page.text_content()
    assert made.HOSTILE in _table(page, SAMPLE).text_content()
    assert made.HOSTILE not in _table(page, WHOLE).text_content()
    late = [{"kind": "not_scored", "system": name} for name in report.settings["scorers"]]
    found = compared(replace(report, failures=late))
    assert [sheet.subset for sheet in found.sheets] == [made.SAMPLE]
    whole = [row for row in report.rows if row.get("subset") != made.SAMPLE]
    alone = replace(report, failures=late, rows=whole)
    assert [sheet.subset for sheet in compared(alone).sheets] == ["all"]


def test_the_command_repeats_the_run(report: Report) -> None:
    """File names that a shell would split are quoted; folders of the machine stay out."""
    command = pairwise_command(report)
    assert command.startswith("python -m benchmarks pairwise --contrasts 'a b.contrasts.jsonl.gz' --scorer ")
    assert command.endswith("--added 0,5,20 --limit-lm 40 --held-out --seed 7 --html report.html")
    more = {"weights": {"crag evaluator": "crag"}, "build": {"retrieval_limit": 30, "additions": 20}}
    command = pairwise_command(replace(report, settings={**report.settings, **more}))
    assert "--retrieval-limit 30 --scorer" in command
    assert "--weights 'crag evaluator=crag' --added" in command
    assert "--additions" not in command


def test_what_is_absent_is_said_with_the_option_that_gives_it(report: Report) -> None:
    """A run of cues and one scorer, without times, additions and distributions, is a page too."""
    rows = [
        {name: value for name, value in row.items() if not name.startswith("ms_")}
        for row in report.rows
        if row.get("subset") == "all" and not row["added"]
    ]
    bare = page_html(pairwise_page(replace(report, rows=rows, settings={"scorers": ["rinse-small"]}, failures=())))
    page: html.HtmlElement = html.document_fromstring(bare)
    told = page.text_content()
    assert "--added 0,5,10,20" in told
    assert "No time of a scorer is known" in told
    assert "no distributions of scores" in told
    assert "Nothing failed." in told
    assert "ms, median ↓" not in told


def test_a_report_without_rows_is_a_page_too(report: Report) -> None:
    empty = replace(report, rows=[], settings={})
    assert compared(empty).sheets == []
    assert "No headline test was measured" in page_html(pairwise_page(empty))


def test_one_figure_stands_alone(report: Report, tmp_path: Path) -> None:
    """For a README: its own size, ground and colours for light and dark, and nothing from elsewhere."""
    file = tmp_path / "figure.svg"
    write_pairwise_figure(report, file)
    first = file.read_bytes()
    root = etree.fromstring(first)
    assert root.tag == f"{SVG}svg"
    assert float(root.get("width", "0")) > 0
    assert "prefers-color-scheme: dark" in (root.findtext(f"{SVG}style") or "")
    assert "rinse-small" in [one.text for one in root.iter(f"{SVG}text")]
    names = set(re.findall(r"var\(--(\w+)\)", first.decode()))
    assert names <= set(re.findall(r"--(\w+):", root.findtext(f"{SVG}style") or ""))
    assert set(re.findall(rb"https?://[^\"'\s<]+", first)) == {b"http://www.w3.org/2000/svg"}
    write_pairwise_figure(report, file)
    assert file.read_bytes() == first


def test_a_figure_without_times_is_a_typed_error(report: Report, tmp_path: Path) -> None:
    """Not an empty drawing in somebody's README."""
    rows = [row | {"ms_p50": None} for row in report.rows]
    with pytest.raises(SettingsError, match="nothing to draw accuracy against latency"):
        write_pairwise_figure(replace(report, rows=rows), tmp_path / "figure.svg")
    assert not list(tmp_path.iterdir())
