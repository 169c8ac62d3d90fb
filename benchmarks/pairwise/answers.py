"""Greedy answers on disk: several scorers, in processes of their own and in later runs, read the same ones."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from uuid import uuid4

from pydantic import TypeAdapter, ValidationError

from rinse.baselines.answers import SharedAnswer

from ..errors import RunFileError

_ANSWER: TypeAdapter[SharedAnswer] = TypeAdapter(SharedAnswer)


class FolderAnswers:
    """An `AnswerStore`: a file for each answer, whole or absent, so that any number of processes may share it.

    The key must identify model, prompt and settings. A file that holds no answer counts as absent and is replaced
    by the next one.

    Args:
        folder: Made with the first answer.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> SharedAnswer | None:
        """The answer under this key, or None.

        Raises:
            RunFileError: the folder cannot be read.
        """
        path = self._path(key)
        try:
            return _ANSWER.validate_json(path.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None
        except OSError as error:
            raise RunFileError(f"Cannot read the answer in {path}: {error}") from error

    def put(self, key: str, answer: SharedAnswer) -> None:
        """Keep an answer; another process sees it whole or not at all.

        Raises:
            RunFileError: the disk is full, or the folder is not ours.
            ValueError: a number of the answer is NaN or infinite.
        """
        content = json.dumps(asdict(answer), ensure_ascii=True, allow_nan=False)
        path = self._path(key)
        beside = path.with_name(f"{path.name}.{uuid4().hex}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(content, encoding="ascii")
            os.replace(beside, path)  # noqa: PTH105
        except OSError as error:
            raise RunFileError(f"Cannot keep an answer in {path}: {error}") from error

    def _path(self, key: str) -> Path:
        # keys are digests; a folder for each beginning keeps folders small
        return self._folder / key[:2] / f"{key}.json"
