"""The files of fitted profiles: whole or not there, and nobody else's file is written over."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from ..odds import OddsSettings, odds_name
from ..profile import MAX_JSON_BYTES, ProfileSettings
from .errors import FolderError
from .folder import LOCK

READINGS = "readings.jsonl"
"""In the folder of what a stopped run goes on with."""
_PROFILE = frozenset({"encoder_fingerprint", "idf_sha256"})
"""What tells a profile's JSON file, also of an older format, from others."""
_ODDS = frozenset({"readings", "terms"})
"""What tells a head of log-odds."""


def profile_file(out: Path, name: str) -> Path:
    """Where the profile of that name lies."""
    return out / f"{name}.json"


def check_folder(out: Path, work: Path, tables: Iterable[ProfileSettings]) -> None:
    """Make sure that a folder can be written, and is absent, empty or one of profiles.

    Args:
        out: The folder.
        work: Where readings are kept; it may be the same folder, or lie inside it.
        tables: Profiles that name the IDF tables: a fit that was killed may have left a table alone.

    Raises:
        FolderError: it holds something else, a file stands where a folder must be, or nothing can be written.
    """
    there = next(folder for folder in (out, *out.parents) if folder.exists())
    if not there.is_dir():
        raise FolderError(f"{there} is a file. Name a folder for the profiles with --out.")
    try:
        TemporaryFile(dir=there).close()
    except OSError as error:
        raise FolderError(
            f"Nothing can be written to {there} ({error}). Name another folder with --out."
        ) from error
    if there != out:
        return
    of_work = {path.resolve() for path in (work, *work.parents)}
    found = [path for path in out.iterdir() if path.resolve() not in of_work and not path.name.endswith(".part")]
    if out.resolve() == work.resolve():
        found = [path for path in found if path.name not in {LOCK, READINGS}]
    known = {settings.idf_file for settings in tables}
    if found and not any(path.name in known or (path.suffix == ".json" and _is_profile(path)) for path in found):
        raise FolderError(
            f"{out} is not empty and holds no profile of this kind. Name another folder with --out, or empty it."
        )


def check_place(out: Path, name: str, table: ProfileSettings) -> None:
    """Make sure that a profile and its IDF table can be written without loss.

    Args:
        out: The folder.
        name: Of the profile.
        table: The profile that names the table.

    Raises:
        FolderError: a file of that name is no profile or another table.
    """
    for place, marks, what in (
        (profile_file(out, name), _PROFILE, "profile"),
        (profile_file(out, odds_name(name)), _ODDS, "head of log-odds"),
    ):
        if place.exists() and not _holds(place, marks):
            raise FolderError(
                f"{place} is no {what} and would be lost. Name another folder, or a profile with --name."
            )
    tables = out / table.idf_file
    if tables.exists() and _sha256(tables) != table.idf_sha256:
        raise FolderError(f"{tables} is another IDF table, which profiles there may need. Name another folder.")


def write_profile(out: Path, settings: ProfileSettings, table: bytes) -> bool:
    """Write the table, then the profile; returns whether anything was not there already.

    Raises:
        FolderError: the folder cannot be written.
    """
    content = settings.model_dump_json(indent=2, exclude_none=True).encode() + b"\n"
    return _write_all(out, {settings.idf_file: table, profile_file(out, settings.name).name: content})


def write_odds(out: Path, settings: OddsSettings) -> bool:
    """Write a head of log-odds beside its profile; returns whether it was not there already.

    Raises:
        FolderError: the folder cannot be written.
    """
    content = settings.model_dump_json(indent=2).encode() + b"\n"
    return _write_all(out, {profile_file(out, settings.name).name: content})


def _write_all(out: Path, files: Mapping[str, bytes]) -> bool:
    try:
        out.mkdir(parents=True, exist_ok=True)
        wrote = [_write(out / name, content) for name, content in files.items()]
    except OSError as error:
        raise FolderError(
            f"Cannot write the profile to {out}: {error}. Make room or name another folder; the same command then "
            "goes on."
        ) from error
    return any(wrote)


def _write(path: Path, content: bytes) -> bool:
    if path.exists() and path.read_bytes() == content:
        return False
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink()
    return True


def _is_profile(path: Path) -> bool:
    """Whether a file looks like a profile, also one of an older format, or like a head of log-odds."""
    return _holds(path, _PROFILE) or _holds(path, _ODDS)


def _holds(path: Path, marks: frozenset[str]) -> bool:
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(MAX_JSON_BYTES))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and marks <= found.keys()


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FolderError(f"Cannot read {path}: {error}. Name another folder with --out.") from error
