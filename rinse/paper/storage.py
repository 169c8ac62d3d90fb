"""Files of a profile: written whole or not at all, read with a limit and proven by their hash."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ProfileError

Tensors = Mapping[str, NDArray[np.float64] | NDArray[np.float32]]


def replace_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all. Raises OSError; what was there before then stays."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as file:
        partial = Path(file.name)
        try:
            file.write(content)
        except OSError:
            partial.unlink(missing_ok=True)
            raise
    partial.chmod(0o644)
    partial.replace(path)


def read_file(path: Path, limit: int) -> bytes:
    """A file of at most `limit` bytes.

    Raises:
        ProfileError: it is larger or cannot be read.
    """
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise ProfileError(
            f"The profile's file {path} cannot be read ({error}). Pass a folder that `sufficit fit` wrote."
        ) from error
    if len(content) > limit:
        raise ProfileError(
            f"{path} is larger than {limit} bytes, the most of a profile's file. Is it another file?"
        )
    return content


def pack(tensors: Tensors) -> bytes:
    """Tensors as safetensors; the same values give the same bytes."""
    from safetensors.numpy import save

    content: bytes = save(dict(tensors))
    return content


def read_tensors(path: Path, sha256: str, limit: int) -> dict[str, NDArray[Any]]:
    """The tensors of a safetensors file with this content.

    Raises:
        ProfileError: it is missing, too large, another file, or no safetensors.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    content = read_file(path, limit)
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ProfileError(f"{path} has the sha256 {found}, the profile names {sha256}. Fit the profile again.")
    try:
        return dict(load(content))
    except (SafetensorError, KeyError, TypeError) as error:
        raise ProfileError(f"{path} holds no plain tensors ({error!r}). Fit the profile again.") from error
