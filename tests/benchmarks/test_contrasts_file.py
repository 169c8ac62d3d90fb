"""The file of contrasts: what is written is read, equal bytes for equal contrasts, faults named by line."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.contrasts.file import check_out, contrast_line, stream_contrasts, write_contrasts
from benchmarks.contrasts.model import CONSTRUCTIONS, Added, Contrast, Made, Screen, Side
from benchmarks.datasets.lines import MAX_LINE_BYTES, Fault
from benchmarks.errors import DatasetError, SettingsError
from retrieval import Passage
from tests.benchmarks.sides import contrast, world

CONTRASTS = world(4, added=3)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
WORDS = TEXT.filter(lambda text: any(sign.isalpha() for sign in text))
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


PASSAGES = st.lists(st.builds(Passage, text=WORDS, title=TEXT, section=TEXT, source_id=TEXT), min_size=1)
MADE = st.builds(
    Made,
    how=TEXT,
    record=TEXT,
    removed=st.none() | TEXT,
    inserted=st.none() | TEXT,
    rank=st.none() | st.integers(1, 100),
    systems=st.lists(TEXT).map(tuple),
    top_score=st.none() | NUMBERS,
)
ANSWERS = st.lists(TEXT, max_size=3).map(tuple)
NAMES = st.lists(TEXT, min_size=2, max_size=4, unique=True)
FLAGS: st.SearchStrategy[tuple[Screen, ...]] = st.lists(st.sampled_from(get_args(Screen)), unique=True).map(tuple)
KINDS = st.sampled_from(CONSTRUCTIONS)


@st.composite
def contrasts(draw: st.DrawFn) -> Contrast:
    passages = {one.id: one for one in draw(PASSAGES)}
    held = st.lists(st.sampled_from(sorted(passages)), unique=True).map(tuple)
    sides = tuple(
        Side(
            id=name,
            question=draw(WORDS),
            answers=draw(ANSWERS),
            sufficient=at == 0,
            passages=draw(held),
            made=draw(MADE),
            support=draw(held),
        )
        for at, name in enumerate(draw(NAMES))
    )
    return Contrast(
        dataset=draw(WORDS),
        split=draw(TEXT),
        construction=draw(KINDS),
        group=draw(WORDS),
        cluster=draw(WORDS),
        passages=passages,
        sides=sides,
        added=tuple(Added(passage=key, flags=draw(FLAGS)) for key in draw(held)),
    )


@settings(max_examples=50)
@given(one=contrasts(), name=st.sampled_from(["c.jsonl", "c.jsonl.gz"]))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, one: Contrast, name: str) -> None:
    """Any text that Unicode allows: line ends, control characters, direction marks, quotes."""
    path = tmp_path_factory.getbasetemp() / f"written-{name}"
    assert write_contrasts(path, [one]) == 1
    assert list(stream_contrasts(path)) == [one]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_equal_contrasts_give_equal_bytes(tmp_path: Path, name: str) -> None:
    """Neither the file's name nor the time stands in it."""
    first, second = tmp_path / name, tmp_path / f"another.{name}"
    write_contrasts(first, CONTRASTS)
    write_contrasts(second, iter(CONTRASTS))
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes().startswith(b"\x1f\x8b") is name.endswith(".gz")
    assert not [part for part in tmp_path.iterdir() if part.name.endswith(".part")]


def line(**changes: Any) -> dict[str, Any]:
    """A good line with some fields changed; `side` changes those of its first side."""
    full: dict[str, Any] = json.loads(contrast_line(CONTRASTS[0]))
    full["sides"][0] |= changes.pop("side", {})
    return full | changes


