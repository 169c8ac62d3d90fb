"""Downloads that end whole and as expected, resumed where they stopped. A real server on this machine."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.datasets.download import Fetched, Patience
from benchmarks.datasets.transfer import Partial, Retry, read_answer
from benchmarks.errors import SourceChangedError, SourceUnavailableError
from tests.benchmarks.fileserver import (
    DATA,
    OTHER,
    SHA256,
    UNKNOWN,
    fetch,
    give,
    say,
    serving,
    toy_source,
    unpublished,
)


def test_a_file_is_fetched_once(tmp_path: Path) -> None:
    """The second command finds the right file and asks for nothing."""
    with serving(give(DATA)) as server:
        first = fetch(toy_source(server), tmp_path)
        second = fetch(toy_source(server), tmp_path)
    assert first.path.read_bytes() == DATA
    assert (first.resumed_from, second.resumed_from) == (0, None)
    assert (first.sha256, second.sha256, first.recorded) == (SHA256, SHA256, False)
    assert server.ranges == [None]
    assert not list(tmp_path.glob("*.part*"))


def test_a_cut_connection_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Each further request asks for the rest only, of the same version."""
    with serving(give(DATA, cut=100_000), give(DATA, cut=150_000), give(DATA)) as server:
        file = fetch(toy_source(server), tmp_path)
    assert file.path.read_bytes() == DATA
    assert server.ranges == [None, "bytes=100000-", "bytes=250000-"]
    assert server.requests[1]["if-range"] == '"one"'
    assert file.resumed_from == 0, "nothing was here before this command"


def test_retries_are_bounded_and_keep_what_arrived(tmp_path: Path) -> None:
    """A server that never sends it whole: an error after four requests; the next command goes on."""
    with serving(give(DATA, cut=50_000)) as server:
        with pytest.raises(SourceUnavailableError, match=r"Gave up after 4 requests.*same command again"):
            fetch(toy_source(server), tmp_path)
        assert unpublished(tmp_path, part=True)
        server.answers = [give(DATA)]
        file = fetch(toy_source(server), tmp_path)
    assert (file.resumed_from, server.ranges[-1]) == (200_000, "bytes=200000-")
    assert file.path.read_bytes() == DATA


def test_a_server_without_ranges_begins_again(tmp_path: Path) -> None:
    """It answers 200 with all of the file: the first half is written over, not doubled."""
    with serving(give(DATA, cut=300_000), give(DATA, ranges=False)) as server:
        file = fetch(toy_source(server), tmp_path)
    assert server.ranges == [None, "bytes=300000-"]
    assert file.path.read_bytes() == DATA


@pytest.mark.parametrize("if_range", [True, False])
def test_a_file_that_changed_between_two_requests_is_never_spliced(tmp_path: Path, *, if_range: bool) -> None:
    """Whether or not the server honours If-Range: no file of two halves, and none that nobody expects."""
    changed = give(OTHER, etag='"two"', if_range=if_range)
    with serving(give(DATA, cut=100_000), changed) as server:
        file = fetch(toy_source(server, **UNKNOWN), tmp_path / "unknown")
        assert file.path.read_bytes() == OTHER
    with serving(give(DATA, cut=100_000), changed) as server:
        with pytest.raises(SourceChangedError, match=r"sha256 .* by the manifest"):
            fetch(toy_source(server), tmp_path / "known")
        assert unpublished(tmp_path / "known", part=False)


def test_without_a_validator_only_a_checksum_allows_a_range(tmp_path: Path) -> None:
    """Two versions cannot be told apart: with a sha256 the mixture is found and fetched again, else no range."""
    with serving(give(OTHER, etag=None, cut=100_000), give(DATA, etag=None)) as server:
        file = fetch(toy_source(server), tmp_path / "known")
    assert server.ranges == [None, "bytes=100000-", None]
    assert file.path.read_bytes() == DATA
    with serving(give(OTHER, etag=None, cut=100_000), give(DATA, etag=None)) as server:
        file = fetch(toy_source(server, **UNKNOWN), tmp_path / "unknown")
    assert server.ranges == [None, None]
    assert file.path.read_bytes() == DATA


def test_416_means_complete_only_if_the_length_says_so(tmp_path: Path) -> None:
    """All bytes were here and the process was killed before the name was given; or the file is a shorter one."""
    with serving(give(DATA, cut=200_000)) as server:
        with pytest.raises(SourceUnavailableError):
            fetch(toy_source(server), tmp_path, Patience(waits=()))
        part = tmp_path / "toy.json.part"
        part.write_bytes(DATA)
        server.answers = [give(DATA)]
        file = fetch(toy_source(server), tmp_path)
        assert (file.resumed_from, file.path.read_bytes()) == (len(DATA), DATA)
        assert server.ranges == [None, f"bytes={len(DATA)}-"]
    with serving(give(DATA, cut=200_000), say(416, {"Content-Range": "bytes */12"}), give(DATA)) as server:
        assert fetch(toy_source(server), tmp_path / "again").path.read_bytes() == DATA
        assert server.ranges == [None, "bytes=200000-", None]


