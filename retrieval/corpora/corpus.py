"""Open a corpus: find out its format, read its documents, say what could not be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import CorpusError
from . import folder, jsonl, mediawiki
from .document import Document
from .files import DAMAGED, open_bytes, sha256_of_file, sha256_of_files
from .tally import Problem, Progress, Tally, in_words

_FORMATS = f"{jsonl.EXPECTED}; {mediawiki.EXPECTED}; or {folder.EXPECTED}"
_HEAD_BYTES = 1 << 16
_LINE = 400
"""Characters that are shown of a problem: an id may be as long as a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Format:
    name: str
    probe: Callable[[Path], None]
    read: Callable[[Path, Tally], Iterator[Document]]
    passes: int = 1


_JSONL = _Format(name="jsonl", probe=jsonl.probe, read=jsonl.read)
_MEDIAWIKI = _Format(name="mediawiki", probe=mediawiki.probe, read=mediawiki.read, passes=mediawiki.PASSES)
_FOLDER = _Format(name="folder", probe=folder.probe, read=folder.read)


class Corpus:
    """The documents of a file or folder, streamed.

    It can be iterated any number of times, but only once at a time: each iteration begins the counts of `progress`
    and `problems` anew. Nothing in a corpus stops an iteration half way: what cannot be used is left out and
    counted; only a corpus that is gone when the iteration begins is a `CorpusError`. Made by `open_corpus`.
    """

    def __init__(self, path: Path, chosen: _Format) -> None:
        self._path = path
        self._format = chosen
        self._tally = Tally(total=0)

    def __iter__(self) -> Iterator[Document]:
        self._tally = Tally(total=self._bytes() * self._format.passes)
        return self._format.read(self._path, self._tally)

    @property
    def path(self) -> Path:
        """The file or folder."""
        return self._path

    @property
    def format(self) -> str:
        """`jsonl`, `mediawiki` or `folder`."""
        return self._format.name

    @property
    def progress(self) -> Progress:
        """How far the iteration is; cheap, and may be read from another thread."""
        return self._tally.progress

    @property
    def problems(self) -> Mapping[str, int]:
        """What the iteration left out or doubted so far: number by kind (values of `ProblemKind`)."""
        return self._tally.problems

    @property
    def examples(self) -> tuple[Problem, ...]:
        """The first few problems of each kind."""
        return self._tally.examples

    @property
    def complaints(self) -> tuple[str, ...]:
        """A line for each kind of problem: how often it occurred, and the first one with its place."""
        first: dict[str, Problem] = {}
        for problem in self.examples:
            first.setdefault(problem.kind, problem)
        return tuple(
            _shown(f"{in_words({kind: count})}, the first in {first[kind].where}: {first[kind].detail}")
            for kind, count in self.problems.items()
        )

    def sha256(self) -> str:
        """Hash of the content (hex), for the manifest of an index. Reads every byte.

        For a file that of its bytes (as `sha256sum` prints it), for a folder that of the names and contents of the
        files that are read, in sorted order.

        Raises:
            CorpusError: a file cannot be read.
        """
        with _typed_errors(self._path):
            if self._format is _FOLDER:
                return sha256_of_files(self._path, folder.file_names(self._path))
            return sha256_of_file(self._path)

    def _bytes(self) -> int:
        with _typed_errors(self._path):
            if self._format is _FOLDER:
                return sum((self._path / name).stat().st_size for name in folder.file_names(self._path))
            return self._path.stat().st_size


def open_corpus(path: str | Path) -> Corpus:
    """Open a corpus of any format; the content decides, compressed or not, and the name only for an empty file.

    Formats: JSON lines, a folder of text files, a MediaWiki dump. Reads at most the beginning.

    Raises:
        CorpusError: there is nothing at `path`, it cannot be read, or it has none of the formats; the message
            gives file and line, what was expected and what to do.
    """
    location = Path(path)
    with _typed_errors(location):
        chosen = _FOLDER if location.is_dir() else _detected(location)
        chosen.probe(location)
    return Corpus(location, chosen)


def no_documents(corpus: Corpus, problems: Mapping[str, int]) -> CorpusError:
    """The error for a corpus of which nothing came in, to be raised where that must not pass.

    Args:
        corpus: It was read to its end, or in an earlier run.
        problems: Number by kind, known from that reading.
    """
    seen = " ".join(corpus.complaints) or (f"{in_words(problems)}." if problems else "there is nothing in it.")
    return CorpusError(f"{corpus.path} holds no document that can be indexed: {seen} Expected {_FORMATS}.")


@contextmanager
def _typed_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise CorpusError(f"There is no corpus at {path} ({error.filename}). Expected {_FORMATS}.") from error
    except DAMAGED as error:
        raise CorpusError(
            f"{path} cannot be read: {error}. Check its permissions, or fetch it again if it is damaged."
        ) from error


def _detected(path: Path) -> _Format:
    with open_bytes(path, Tally(total=0)) as stream:
        head = stream.read(_HEAD_BYTES)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:1] == b"{" or (not start and ".jsonl" in path.name):
        return _JSONL
    if b"<mediawiki" in start:
        return _MEDIAWIKI
    raise CorpusError(f"{path}, line 1: {_seen(start)}. Expected {_FORMATS}.")


def _shown(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= _LINE else f"{line[:_LINE]}..."


def _seen(start: bytes) -> str:
    if not start:
        return "the file is empty"
    if start[:1] == b"[":
        return "this is a JSON array; write one object a line instead, without brackets and commas around them"
    if start[:1] == b"<":
        return "this is XML or HTML, but no MediaWiki dump; put HTML files into a folder and pass the folder"
    return f"the file begins with {start[:40]!r}; put .txt and .md files into a folder and pass the folder"
