"""Downloads that are refused or given up: nothing half written, one typed error that says what to do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.datasets.download import Patience
from benchmarks.errors import DiskError, SourceChangedError, SourceUnavailableError, UnsafeSourceError
from tests.benchmarks.fileserver import (
    DATA,
    KNOWN,
    UNKNOWN,
    drop,
    endless,
    fetch,
    give,
    say,
    serving,
    silent,
    toy_source,
    unpublished,
)


@pytest.mark.parametrize("length", [12, 500_000])
def test_a_length_that_is_not_the_manifests_ends_the_download(tmp_path: Path, length: int) -> None:
    """The file has changed, or the header lies: said before the data are fetched."""
    with serving(give(DATA, length=length, ranges=False)) as server:
        with pytest.raises(SourceChangedError, match=rf"has {length} bytes, the manifest says {len(DATA)}"):
            fetch(toy_source(server), tmp_path)
        assert unpublished(tmp_path, part=False)
    assert len(server.requests) == 1


def test_endless_and_oversized_files_are_stopped_at_the_cap(tmp_path: Path) -> None:
    """Known size or declared maximum: never a byte more on the disk, nothing kept."""
    for fields in (KNOWN, UNKNOWN):
        with serving(endless) as server, pytest.raises(UnsafeSourceError, match="more than the"):
            fetch(toy_source(server, **fields), tmp_path)
        assert unpublished(tmp_path, part=False)
    with serving(give(DATA)) as server, pytest.raises(UnsafeSourceError, match="the manifest allows 1000"):
        fetch(toy_source(server, max_bytes=1000), tmp_path)


def test_a_page_instead_of_the_file_is_told_with_what_to_do(tmp_path: Path) -> None:
    """Hosts serve a page to confirm with status 200: not retried, not kept; the manual way is in the message."""
    page = say(200, {"Content-Type": "text/html"}, b"<!doctype html><p>Too large to scan for viruses")
    zipped = {"name": "toy.zip", "format": "zip", "members": ["toy.json"], "max_unpacked_bytes": 10}
    with serving(page) as server:
        entry = toy_source(server, **UNKNOWN, **zipped, manual="Save it as {path}.")
        where = f"Save it as {tmp_path / 'toy.zip'}."
        with pytest.raises(SourceChangedError, match=r"'text/html' that does not begin like zip") as caught:
            fetch(entry, tmp_path)
        with pytest.raises(SourceChangedError, match="does not begin like json"):
            fetch(toy_source(server, **UNKNOWN), tmp_path)
    assert where in str(caught.value)
    assert len(server.requests) == 2
    assert not [path for path in tmp_path.iterdir() if not path.name.startswith(".")]


def test_redirects_are_followed_and_ask_for_the_same_range(tmp_path: Path) -> None:
    """Official addresses redirect; the range must reach the last of them."""
    hop = say(302, {"Location": "/elsewhere"})
    with serving(hop, give(DATA, cut=1000), hop, give(DATA)) as server:
        assert fetch(toy_source(server), tmp_path).path.read_bytes() == DATA
    assert server.ranges == [None, None, "bytes=1000-", "bytes=1000-"]


@pytest.mark.parametrize("place", ["file:///etc/hostname", "ftp://127.0.0.1/toy", "data:,x"])
def test_redirects_lead_to_http_and_https_only(tmp_path: Path, place: str) -> None:
    """A server cannot make us read our own disk, or loop for ever."""
    with (
        serving(say(301, {"Location": place})) as server,
        pytest.raises(UnsafeSourceError, match=r"is redirected to|Only addresses of http and https"),
    ):
        fetch(toy_source(server), tmp_path)
    with serving(say(307, {"Location": "/again"})) as server:
        with pytest.raises(UnsafeSourceError, match="more than 10 times"):
            fetch(toy_source(server), tmp_path)
        assert len(server.requests) == 11


def test_busy_servers_are_asked_again_and_refusals_are_not(tmp_path: Path) -> None:
    """503 and a connection without an answer: again. 404: an error at once."""
    with serving(say(503), drop, say(429), give(DATA)) as server:
        assert fetch(toy_source(server), tmp_path).path.read_bytes() == DATA
    with serving(say(404)) as server:
        with pytest.raises(SourceUnavailableError, match=r"toy\.json from http.*status 404"):
            fetch(toy_source(server), tmp_path / "none")
        assert len(server.requests) == 1


def test_a_server_that_falls_silent_is_given_up(tmp_path: Path) -> None:
    """A stalled connection is a failed request like any other."""
    with serving(silent) as server, pytest.raises(SourceUnavailableError, match="sent nothing for too long"):
        fetch(toy_source(server, **UNKNOWN), tmp_path, Patience(stall_seconds=0.2, waits=(0.0,)))


def test_a_disk_without_room_is_said_before_the_data_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The free space is compared with what is missing."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: shutil._ntuple_diskusage(9, 8, 1))
    with serving(give(DATA)) as server, pytest.raises(DiskError, match="1 bytes free, 400001 are missing"):
        fetch(toy_source(server), tmp_path)


def test_a_write_that_fails_half_way_is_typed_and_can_be_resumed(tmp_path: Path) -> None:
    """The system refuses to let the file grow: an error with a remedy; what arrived is kept."""
    code = (
        "import resource, sys\nfrom pathlib import Path\n"
        "from benchmarks.datasets.download import download\nfrom benchmarks.datasets.sources import Source\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "download(Source.model_validate_json(sys.argv[1]), Path(sys.argv[2]))\n"
    )
    with serving(give(DATA)) as server:
        entry = toy_source(server)
        command = [sys.executable, "-c", code, entry.model_dump_json(), str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "DiskError" in done.stderr
        assert "File too large. Make room" in done.stderr
        assert fetch(entry, tmp_path).resumed_from == 100_000
    assert (tmp_path / "toy.json").read_bytes() == DATA
