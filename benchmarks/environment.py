"""What figures depend on beside the code's input: versions and machine."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
"""The folder that holds the five packages: a git checkout, or where they were installed."""

_DISTRIBUTIONS = ("sufficit", "torch", "transformers", "tokenizers", "numpy", "faiss-cpu", "pydantic")


def versions() -> dict[str, str | None]:
    """Versions of what computes the figures, and the commit of the checkout; None = not installed, no checkout."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for name in _DISTRIBUTIONS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found | {"commit": _commit()}


@cache
def code_digest(*packages: str) -> str:
    """sha256 (hex) of all files of these packages of ours, weights included: what a result depends on."""
    digest = hashlib.sha256()
    for package in packages:
        for path in sorted((CHECKOUT / package).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                digest.update(f"{path.relative_to(CHECKOUT).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()


def machine() -> dict[str, str | int | float | None]:
    """What the times were measured on."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else None
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": None if pages is None else round(pages / 2**30, 1),
    }


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _commit() -> str | None:
    """The checkout's commit, with `-dirty` where tracked files differ from it."""
    if not (CHECKOUT / ".git").exists():
        return None
    command = ["git", "-C", str(CHECKOUT), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
