"""What the readers of `small` say of training records, kept in a file: a line a group, written as it completes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from retrieval import EvidenceSet
from retrieval.index.encoder import TokenStates
from retrieval.memo import Memo

from ..errors import ScoreError
from ..profile import Profile
from ..readers.states import TokenEncoder
from ..scorer import RinseScorer
from .readings import Record, readings_key, whole_lines

MEMORY_BYTES = 512 * 2**20
"""States of texts kept for the other IDF tables and for the next record: about 2,500 passages of 100 words."""
_LIBRARIES = ("numpy", "tokenizers", "torch", "transformers")
_CODE = {"rinse": ("gaps.py", "scorer.py", "windows.py"), "rinse.readers": None, "retrieval": ("text.py",)}
"""Modules that decide what a feature is, by package; None = all of it."""

Features = Mapping[str, Mapping[str, float]]
"""By reader and name, as `rinse.scorer.Reading` gives them."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class SmallReading(_Strict):
    """What the readers said of one record."""

    side: Annotated[int, Field(ge=0)]
    """Its place in the group."""
    added: Annotated[int, Field(ge=0)]
    """Passages of other questions that were added."""
    features: dict[str, dict[str, float]]
    passages: Annotated[int, Field(ge=0)]
    """|E|."""


class SmallGroup(_Strict):
    """All records of one group; a line of the file."""

    format: Literal["sufficit-small-readings-1"] = "sufficit-small-readings-1"
    key: str
    readings: tuple[SmallReading, ...]
    failed: Annotated[int, Field(ge=0)] = 0
    """Records for which the encoder gave nothing usable; they are not among the readings."""


class SmallReadings:
    """The file. A line that a crash cut off is dropped when it is opened.

    Args:
        path: Made if absent.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, SmallGroup] = {}
        for line in whole_lines(path):
            try:
                found = SmallGroup.model_validate_json(line)
            except ValueError:
                continue  # damaged or of another version: the group is read again
            self._known[found.key] = found

    def read(self, wanted: Sequence[Record], readers: KeyedReaders) -> SmallGroup:
        """Read the records, unless they are known, and keep the result."""
        key = readings_key(readers.key, wanted)
        if key not in self._known:
            found = _read(key, wanted, readers.scorer)
            with self._path.open("ab") as file:
                file.write(found.model_dump_json().encode() + b"\n")
            self._known[key] = found
        return self._known[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedReaders:
    """The readers with one IDF table."""

    scorer: RinseScorer
    """Only what it reads is used, nothing that was fitted."""
    key: str
    """sha256 (hex) of all that a reading depends on besides question and passages."""

    @classmethod
    def of(cls, encoder: TokenEncoder, profile: Profile) -> KeyedReaders:
        """The readers of a profile.

        Raises:
            ProfileMismatchError: the profile belongs to another encoder.
        """
        settings = profile.settings
        parts = [
            encoder.fingerprint,
            hashlib.sha256(profile.idf.tobytes()).hexdigest(),
            [settings.unknown_id, settings.window.model_dump(), settings.phrase.model_dump()],
            _code(),
            versions(),
        ]
        key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        return cls(scorer=RinseScorer(encoder, profile), key=key)


class RememberingEncoder:
    """An encoder that keeps what it gave, so that several readers ask the model once. Thread-safe.

    Args:
        encoder: The backbone.
        memory_bytes: The most that is kept.
    """

    def __init__(self, encoder: TokenEncoder, *, memory_bytes: int = MEMORY_BYTES) -> None:
        self._encoder = encoder
        self._memo: Memo[str, TokenStates] = Memo(memory_bytes, lambda one: one.states.nbytes)

    @property
    def fingerprint(self) -> str:
        """That of the encoder."""
        return self._encoder.fingerprint

    @property
    def name(self) -> str:
        """That of the encoder."""
        return self._encoder.name

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """See `TokenEncoder.token_states`. One text at a time, as the readers ask."""
        found: list[TokenStates] = []
        for text in texts:
            known = self._memo.get(text)
            if known is None:
                answer = self._encoder.token_states([text])
                if len(answer) != 1:
                    return answer  # not one answer a text: readers know what to do with that
                known = answer[0]
                self._memo.put(text, known)
            found.append(known)
        return found


def versions() -> dict[str, str]:
    """Of the libraries that take part in reading."""
    return {name: metadata.version(name) for name in _LIBRARIES}


def _code() -> str:
    """sha256 (hex) of the source of the readers: a changed reader must not be served what its elder said."""
    digest = hashlib.sha256()
    for package, names in sorted(_CODE.items()):
        for file in sorted(resources.files(package).iterdir(), key=lambda one: one.name):
            if file.name.endswith(".py") and (names is None or file.name in names):
                digest.update(f"{package}/{file.name}\n".encode() + file.read_bytes())
    return digest.hexdigest()


def _read(key: str, wanted: Sequence[Record], scorer: RinseScorer) -> SmallGroup:
    readings, failed = [], 0
    for one in wanted:
        try:
            found = scorer.read(one.question, EvidenceSet.of(one.passages))
        except ScoreError:
            failed += 1
            continue
        features = {
            reader: {name: float(value) for name, value in values.items()}
            for reader, values in found.features.items()
        }
        readings.append(SmallReading(side=one.side, added=one.added, features=features, passages=found.passages))
    return SmallGroup(key=key, readings=tuple(readings), failed=failed)
