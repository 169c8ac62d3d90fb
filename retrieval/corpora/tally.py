"""What happens while a corpus is read: progress, and whatever could not be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

EXAMPLES_KEPT = 5
"""Examples kept for each kind of problem; all of them are counted."""


class ProblemKind(StrEnum):
    """Why something in a corpus was left out, or came in with a doubt."""

    BROKEN_RECORD = "broken_record"
    """A line that is no JSON, or that was cut off; it is left out."""
    MISSING_FIELD = "missing_field"
    """A record without an id or a text, a page without a title; it is left out."""
    WRONG_TYPE = "wrong_type"
    """A field of a record holds something else than text; it is left out."""
    REPEATED_ID = "repeated_id"
    """Several documents with one id: all are kept, as chunks of one source."""
    EMPTY_TEXT = "empty_text"
    """Nothing but white space or markup; it is left out."""
    TOO_LARGE = "too_large"
    """Above the reader's limit for one record, page or file; it is left out."""
    UNDECODABLE = "undecodable"
    """A file whose bytes are no text in any encoding that could be recognised; it is left out."""
    UNREADABLE = "unreadable"
    """The system did not let us read a file or folder; it is left out."""
    NO_CONTENT = "no_content"
    """An HTML page without a main text; it is left out."""
    OTHER_FORMAT = "other_format"
    """A file or page of a kind that is not read; it is left out."""
    LINK_NOT_FOLLOWED = "link_not_followed"
    """A symbolic link to a folder, or to somewhere outside; it is left out."""
    OTHER_NAMESPACE = "other_namespace"
    """A page that is no article (talk, user, template and so on); it is left out."""
    REDIRECT_WITHOUT_TARGET = "redirect_without_target"
    """A redirect to a page that the dump does not hold; it is left out."""
    TRUNCATED = "truncated"
    """The file breaks off or is damaged: what stands before that point was read, nothing after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that could not be used."""

    kind: ProblemKind
    where: str
    """The file, and the line or page in it."""
    detail: str
    """What was found and what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the reading of a corpus is."""

    done: int
    """Bytes read from disk."""
    total: int
    """Bytes to read; a dump that is read twice counts twice. 0 for an empty corpus."""


def in_words(problems: Mapping[str, int]) -> str:
    """Problems by kind for people: `broken record: 2, repeated id: 1`, or `none`."""
    return ", ".join(f"{kind.replace('_', ' ')}: {count}" for kind, count in problems.items()) or "none"


class Tally:
    """Counts bytes and problems of one reading. Written by one reader, may be looked at from another thread."""

    def __init__(self, *, total: int) -> None:
        self._done = 0
        self._total = total
        self._counts: Counter[str] = Counter()
        self._examples: list[Problem] = []

    def advance(self, read: int) -> None:
        """So many more bytes were read from disk."""
        self._done += read

    def problem(self, kind: ProblemKind, where: str, detail: str, *, times: int = 1) -> None:
        """Count a problem, or `times` of the same kind; the first few are kept as examples."""
        if self._counts[kind] < EXAMPLES_KEPT:
            self._examples.append(Problem(kind=kind, where=where, detail=detail))
        self._counts[kind] += times

    @property
    def progress(self) -> Progress:
        """Bytes done and to do."""
        return Progress(done=min(self._done, self._total), total=self._total)

    @property
    def problems(self) -> Mapping[str, int]:
        """Problems by kind (values of `ProblemKind`), most frequent first."""
        return MappingProxyType({str(kind): count for kind, count in self._counts.most_common()})

    @property
    def examples(self) -> tuple[Problem, ...]:
        """The first few problems of each kind, in order of discovery."""
        return tuple(self._examples)
