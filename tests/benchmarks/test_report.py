"""The HTML report of a replay: safe, self-contained, the same each time, and true to its rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from lxml import html

from benchmarks.output import Report
from benchmarks.report.figures import NONE, digits
from benchmarks.report.page import page_html
from benchmarks.report.replayed import replayed
from benchmarks.report.stopping import replay_page
from benchmarks.stopping.board import play
from benchmarks.stopping.context import gain_rows, score_rows
from benchmarks.stopping.curves import curves
from benchmarks.stopping.replaying import MULTIPLICITY
from benchmarks.stopping.roster import Entry
from benchmarks.stopping.rows import make_parts, policy_rows
from benchmarks.stopping.runs import reduced
from policies.fixed import FixedK
from policies.guaranteed import LttThreshold
from policies.never import Never
from policies.oracle import OracleSupport, OracleUtility
from policies.threshold import Band, ScoreThreshold
from policies.utility import Utility
from tests.benchmarks.episodes_world import world

HOSTILE = "<script>alert(1)</script>"
UTILITY = Utility()
ENTRIES = (
    Entry(name="default", policy=Band(answer_at=1.5, abstain_below=-1.0)),
    Entry(name="never", policy=Never()),
    Entry(name="single", policy=FixedK(1)),
    Entry(name="fixed-6", policy=FixedK(6)),
    Entry(name="random", policy=None, note="exact expectation"),
    Entry(name=HOSTILE, policy=ScoreThreshold(answer_at=1.0)),
    Entry(name="ltt-0.20", policy=LttThreshold(part=ScoreThreshold(answer_at=2.5), alpha=0.2, delta=0.05)),
    Entry(name="oracle-support", policy=OracleSupport()),
    Entry(name="oracle-utility", policy=OracleUtility(UTILITY)),
)
"""Nothing that is shipped: what is shown here does not change with it."""


@pytest.fixture(scope="module")
def report() -> Report:
    """Two datasets, one with a hostile name on which no policy can win."""
    episodes = [*world(8, dataset="fine"), *world(4, dataset=HOSTILE, hopeless=True)]
    searches = [reduced(one) for one in episodes]
    plays = {entry.name: play(entry.policy, searches) for entry in ENTRIES if entry.policy is not None}
    parts = make_parts(searches, plays, UTILITY, draws=40, seed=0)
    rows = [
        *score_rows(parts, draws=40, seed=0),
        *(row for part in parts for row in policy_rows(part, ENTRIES)),
        *gain_rows(parts, UTILITY, draws=40, seed=0),
    ]
    settings = {
        "runs": ["a b.run.jsonl"],
        "tune": [],
        "depends_on": [{"corpus": {"name": HOSTILE}}],
        "left_out": {"ltt-0.10": "not certified: too few groups"},
        "utility": {"wrong": 1.0, "call_price": 0.05},
        "draws": 40,
        "multiplicity": MULTIPLICITY,
        "curves": curves(parts, ENTRIES),
    }
    return Report(benchmark="replay", settings=settings, seed=3, rows=rows)


@pytest.fixture(scope="module")
def text(report: Report) -> str:
    return page_html(replay_page(report))


@pytest.fixture(scope="module")
def page(text: str) -> html.HtmlElement:
    return html.document_fromstring(text)


def _texts(found: Sequence[Any]) -> list[str]:
    return [" ".join(str(one.text_content()).split()) for one in found]


def _attributes(page: html.HtmlElement) -> Iterator[tuple[str, str]]:
    for element in page.iter():
        yield from ((str(key), str(value)) for key, value in element.attrib.items())


def test_nothing_runs_and_nothing_is_fetched(page: html.HtmlElement, text: str) -> None:
    """A report is sent to others: opening it must not run code, call anyone, or depend on anything."""
    assert not page.xpath("//script | //link | //iframe | //object | //embed | //img | //*[local-name()='image']")
    names = dict(_attributes(page))
    assert not [name for name in names if name.startswith("on")]
    assert all(value.startswith("#") for name, value in _attributes(page) if name in {"href", "src", "xlink:href"})
    assert "@import" not in text
    assert set(re.findall(r"url\(([^)]*)\)", text)) <= {f"#{key}" for key in page.xpath("//@id")}
    assert set(re.findall(r"https?://[^\"'\s<]+", text)) <= {"http://www.w3.org/2000/svg"}
    policy = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy[0].startswith("default-src 'none'")


def test_names_are_shown_and_never_obeyed(page: html.HtmlElement, text: str) -> None:
    """Names of datasets come from files of others."""
    assert HOSTILE in _texts(page.xpath("//h2"))
    assert "<script" not in text


def test_the_same_replay_gives_the_same_bytes(report: Report, text: str) -> None:
    """A report under version control changes when its figures do, and only then."""
    assert page_html(replay_page(report)) == text


def test_it_can_be_read_without_seeing_it(page: html.HtmlElement) -> None:
    """Language, headings in order, captions, headed rows and columns, described drawings, ids of their own."""
    assert page.get("lang") == "en"
    assert page.xpath("//title/text()")
    levels = [int(one.tag[1]) for one in page.xpath("//h1 | //h2 | //h3")]
    assert levels[0] == 1
    assert set(levels[1:]) == {2}
    assert len(page.xpath("//table")) == len(page.xpath("//table/caption"))
    assert set(page.xpath("//th/@scope")) == {"col", "row", "rowgroup"}
    assert not page.xpath("//th[not(@scope)]")
    drawings = page.xpath("//*[local-name()='svg']")
    keys = page.xpath("//@id")
    assert drawings
    assert len(keys) == len(set(keys))
    for drawing in drawings:
        assert drawing.get("role") == "img"
        assert all(key in keys for key in drawing.get("aria-labelledby").split())


def test_drawings_follow_light_and_dark(page: html.HtmlElement, text: str) -> None:
    """Every colour of a drawing is one of the page, so that it can be seen on both grounds; text is text."""
    styles = page.xpath("//*[local-name()='svg']//@style")
    assert not [style for style in styles if re.search(r"#[0-9a-fA-F]{3,8}\b|rgb\(", style.replace("url(#", ""))]
    assert "prefers-color-scheme: dark" in text
    assert "default" in _texts(page.xpath("//*[local-name()='svg']//*[local-name()='text']"))


def test_a_dataset_that_no_policy_can_win_says_so(page: html.HtmlElement) -> None:
    """Case E04: no rank is read out of noise, and no best is marked there."""
    notices = _texts(page.xpath("//p[@class='notice']"))
    assert len(notices) == 1
    assert "No policy can win here" in notices[0]
    for title, marked in ((HOSTILE, False), ("fine", True)):
        table = page.xpath(
            "//table[starts-with(normalize-space(caption), $title)]", title=f"{title}: every policy"
        )[0]
        assert bool(table.xpath(".//b")) is marked


def test_marks_are_for_policies_without_gold(page: html.HtmlElement) -> None:
    """An oracle is always best; nobody could run it."""
    names = page.xpath("//tr[td/b]/th/text()")
    assert names
    assert not [name for name in names if name.startswith("oracle-")]


def test_undefined_figures_are_dashes(page: html.HtmlElement, report: Report) -> None:
    """Case E02: the risk of a policy that never answers is not zero, and nothing reads NaN or None."""
    table = page.xpath("//table[starts-with(normalize-space(caption), 'fine: every policy')]")[0]
    columns = _texts(table.xpath(".//thead//th"))
    line = table.xpath(".//tr[normalize-space(th)='never']/*")
    assert _texts(line)[columns.index("risk, % ↓")] == NONE
    assert not {"nan", "None", "null", "inf"} & {word.strip("[],") for word in page.text_content().split()}
    assert any(row["policy"] == "never" and row["risk"] is None for row in report.rows)


def test_figures_are_those_of_the_rows(page: html.HtmlElement, report: Report) -> None:
    """The table says what the rows say."""
    rows = {row["policy"]: row for row in report.rows if row["dataset"] == "fine" and row["subset"] == "all"}
    table = page.xpath("//table[starts-with(normalize-space(caption), 'fine: every policy')]")[0]
    for name in ("default", HOSTILE, "oracle-utility"):
        cells = _texts(table.xpath(".//tr[normalize-space(th)=$name]/td", name=name))
        regret = [rows[name][f"regret_utility{end}"] for end in ("", "_lo", "_hi")]
        shown = [digits(float(value or 0.0)) for value in regret]
        assert cells[2].removeprefix("★ ") == f"{shown[0]}[{shown[1]}, {shown[2]}]"


def test_what_was_left_out_is_said_with_the_reason(page: html.HtmlElement, report: Report) -> None:
    table = page.xpath("//table[starts-with(normalize-space(caption), 'Policies that were left out')]")[0]
    assert _texts(table.xpath("./tbody/tr/*")) == ["ltt-0.10", report.settings["left_out"]["ltt-0.10"]]


def test_how_to_repeat_it_is_a_command(page: html.HtmlElement, report: Report) -> None:
    """File names that a shell would split are quoted; folders of the machine stay out."""
    command = _texts(page.xpath("//pre"))[0]
    assert command.startswith("python -m benchmarks replay 'a b.run.jsonl' --policy 'default,never,")
    assert command.endswith(f"--draws 40 --seed {report.seed} --html report.html")


def test_the_score_comes_first_then_the_default(page: html.HtmlElement) -> None:
    """Whether the score ranks at all decides what the rest can mean."""
    assert _texts(page.xpath("//main//h2"))[:4] == [
        "How well the score ranks",
        "The default against its rivals",
        "Mean over datasets",
        HOSTILE,
    ]
    assert "annotated support complete" in page.text_content()


def test_a_replay_without_a_default_is_a_page_too(report: Report) -> None:
    """Searches of a scorer without shipped thresholds: other policies are still compared."""
    rows = [row for row in report.rows if row["policy"] == "never" and row["dataset"] == "fine"]
    bare = replace(report, rows=rows, settings={"runs": ["a.run.jsonl"]})
    page: html.HtmlElement = html.document_fromstring(page_html(replay_page(bare)))
    assert "The default was not compared" in page.text_content()


def test_a_report_without_rows_is_a_page_too(report: Report) -> None:
    empty = replace(report, rows=[], settings={})
    assert replayed(empty) == []
    assert "Nothing was compared" in page_html(replay_page(empty))


def test_a_small_report_is_a_small_file(text: str) -> None:
    """It is meant to be sent around."""
    assert len(text.encode()) < 1_000_000
