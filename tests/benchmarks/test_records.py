"""Files of records: told by their content, read to the end, nothing dropped silently (case R11)."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.datasets import (
    Fault,
    GoldPassage,
    Record,
    document,
    load_questions,
    load_records,
    stream_records,
)
from benchmarks.datasets.formats import UNDERSTOOD, recognise
from benchmarks.datasets.reading import fault_counts
from benchmarks.errors import DatasetError
from tests.benchmarks.official_files import (
    HILL,
    LAKE,
    MIRNA,
    array,
    articles,
    asked,
    hotpot,
    iirc,
    iirc_question,
    lines,
    musique,
    squad,
    two_wiki,
)

NONE = {"type": "none"}


def ours(name: str = "q1", **changes: Any) -> dict[str, Any]:
    """A line of our own form."""
    full = {
        "id": name,
        "dataset": "toy",
        "split": "dev",
        "question": "Which river feeds the lake?",
        "answers": ["Mirna"],
        "answerable": True,
        "passages": [{"id": "p", "title": "Mirna", "text": MIRNA, "is_support": True}],
        "group": "g1",
    }
    return {**full, **changes}


FILES: dict[str, Callable[[Path], Path]] = {
    "normalised": lambda path: lines(path, ours("a"), ours("b")),
    "hotpotqa": lambda path: array(path, hotpot("a"), hotpot("b")),
    "2wikimultihopqa": lambda path: array(path, two_wiki("a"), two_wiki("b")),
    "musique": lambda path: lines(path, musique("a"), musique("b")),
    "squad": lambda path: articles(path, squad(asked("a")), squad(asked("b"), title="Hill")),
    "iirc": lambda path: array(path, iirc(iirc_question("a", NONE)), iirc(iirc_question("b", NONE))),
}


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("packed", [False, True])
def test_every_format_is_told_by_its_content(tmp_path: Path, form: str, *, packed: bool) -> None:
    """Neither the suffix nor gzip nor a byte order mark nor a broken first entry hides it."""
    content = b"\xef\xbb\xbf" + FILES[form](tmp_path / "plain").read_bytes()
    path = tmp_path / "a.bin"
    path.write_bytes(gzip.compress(content) if packed else content)
    assert recognise(path) == form
    assert [item.id for item in stream_records(path) if isinstance(item, Record)] == ["a", "b"]


def test_every_understood_format_is_tested_here() -> None:
    """A new format has to join the tests of this file."""
    assert FILES.keys() == UNDERSTOOD.keys()


@pytest.mark.parametrize(
    "content",
    ["", "  \n", "{}", "[]", "[1, 2]", '{"data": []}', '{"a": [1]}\n{"b": 2}', "PK\x03\x04", "[" * 100_000],
)
def test_an_unknown_format_is_one_error_that_lists_what_is_understood(tmp_path: Path, content: str) -> None:
    """Also for a file that is empty, an archive, or made to overflow a recursive parser."""
    path = tmp_path / "strange.json"
    path.write_text(content)
    with pytest.raises(DatasetError, match=r"strange\.json .*HotpotQA.*SQuAD.*our own"):
        list(stream_records(path))


@pytest.mark.parametrize("broken", [{"_id": "x"}, 7, [], None, {**hotpot("x"), "context": [["T"]]}])
def test_a_broken_entry_is_a_fault_in_its_place(tmp_path: Path, broken: Any) -> None:
    """First, last or in between: its neighbours are read."""
    path = array(tmp_path / "hotpot.json", broken, hotpot("a"), broken, hotpot("b"), broken)
    loaded = load_records([path])
    assert [record.id for record in loaded.records] == ["a", "b"]
    assert [(fault.line, fault.kind) for fault in loaded.faults] == [(n, "bad_fields") for n in (1, 3, 5)]


@pytest.mark.parametrize("first", ["{", "[1, 2]", "null", "\x00"])
def test_a_broken_first_line_does_not_hide_the_format(tmp_path: Path, first: str) -> None:
    """It is counted, as any other."""
    path = tmp_path / "m.jsonl"
    path.write_text(f"{first}\n{json.dumps(musique())}\n")
    loaded = load_records([path])
    assert len(loaded.records) == 1
    assert [fault.line for fault in loaded.faults] == [1]


@given(st.data())
def test_a_cut_document_gives_what_came_before_and_one_fault(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A download that broke off must not look like a small dataset, at whatever byte it broke."""
    form = data.draw(st.sampled_from(["hotpotqa", "2wikimultihopqa", "squad", "iirc"]))
    path = tmp_path_factory.getbasetemp() / "cut.json"
    whole = FILES[form](path).read_bytes()
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    try:
        items = list(stream_records(path))
    except DatasetError:
        return  # cut before the first entry's end: nothing tells what it was
    *records, fault = items
    assert [record.id for record in records if isinstance(record, Record)] == ["a", "b"][: len(records)]
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.line) == ("file_damaged", len(records) + 1)


