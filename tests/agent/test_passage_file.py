"""The file of passages of `sufficit score`: what is taken, and what is said of anything else."""

from __future__ import annotations

import gzip
import json
import os
import threading
from pathlib import Path

import pytest

from agent.errors import PassagesError
from agent.passage_file import read_passages
from agent.wire import evidence_json
from retrieval import EvidenceSet, Passage
from rinse.fit import lines


def _file(folder: Path, content: str | bytes, name: str = "passages.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_text_is_enough(tmp_path: Path) -> None:
    """Nobody should have to invent ids: a bare text, an object, and lines of a corpus are passages."""
    content = (
        '"Ann built the bridge."\n\n{"text": "It is red.", "title": "Bridge"}\n'
        '{"id": 7, "text": "It is old.", "aliases": ["x"]}\n{"id": "7", "text": "It is long.", "url": "http://x"}\n'
    )
    first, second, *chunks = read_passages(_file(tmp_path, content))
    assert (first, second) == (
        Passage(text="Ann built the bridge."),
        Passage(text="It is red.", title="Bridge"),
    )
    assert [passage.source_id for passage in chunks] == ["7", "7"]


def test_evidence_of_a_search_is_read_back(tmp_path: Path) -> None:
    """What `ask --json` prints as evidence can be scored as it is: documents stay documents."""
    evidence = EvidenceSet.of(
        [Passage(text="Ann.", source_id="d", section="s"), Passage(text="Bea.", source_id="d")]
    )
    content = "\n".join(map(json.dumps, evidence_json(evidence)))
    assert list(read_passages(_file(tmp_path, gzip.compress(content.encode())))) == list(evidence)


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    """`--passages /dev/stdin`: what was looked at to tell the format is not lost."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=('{"text": "Ann built it."}\n',))
    writer.start()
    assert [passage.text for passage in read_passages(pipe)] == ["Ann built it."]
    writer.join()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b'{"id": "1", "title": "t"}', "line 1: text is missing"),
        (b'{"text": "Ann."}\n{"text": " "}', "line 2: text is blank"),
        (b'{"text": 5}', "line 1: text must be a text in quotes"),
        (b'{"text": NaN}', "line 1: JSON has no NaN"),
        (b'{"text": "Ann.", "title": NaN}', "line 1: JSON has no NaN"),
        (b'[{"text": "Ann."}, {"text": "Bea."}]', "line 1: this is a JSON list"),
        (b'[\n {"text": "Ann."}\n]', "line 1: this is a JSON list"),
        (b"5", "line 1: the line must be one object"),
        (b"Ann built the bridge.", "line 1: Invalid JSON"),
        (b'{"text": "a \\ud800 b"}', "line 1: Invalid JSON"),
        ('{"text": "Café"}'.encode("latin-1"), "line 1: this is not UTF-8"),
        ('{"text": "Ann."}'.encode("utf-16"), "line 1: this is no text file"),
        (gzip.compress(b'{"text": "Ann."}', mtime=0)[:-9], "compressed data is damaged"),
        (b'"Ann."\n' * 1001, "a set has at most 1000 passages"),
    ],
)
def test_what_is_no_passage_is_said_in_one_line_with_what_is(tmp_path: Path, content: bytes, message: str) -> None:
    """A score of half a file, or of the word "nan", would look like any other."""
    with pytest.raises(PassagesError) as error:
        read_passages(_file(tmp_path, content))
    assert message in str(error.value)
    assert 'Expected one passage a line, {"text": "..."}' in str(error.value)
    assert "corpus" not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A packed file of a few bytes may unpack to anything."""
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 1000)
    with pytest.raises(PassagesError, match="line 1: a line has at most 1000 bytes"):
        read_passages(_file(tmp_path, gzip.compress(b"x" * 100_000)))
