"""Where a language model is served, and how it is called."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import urlsplit

from pydantic import SecretStr

from ..errors import ConfigError

OptionalField = Literal["response_format", "seed", "temperature", "logprobs"]
LimitField = Literal["max_tokens", "max_completion_tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One model of one OpenAI-compatible server.

    Raises:
        ConfigError: a value that cannot work; the message never holds the key.
    """

    url: str
    """Base URL without the last part, e.g. `http://127.0.0.1:8080/v1`."""
    model: str
    """The name that the server knows the model by."""
    key: SecretStr | None = None
    """Sent as a bearer token; None: nothing is sent."""
    timeout_seconds: float = 30.0
    """Longest wait for one reply, all its attempts and pauses together."""
    attempts: int = 3
    """Most attempts for one reply, the first one included."""
    backoff_seconds: float = 0.5
    """The first pause between attempts is half of this to all of it; each further one is twice as long."""
    seed: int = 0
    """Sent to the server, and the seed of the pauses."""
    without: frozenset[OptionalField] = frozenset()
    """Fields that this server refuses and that are left out."""
    limit_field: LimitField = "max_tokens"
    """The field that carries the limit on a reply's tokens."""
    max_reply_bytes: int = 1_000_000
    """Largest reply, after decompression."""

    def __post_init__(self) -> None:
        _check_url(self.url)
        object.__setattr__(self, "url", self.url.rstrip("/"))
        if not self.model.strip():
            raise ConfigError(
                'The endpoint\'s model has no name. Set [llm] model = "NAME", as the server lists it.'
            )
        if self.key is not None:
            object.__setattr__(self, "key", _checked_key(self.key))
        for name in ("timeout_seconds", "attempts", "backoff_seconds", "max_reply_bytes"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} of an endpoint must be positive, it is {getattr(self, name)}.")
        unknown = sorted(self.without - set(get_args(OptionalField)))
        if unknown:
            raise ConfigError(f"Only {get_args(OptionalField)} can be left out of a request, not {unknown}.")

    @property
    def is_loopback(self) -> bool:
        """Whether the server is this machine, by name or address."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    @property
    def exposes_key(self) -> bool:
        """Whether the key travels over a network in clear text."""
        return self.key is not None and not self.is_loopback and urlsplit(self.url).scheme == "http"


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        port_is_valid = parts.port is None or parts.port > 0
    except ValueError:  # a port that is no number, a broken IPv6 address
        raise ConfigError("The endpoint's url is no URL. Expected e.g. http://127.0.0.1:8080/v1.") from None
    if parts.username is not None or parts.password is not None:
        raise ConfigError("The endpoint's url holds a user or a password. Set SUFFICIT_LLM_KEY instead.")
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_valid:
        raise ConfigError(f"The endpoint's url {url!r} is no http(s) URL. Expected e.g. http://127.0.0.1:8080/v1.")
    if parts.query or parts.fragment:
        raise ConfigError(
            "The endpoint's url has a query or a fragment. Give the base only, e.g. https://HOST/v1."
        )


def _checked_key(key: SecretStr) -> SecretStr:
    """The key without white space around it; a header can carry visible ASCII only."""
    text = key.get_secret_value().strip()
    if not text or not all("!" <= sign <= "~" for sign in text):
        raise ConfigError(
            "The endpoint's key (SUFFICIT_LLM_KEY) is empty or holds spaces or signs that are not ASCII. "
            "Copy it again, or unset it for a server without keys."
        )
    return SecretStr(text)
