"""A GGUF file as a model folder: converted once to safetensors in the user's cache, whole or not at all.

Quantised weights become float32 exactly as the file's blocks say; nothing is rounded again. Needs the extra
`generation` (`gguf` and `accelerate`, which `transformers` uses to read such files).
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from filelock import FileLock
from platformdirs import user_cache_path

from .errors import BackboneCorruptError, BackboneNotFoundError

NEEDED = ("gguf", "accelerate")
"""Libraries that reading a GGUF file takes, beside `transformers`."""

_LAYOUT = 2
"""Which files a folder holds: from 2 on the chat template, if the model has one. Older folders are made anew."""

Convert = Callable[[Path, Path], None]
"""Reads the GGUF file of the first path and writes a model folder at the second one, which exists and is empty."""


def model_folder(file: Path, *, sha256: str, cache: Path | None = None, convert: Convert | None = None) -> Path:
    """The folder that a GGUF file was converted to; the first call converts it, which takes up to a minute.

    Args:
        file: The GGUF file.
        sha256: Of its content, which the caller has checked; the folder is named by it.
        cache: Parent of the folder; None = the user's cache.
        convert: Does the work; None = through `transformers`.

    Raises:
        BackboneNotFoundError: a library that reads such files is missing.
        BackboneCorruptError: the file is no model that `transformers` understands.
        OSError: the cache cannot be written to.
    """
    parent = cache or user_cache_path("sufficit") / "models"
    folder = parent / f"gguf-{sha256[:16]}-{_LAYOUT}"
    if folder.is_dir():
        return folder
    parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):  # a second process waits instead of doing the same work
        if not folder.is_dir():
            part = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", suffix=".part", dir=parent))
            try:
                (convert or _through_transformers)(file, part)
                part.rename(folder)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    return folder


def _through_transformers(file: Path, folder: Path) -> None:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise BackboneNotFoundError(
            f"Reading {file.name} needs {' and '.join(missing)}. Install them with: "
            "pip install 'sufficit[generation]'"
        )
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source: dict[str, Any] = {"gguf_file": file.name, "local_files_only": True, "trust_remote_code": False}
    try:
        read = AutoModelForCausalLM.from_pretrained(file.parent, dtype=torch.float32, **source)
        tokenizer = AutoTokenizer.from_pretrained(file.parent, **source)
    except (OSError, ValueError, KeyError, RuntimeError, NotImplementedError) as error:
        raise BackboneCorruptError(f"{file} cannot be read as a GGUF model: {error}") from error
    config = read.config
    # a model that knows where it came from refuses to be saved
    del config.quantization_config
    plain = AutoModelForCausalLM.from_config(config, dtype=torch.float32)  # type: ignore[no-untyped-call]
    plain.load_state_dict(read.state_dict())
    plain.save_pretrained(folder)
    tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    if isinstance(tokenizer.chat_template, str):
        (folder / "chat_template.jinja").write_text(tokenizer.chat_template, encoding="utf-8")
