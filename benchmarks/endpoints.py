"""A language model behind an endpoint, as command lines of benchmarks name it."""

from __future__ import annotations

from dataclasses import replace

from agent.config import load_settings
from agent.llm.endpoint import Endpoint

ENDPOINT = "endpoint"
"""Names the model under [llm]; `endpoint:MODEL` another one of the same server."""


def named_endpoint(name: str) -> Endpoint | None:
    """The endpoint of this name, asked once for each reply; None if the name is that of something else.

    A pause between attempts would be counted as the model's time, and what failed is asked for by the next run.

    Raises:
        ConfigError: no endpoint is set under [llm], or one that cannot work.
    """
    kind, colon, model = name.partition(":")
    if kind != ENDPOINT:
        return None
    endpoint = load_settings({"llm": {"model": model}} if colon else None).llm.endpoint()
    return replace(endpoint, attempts=1)
