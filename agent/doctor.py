"""`sufficit doctor`: what is installed, and whether it fits together."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from retrieval import RetrievalError
from rinse import RinseError

from .config import Settings
from .errors import AgentError, ConfigError

_LIBRARIES = ("sufficit", "torch", "tokenizers", "safetensors", "faiss-cpu", "numpy", "httpx", "pydantic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    part: str
    ok: bool
    detail: str
    """A version or a fingerprint; if something is wrong, what to do."""

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {"part": self.part, "ok": self.ok, "detail": self.detail}


def examine(settings: Settings) -> list[Finding]:
    """Look at everything that a search needs; one finding a part, in the order in which a search needs them.

    A language model's endpoint is not called: that would cost.
    """
    findings = [Finding(part="python", ok=True, detail=f"{platform.python_version()} on {platform.platform()}")]
    findings += _versions()
    findings.append(_look("model", _model))
    findings.append(_look("profile", _profile))
    index = settings.index
    if index is not None:
        findings.append(_look("index", lambda: _index(index)))
    if settings.llm.url is not None or "llm" in {settings.planner, settings.answerer}:
        findings.append(_look("endpoint", lambda: _endpoint(settings)))
    return findings


def _versions() -> Iterator[Finding]:
    for name in _LIBRARIES:
        try:
            yield Finding(part=name, ok=True, detail=metadata.version(name))
        except metadata.PackageNotFoundError:
            yield Finding(part=name, ok=False, detail=f"not installed; pip install {name}")


def _look(part: str, examine_part: Callable[[], str]) -> Finding:
    try:
        return Finding(part=part, ok=True, detail=examine_part())
    except (AgentError, RetrievalError, RinseError) as error:
        return Finding(part=part, ok=False, detail=str(error))


def _model() -> str:
    from retrieval.index.encoder import DEFAULT_ENCODER, TransformerEncoder

    encoder = TransformerEncoder.named(DEFAULT_ENCODER)
    encoder.encode(["a text"])
    return f"{encoder.name}, {encoder.dims} dims, fingerprint {encoder.fingerprint[:12]}"


def _profile() -> str:
    from rinse import RinseScorer

    return f"small, fingerprint {RinseScorer.small().fingerprint[:12]}"


def _index(folder: Path) -> str:
    from retrieval.index import LocalIndex

    local = LocalIndex.open(folder)
    try:
        info = local.info
        local.warm()
    finally:
        local.close()
    return f"{folder}: {info.passages} passages of {info.documents} documents, checked"


def _endpoint(settings: Settings) -> str:
    endpoint = settings.llm.endpoint()
    if endpoint.exposes_key:
        raise ConfigError(f"{endpoint.url} is no https URL: the key would travel in clear text. Use https.")
    key = "a key is set" if endpoint.key else "no key"
    used = f"planner {settings.planner}, answerer {settings.answerer}"
    return f"{endpoint.model} at {endpoint.url}, {key}; {used}; not called"
