"""`python -m benchmarks download`: what it prints, a real kill, and the manifest that is shipped."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from benchmarks.cli import app
from benchmarks.datasets.sources import SOURCES, Source, load_sources
from benchmarks.datasets.transfer import _next_hop
from benchmarks.errors import DatasetError, UnsafeSourceError
from tests.benchmarks.fileserver import DATA, SHA256, UNKNOWN, give, serving, toy_source

RUNNER = CliRunner()


def manifest(source: Source, folder: Path) -> list[str]:
    """The options that make the command read a manifest of this one dataset and write to `folder`."""
    path = folder / "manifest.json"
    path.write_text(f"[{source.model_dump_json()}]")
    return ["download", "toy", "--manifest", str(path), "--to", str(folder)]


def test_the_command_shows_the_licence_first_and_prints_the_paths_for_data(tmp_path: Path) -> None:
    """People read the licence on stderr before the first byte; stdout is the paths, or one JSON object."""
    with serving(give(DATA)) as server:
        arguments = manifest(toy_source(server), tmp_path)
        done = RUNNER.invoke(app, arguments)
        again = RUNNER.invoke(app, [*arguments, "--json"])
    path = tmp_path / "toy" / "toy.json"
    assert done.exit_code == again.exit_code == 0
    assert done.stdout == f"--data {path}\n"
    assert done.stderr.index("licence: CC0-1.0") < done.stderr.index("toy.json")
    result = json.loads(again.stdout)
    assert result | {"files": []} == {"name": "toy", "licence": "CC0-1.0", "data": [str(path)], "files": []}
    (file,) = result["files"]
    assert file == {
        "path": str(path),
        "url": f"{server.address}/toy.json",
        "bytes": len(DATA),
        "sha256": SHA256,
        "sha256_known_before": True,
        "resumed_from": None,
    }


def test_a_sha256_that_was_not_known_is_printed(tmp_path: Path) -> None:
    """Whoever downloads can compare it with what others saw."""
    with serving(give(DATA)) as server:
        done = RUNNER.invoke(app, manifest(toy_source(server, **UNKNOWN), tmp_path))
    assert f"no sha256 was known; noted {SHA256}" in done.stderr


def test_a_failure_is_one_line_and_exit_status_1(tmp_path: Path) -> None:
    """No traceback for what a server does."""
    with serving(give(DATA[:-1])) as server:
        done = RUNNER.invoke(app, manifest(toy_source(server), tmp_path))
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].startswith("error: toy.json from http://")
    assert done.stdout == ""


def test_an_unknown_name_and_none_list_the_names() -> None:
    """Wrong usage is exit status 2 and says what can be asked for."""
    for arguments in (["nope"], []):
        done = RUNNER.invoke(app, ["download", *arguments])
        assert done.exit_code == 2
        unwrapped = " ".join(done.stderr.replace("│", " ").split())
        assert "hotpotqa-distractor-dev, hotpotqa-fullwiki-dev, hotpotqa-train, musique" in unwrapped


def test_the_list_has_every_name_with_its_licence() -> None:
    """For people and, with --json, one object."""
    names = list(load_sources())
    rows = json.loads(RUNNER.invoke(app, ["download", "--list", "--json"]).stdout)["datasets"]
    assert [row["name"] for row in rows] == names
    assert all(row["licence"] and row["homepage"] and row["citation"] for row in rows)
    text = RUNNER.invoke(app, ["download", "--list"]).stdout
    assert all(f"{name}  (" in text for name in names)


def test_kill_9_in_the_middle_and_the_same_command_again(tmp_path: Path) -> None:
    """A real kill of a real process: the second run asks for the rest only, and the bytes are equal."""
    with serving(give(DATA, pause=0.3), give(DATA)) as server:
        options = manifest(toy_source(server), tmp_path)
        command = [sys.executable, "-m", "benchmarks", *options, "--json"]
        first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        part = tmp_path / "toy" / "toy.json.part"
        while not (part.exists() and part.stat().st_size > 65_536):
            assert first.poll() is None, "it ended before it could be killed"
            time.sleep(0.01)
        first.send_signal(signal.SIGKILL)
        first.wait()
        left = part.stat().st_size
        assert not (tmp_path / "toy" / "toy.json").exists()
        second = subprocess.run(command, capture_output=True, text=True, check=True)
    (file,) = json.loads(second.stdout)["files"]
    assert 65_536 < left < len(DATA)
    assert file["resumed_from"] == left
    assert server.ranges == [None, f"bytes={left}-"]
    assert Path(file["path"]).read_bytes() == DATA


def test_the_manifest_that_is_shipped_is_whole() -> None:
    """Every name of the documentation; http only with a sha256; who says what a size and a sha256 are."""
    sources = load_sources()
    assert list(sources) == [
        "hotpotqa-distractor-dev",
        "hotpotqa-fullwiki-dev",
        "hotpotqa-train",
        "musique",
        "2wikimultihopqa",
        "squad2-dev",
        "squad2-train",
        "iirc",
    ]
    for file in (file for source in sources.values() for file in source.files):
        assert file.sha256 is not None or file.url.startswith("https://")
        assert bool(file.checked) == (file.sha256 is not None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "../toy.json"),
        ("url", "file:///etc/hostname"),
        ("sha256", "abc"),
        ("bytes", "12"),
        ("surprise", 1),
        ("members", ["a"]),
    ],
)
def test_a_manifest_that_breaks_its_form_is_refused(tmp_path: Path, field: str, value: object) -> None:
    """A manifest may come from outside: unknown keys, paths as names, other schemes are refused."""
    with serving(give(DATA)) as server:
        entry = json.loads(toy_source(server).model_dump_json(exclude_none=True))
    entry["files"][0][field] = value
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps([entry]))
    with pytest.raises(DatasetError, match="no manifest of datasets"):
        load_sources(path)
    path.write_text(json.dumps(json.loads(SOURCES.read_text())[:1] * 2))
    with pytest.raises(DatasetError, match="repeats a name"):
        load_sources(path)


def test_a_redirect_from_https_to_http_is_refused() -> None:
    """What was asked for over TLS is not taken from an open connection; the other way is fine."""
    with pytest.raises(UnsafeSourceError, match="from https to http: refused"):
        _next_hop(httpx.URL("https://toy.test/a"), "http://toy.test/a")
    assert _next_hop(httpx.URL("http://toy.test/a"), "https://toy.test/b").scheme == "https"
    assert str(_next_hop(httpx.URL("https://toy.test/a/b"), "c")) == "https://toy.test/a/c"
