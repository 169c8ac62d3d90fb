"""What strangers wrote reaches a terminal as plain text, and files as UTF-8."""

from __future__ import annotations

import io
import json
import unicodedata
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

from agent.cli import app
from agent.plain import plain, plain_line
from agent.show import show_search
from agent.trace import load_trace
from agent.wire import json_line
from retrieval import Passage
from tests.fakes import agent, answer_at, tier

EVIL = "a\x1b[31mb\x1b]0;own\x07c\x00d\u202ee\u2066f\x9b2Jg\x85h\rAnswer: no [bold]i[/bold] :bomb: \udcff"
FORBIDDEN = set("\x1b\x07\x00\u202e\u2066\x9b\x85\r\udcff")
runner = CliRunner()


@given(st.text())
def test_plain_text_steers_no_terminal(text: str) -> None:
    """No control character but new lines, no override of direction, nothing that UTF-8 lacks; stable."""
    shown = plain(text)
    shown.encode("utf-8")
    assert all(unicodedata.category(sign) not in {"Cc", "Cs"} for sign in shown if sign != "\n")
    assert not set(shown) & {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B)}
    assert plain(shown) == shown
    assert len(plain_line(text).splitlines()) <= 1


def test_what_scripts_need_is_kept() -> None:
    """Joiners of Persian and of emoji are no trick."""
    assert plain("می\u200cخواهم 👩\u200d🔬 é\n中") == "می\u200cخواهم 👩\u200d🔬 é\n中"
    assert plain("one\r\ntwo\tthree") == "one\ntwo    three"


async def test_a_hostile_passage_and_question_are_shown_as_text(tmp_path: Path) -> None:
    """In the table, the answer and the citations; live and from the trace; markup and emoji codes stay letters."""
    found = Passage(text=EVIL, title=EVIL, section=EVIL, url=f"https://x.example/{EVIL}")
    out = io.StringIO()
    file = tmp_path / "evil.jsonl"
    await show_search(
        agent(tier("local", [found]), policy=answer_at(1.0)),
        EVIL,
        console=Console(file=out, width=1000),
        trace=file,
    )
    recorded = runner.invoke(app, ["trace", "show", str(file), "--passages"], env={"COLUMNS": "1000"})
    assert recorded.exit_code == 0, recorded.output
    for shown in (out.getvalue(), recorded.stdout):
        assert not set(shown) & FORBIDDEN
        assert "Answer: a" in shown
        assert shown.count("[bold]i[/bold] :bomb:") >= 5
        assert not any(line.startswith("Answer: no") for line in shown.splitlines())


def test_a_message_about_a_hostile_file_is_plain(tmp_path: Path) -> None:
    done = runner.invoke(app, ["trace", "show", str(tmp_path / "a\x1b[31m\u202eb")])
    assert done.exit_code == 1
    assert not set(done.stderr) & FORBIDDEN


async def test_surrogates_neither_stop_a_search_nor_break_its_trace(tmp_path: Path) -> None:
    """A question from argv and the texts of a plug-in's tier may hold what UTF-8 cannot; JSON escapes it."""
    found = Passage(text="Text \udcff of\u2028two\x85lines.", title="\ud800", source_id="\udfff")
    folder = tmp_path / "traces"
    folder.mkdir()
    result = await agent(tier("local", [found]), policy=answer_at(1.0)).run("Who is \udcff?", trace=folder)
    assert not result.degraded
    recorded = load_trace(next(folder.iterdir()))
    assert (recorded.problems, recorded.question) == ((), "Who is \udcff?")
    assert recorded.passages[found.id] == found


def test_json_is_utf_8_and_exact() -> None:
    data = {"text": "é\u202e\x1b\udcff\ud800"}
    assert json.loads(json_line(data).encode("utf-8")) == data
    assert "é" in json_line(data)


def test_a_question_that_is_no_utf_8_is_made_so_at_the_door(tmp_path: Path) -> None:
    """An argument in another encoding: one replacement character a byte."""
    file = tmp_path / "passages.jsonl"
    file.write_text('"Ada Lovelace was born in London."\n')
    done = runner.invoke(app, ["score", "--question", "Who is \udcff Ada?", "--passages", str(file), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["question"] == "Who is \ufffd Ada?"