@pytest.mark.parametrize("content_range", ["bytes 5-400000/400001", "bytes */400001", "chapters 1-2", ""])
def test_a_wrong_content_range_is_not_believed(tmp_path: Path, content_range: str) -> None:
    """A 206 whose bytes belong elsewhere: begin again."""
    wrong = say(206, {"Content-Range": content_range}, OTHER[:1000])
    with serving(give(DATA, cut=200_000), wrong, give(DATA)) as server:
        assert fetch(toy_source(server), tmp_path).path.read_bytes() == DATA
    assert server.ranges == [None, "bytes=200000-", None]


def test_a_content_length_that_is_missing_or_too_large(tmp_path: Path) -> None:
    """Missing: the end of the connection is the end. More than comes: asked again, bounded, never published."""
    with serving(give(DATA, length=None)) as server:
        assert fetch(toy_source(server), tmp_path / "a").path.read_bytes() == DATA
    with serving(give(DATA, length=500_000, ranges=False)) as server:
        with pytest.raises(SourceUnavailableError, match="Gave up after 4 requests"):
            fetch(toy_source(server, **UNKNOWN), tmp_path / "b")
        assert unpublished(tmp_path / "b", part=True)


def test_a_file_that_a_person_put_there_is_taken(tmp_path: Path) -> None:
    """The manual way works: with the right content nothing is asked; another one is replaced."""
    (tmp_path / "toy.json").write_bytes(DATA)
    with serving(give(DATA)) as server:
        assert fetch(toy_source(server), tmp_path).resumed_from is None
        (tmp_path / "toy.json").write_bytes(OTHER)
        assert fetch(toy_source(server), tmp_path).path.read_bytes() == DATA
    assert server.ranges == [None]


def test_an_unknown_sha256_is_noted_and_holds_from_then_on(tmp_path: Path) -> None:
    """Trust on first use: what the server gives later must be the same file."""
    with serving(give(DATA)) as server:
        file = fetch(toy_source(server, **UNKNOWN), tmp_path)
        assert (file.recorded, file.sha256) == (True, SHA256)
        file.path.unlink()
        server.answers = [give(OTHER)]
        with pytest.raises(SourceChangedError, match=r"an earlier download .*receipt\.json, delete it to accept"):
            fetch(toy_source(server, **UNKNOWN), tmp_path)
        assert unpublished(tmp_path, part=False)
        (tmp_path / "toy.json.receipt.json").unlink()
        assert fetch(toy_source(server, **UNKNOWN), tmp_path).path.read_bytes() == OTHER


def test_a_side_file_that_lies_or_is_broken_costs_a_new_beginning(tmp_path: Path) -> None:
    """Text from the disk is text from outside: nonsense, or a note of another address, is not believed."""
    notes = ["{", '{"url": 3}', json.dumps({"url": "http://else.test/", "etag": '"one"'})]
    for number, note in enumerate(notes):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "toy.json.part").write_bytes(OTHER[:1000])
        (folder / "toy.json.part.json").write_text(note)
        with serving(give(DATA)) as server:
            assert fetch(toy_source(server), folder).path.read_bytes() == DATA
        assert server.ranges == [None]


def test_two_downloads_at_once_fetch_the_file_once(tmp_path: Path) -> None:
    """The second waits for the first and finds the file."""
    found: list[Fetched] = []
    with serving(give(DATA, pause=0.02)) as server:
        entry = toy_source(server)
        threads = [threading.Thread(target=lambda: found.append(fetch(entry, tmp_path))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [file.sha256 for file in found] == [SHA256, SHA256]
    assert {file.resumed_from for file in found} == {0, None}
    assert server.ranges == [None]


@given(
    status=st.sampled_from([100, 200, 204, 206, 304, 404, 416, 500, 503]),
    have=st.integers(0, 1000),
    content_range=st.text("bytes 0123456789-/*", max_size=20) | st.sampled_from(["bytes 7-9/10", "bytes */7"]),
    length=st.text("0123456789- x", max_size=30),
    total=st.none() | st.integers(1, 1000),
)
def test_no_answer_makes_a_file_of_pieces_that_do_not_join(
    status: int, have: int, content_range: str, length: str, total: int | None
) -> None:
    """Whatever the headers say: the body goes to the beginning, or exactly behind what is here, or nowhere."""
    partial = Partial(url="http://toy.test/", etag='"one"', total=total)
    headers = {"content-range": content_range, "content-length": length}
    try:
        answer = read_answer(status, headers, have=have, partial=partial)
    except (Retry, SourceUnavailableError):
        return
    if answer is None:
        assert (status, content_range.strip()) == (416, f"bytes */{have}")
    else:
        assert answer.start == (have if status == 206 else 0)
        assert status in {200, 206}
        assert total is None or status == 200 or answer.total == total