def one_label(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [side | {"sufficient": True} for side in found["sides"]]


BROKEN: dict[str, tuple[Callable[[], Any], str]] = {
    "a list": (list, "bad_fields"),
    "another format": (lambda: line(format="sufficit-contrast-2"), "bad_fields"),
    "another construction": (lambda: line(construction="invented"), "bad_fields"),
    "an unknown field": (lambda: line(comment="x"), "bad_fields"),
    "no group": (lambda: line(group=""), "bad_fields"),
    "no side": (lambda: line(sides=[]), "bad_fields"),
    "one label": (lambda: line(sides=one_label(line())), "bad_fields"),
    "two sides with one id": (lambda: line(side={"id": "s1"}), "bad_fields"),
    "a label in words": (lambda: line(side={"sufficient": "yes"}), "bad_fields"),
    "a label as a number": (lambda: line(side={"sufficient": 1}), "bad_fields"),
    "no label": (lambda: line(side={"sufficient": None}), "bad_fields"),
    "a place beyond": (lambda: line(side={"passages": [0, 99]}), "bad_fields"),
    "a place below": (lambda: line(side={"passages": [-1]}), "bad_fields"),
    "a place that is none": (lambda: line(side={"passages": [True]}), "bad_fields"),
    "a place in words": (lambda: line(side={"support": ["0"]}), "bad_fields"),
    "an addition beyond": (lambda: line(added=[{"passage": 99}]), "bad_fields"),
    "an unknown flag": (lambda: line(added=[{"passage": 0, "flags": ["odd"]}]), "bad_fields"),
    "a blank question": (lambda: line(side={"question": " \n"}), "bad_fields"),
    "a blank passage": (lambda: line(passages=[{"text": " "}] * 6), "bad_fields"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_line_that_cannot_be_used_is_a_fault_in_its_place(tmp_path: Path, what: str) -> None:
    """Named with its line; what stands before and after it is read."""
    made, kind = BROKEN[what]
    path = tmp_path / "c.jsonl"
    lines = [contrast_line(CONTRASTS[0]), json.dumps(made()), "", contrast_line(CONTRASTS[1])]
    path.write_text("\n".join(lines), encoding="utf-8")
    first, fault, last = stream_contrasts(path)
    assert [first, last] == CONTRASTS[:2]
    assert isinstance(fault, Fault)
    assert (fault.file, fault.line, fault.kind) == ("c.jsonl", 2, kind)
    assert fault.detail


@pytest.mark.parametrize("text", ["{", "\x00", "[" * 10_000, '"\ud800'])
def test_a_line_that_is_no_json_is_a_fault(tmp_path: Path, text: str) -> None:
    """Also half a line, as an interrupted copy leaves it, bytes that are no UTF-8, and endless brackets."""
    path = tmp_path / "c.jsonl"
    path.write_bytes(text.encode("utf-8", "surrogatepass") + b"\n" + contrast_line(CONTRASTS[0]).encode())
    fault, good = stream_contrasts(path)
    assert good == CONTRASTS[0]
    assert isinstance(fault, Fault)
    assert (fault.line, fault.kind) == (1, "not_json")


def test_numbers_that_are_none_are_refused_in_both_directions(tmp_path: Path) -> None:
    """A score of NaN decides nothing: it is neither written nor read."""
    path = tmp_path / "c.jsonl"
    text = json.dumps(line(side={"made": {"how": "retrieved", "record": "r", "top_score": float("nan")}}))
    path.write_text(text)
    (fault,) = stream_contrasts(path)
    assert isinstance(fault, Fault)
    made = Made(how="retrieved", record="r", top_score=float("nan"))
    bad = contrast("g", ("Where?", True, ["a b"]), ("Where?", False, ["c d"]), made=[made, made])
    with pytest.raises(ValueError, match="JSON"):
        contrast_line(bad)


def test_a_repeated_key_is_named_and_the_first_one_counts(tmp_path: Path) -> None:
    """Case R11: every group counts once; another construction of it is another contrast."""
    path = tmp_path / "c.jsonl"
    other = json.dumps(line(construction="deletion"))
    again = json.dumps(line(split="train"))
    path.write_text("\n".join([contrast_line(CONTRASTS[0]), again, other]))
    first, fault, third = stream_contrasts(path)
    assert first == CONTRASTS[0]
    assert isinstance(fault, Fault)
    assert (fault.line, fault.kind) == (2, "repeated_id")
    assert isinstance(third, Contrast)


def test_a_line_that_is_too_long_and_a_damaged_end_are_faults(tmp_path: Path) -> None:
    """Memory stays bounded, and what can be read is read."""
    path = tmp_path / "c.jsonl.gz"
    content = b"x" * (MAX_LINE_BYTES + 1) + b"\n" + contrast_line(CONTRASTS[0]).encode() + b"\n"
    path.write_bytes(gzip.compress(content)[:-8])
    found = list(stream_contrasts(path))
    assert [one.kind for one in found if isinstance(one, Fault)] == ["line_too_long", "file_damaged"]
    assert CONTRASTS[0] in found


@pytest.mark.parametrize("error", [RuntimeError("broken"), KeyboardInterrupt(), OSError("disk full")])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: BaseException) -> None:
    """There is a whole file or none, whatever went wrong half way."""
    path = tmp_path / "c.jsonl"
    write_contrasts(path, CONTRASTS[:2])
    before = path.read_bytes()

    def failing() -> Iterator[Contrast]:
        yield CONTRASTS[3]
        raise error

    with pytest.raises(DatasetError if isinstance(error, OSError) else type(error)):
        write_contrasts(path, failing())
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_or_read_is_said(tmp_path: Path) -> None:
    """With what to do; a missing folder is made."""
    assert write_contrasts(tmp_path / "new" / "folder" / "c.jsonl", CONTRASTS) == 4
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path, tmp_path / "file" / "c.jsonl"):
        with pytest.raises(DatasetError, match="--out another file"):
            write_contrasts(place, CONTRASTS)
    with pytest.raises(DatasetError, match="Cannot read"):
        list(stream_contrasts(tmp_path / "absent.jsonl"))


def test_what_would_be_lost_is_refused_before_any_work(tmp_path: Path) -> None:
    """An input, under whatever name; a device; a folder; a place under a file."""
    data = tmp_path / "data.jsonl"
    data.write_text("mine")
    (tmp_path / "link.jsonl").symlink_to(data)
    for own in (data, tmp_path / "link.jsonl"):
        with pytest.raises(SettingsError, match="read by this command"):
            check_out(own, inputs=[data])
    for place in (Path(os.devnull), tmp_path, data / "c.jsonl"):
        with pytest.raises(DatasetError, match="--out"):
            check_out(place, inputs=[data])
    check_out(tmp_path / "new" / "c.jsonl", inputs=[data, tmp_path / "absent"])
    assert data.read_text() == "mine"
