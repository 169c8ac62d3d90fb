"""What a server's refusal means, and what to do about it."""

from __future__ import annotations

import json

from ..errors import ModelCallError
from .endpoint import Endpoint
from .quotes import shown
from .retry import PassingError

MAX_EXCERPT = 200
"""Characters of the server's own words in a message."""

_REMEDIES = {
    400: "If it names a field, add that one to [llm] without; if the prompt is too long, lower context_tokens.",
    401: "Set the key in the environment: SUFFICIT_LLM_KEY.",
    403: "The key (SUFFICIT_LLM_KEY) does not allow this model; use another key or another [llm] model.",
    404: "Check [llm] url, which usually ends in /v1, and [llm] model: the server lists its models at URL/models.",
    422: "If it names a field, add that one to [llm] without.",
}


def fault_of_status(endpoint: Endpoint, status: int, body: str, *, pause: float | None) -> ModelCallError:
    """The error for a reply that is not 200. 408, 429 and all from 500 on may pass."""
    said = _said(endpoint, body)
    message = f"{endpoint.model} at {endpoint.url} answered {status}{said}."
    if status in {408, 429} or status >= 500:
        return PassingError(message, pause=pause)
    if 300 <= status < 400:
        return ModelCallError(f"{message} Redirects are not followed: set [llm] url to the final address.")
    return ModelCallError(f"{message} {_REMEDIES.get(status, 'Check [llm] url and model.')}")


def _said(endpoint: Endpoint, body: str) -> str:
    """The server's own words, without the key that some servers repeat."""
    text = _message(body)
    if endpoint.key is not None:
        text = text.replace(endpoint.key.get_secret_value(), "***")
    text = shown(text)[:MAX_EXCERPT]
    return f": {text}" if text else ""


def _message(body: str) -> str:
    """`error.message` of OpenAI's format, else the body."""
    try:
        error = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return body
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else body