@given(st.sampled_from(sorted(FILES)), st.data())
def test_whatever_a_file_holds_only_the_one_error_is_raised(
    tmp_path_factory: pytest.TempPathFactory, form: str, data: st.DataObject
) -> None:
    """Files are untrusted: bytes of a good file are replaced by any others."""
    path = tmp_path_factory.getbasetemp() / "any.bin"
    whole = FILES[form](path).read_bytes()
    begin, end = sorted(data.draw(st.tuples(*[st.integers(0, len(whole))] * 2)))
    path.write_bytes(whole[:begin] + data.draw(st.binary(max_size=12)) + whole[end:])
    with suppress(DatasetError):
        assert all(isinstance(item, Record | Fault) for item in stream_records(path))


def test_a_truncated_archive_of_a_document_is_a_fault(tmp_path: Path) -> None:
    """The compressed data may end where the document does not."""
    path = array(tmp_path / "h.json", *(hotpot(f"{n * 7919:x}") for n in range(800)))
    packed = gzip.compress(path.read_bytes())
    path.write_bytes(packed[: len(packed) // 2])
    loaded = load_records([path])
    assert 0 < len(loaded.records) < 800
    assert [fault.kind for fault in loaded.faults] == ["file_damaged"]


def test_an_endless_entry_ends_the_file_in_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came before it is kept, and the fault says that the rest was not read."""
    long = hotpot("long", question="x" * 400_000)
    path = array(tmp_path / "h.json", *(hotpot(str(n)) for n in range(300)), long, hotpot("after"))
    monkeypatch.setattr(document, "MAX_ENTRY_BYTES", 200_000)
    loaded = load_records([path])
    assert len(loaded.records) == 300
    assert [(fault.line, fault.kind) for fault in loaded.faults] == [(301, "entry_too_large")]


def test_a_deep_entry_ends_the_file(tmp_path: Path) -> None:
    """Nesting without end costs parsers memory or the stack; no dataset needs it."""
    path = tmp_path / "h.json"
    path.write_text(f'[{json.dumps(hotpot("a"))}, {{"_id": {"[" * 100_000}')
    loaded = load_records([path])
    assert len(loaded.records) == 1
    assert [(fault.line, fault.kind) for fault in loaded.faults] == [(2, "entry_too_large")]


def test_a_repeated_id_counts_once_within_and_across_files(tmp_path: Path) -> None:
    """Case R11: the first one is kept, each repeat is named with the place of both."""
    one = array(tmp_path / "one.json", hotpot("a"), hotpot("b"), hotpot("a"))
    two = array(tmp_path / "two_fullwiki.json", hotpot("a"))
    three = lines(tmp_path / "three.jsonl", ours("x"), ours("b", dataset="hotpotqa"))
    loaded = load_records([one, two, three])
    assert [(record.dataset, record.id) for record in loaded.records] == [
        ("hotpotqa", "a"),
        ("hotpotqa", "b"),
        ("hotpotqa_fullwiki", "a"),
        ("toy", "x"),
    ]
    assert [(fault.file, fault.line, fault.kind) for fault in loaded.faults] == [
        ("one.json", 3, "repeated_id"),
        ("three.jsonl", 2, "repeated_id"),
    ]
    assert "one.json" in loaded.faults[1].detail


def test_our_own_lines_keep_what_contrasts_need(tmp_path: Path) -> None:
    """Hop answers of both kinds, the article as cluster, one passage for two copies of a text."""
    passages = [
        {"title": "Lake", "text": LAKE, "is_support": False},
        {"title": "Lake again", "text": LAKE + " ", "is_support": True},
        {"title": "Mirna", "text": MIRNA, "is_support": True},
        {"title": "Hill", "text": "  "},
    ]
    meta = {
        "article": "A",
        "question_decomposition": [{"answer": "Mirna", "paragraph_support_idx": 2}],
        "evidences": [["Mirna", "feeds", "the lake"]],
    }
    (record,) = load_records([lines(tmp_path / "o.jsonl", ours(passages=passages, meta=meta))]).records
    assert [(one.support, one.hop_answers) for one in record.passages] == [
        (True, ()),
        (True, ("Mirna", "the lake")),
    ]
    assert record.cluster == "toy:A"


def test_official_records_are_questions_too(tmp_path: Path) -> None:
    """`quick --questions` takes them: gold passages, group, answers; faults stay faults."""
    path = array(tmp_path / "dev.json", hotpot(), hotpot(), hotpot("h2", answer=None))
    loaded = load_questions(path)
    (question,) = loaded.questions
    (record,) = load_records([path]).records
    assert question.support == tuple(
        GoldPassage(passage_id=one.passage.id, title=one.passage.title) for one in record.support
    )
    assert (question.id, question.split, question.group) == ("h1", "dev", "hotpotqa:h1")
    assert [fault.kind for fault in loaded.faults] == ["repeated_id", "no_label"]


def test_faults_are_summed_by_file_and_kind_with_an_example(tmp_path: Path) -> None:
    """A test file of seven thousand unlabelled questions must not fill a report with as many lines."""
    path = array(tmp_path / "dev.json", hotpot("a", answer=None), hotpot("b", answer=None), {"_id": ""})
    array(path, *json.loads(path.read_text()), hotpot("c", context=[["Hill", [HILL]]]))
    counts = fault_counts(load_records([path]).faults)
    assert [(row["kind"], row["count"], row["line"]) for row in counts] == [
        ("no_label", 2, 1),
        ("bad_fields", 1, 3),
    ]
