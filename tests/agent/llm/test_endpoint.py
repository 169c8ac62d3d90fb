"""What an endpoint may be, and who sees its key."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from agent.errors import ConfigError
from agent.llm.endpoint import Endpoint


def endpoint(url: str = "http://127.0.0.1:8080/v1", key: str | None = None) -> Endpoint:
    return Endpoint(url=url, model="m", key=None if key is None else SecretStr(key))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8080/v1",
        "ftp://host/v1",
        "http://",
        "http://host:port/v1",
        "http://host:0/v1",
        "http://[::1/v1",
        "http://host/v1?version=2",
        "http://host/v1#part",
        "https://user:hunter2@host/v1",
    ],
)
def test_a_url_that_cannot_work_is_refused_without_showing_a_password(url: str) -> None:
    with pytest.raises(ConfigError, match="url") as caught:
        endpoint(url)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("key", ["", "  ", "two words", "naïve", "line\nbreak"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(ConfigError, match="SUFFICIT_LLM_KEY") as caught:
        endpoint(key=key)
    assert not key.strip() or key not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "loopback", "exposed"),
    [
        ("http://127.0.0.1:8080/v1", True, False),
        ("http://[::1]:8080/v1", True, False),
        ("http://localhost/v1", True, False),
        ("http://10.0.0.7/v1", False, True),
        ("https://models.example/v1", False, False),
    ],
)
def test_a_key_in_clear_text_is_noticed(url: str, loopback: bool, exposed: bool) -> None:
    found = endpoint(url, key="k")
    assert (found.is_loopback, found.exposes_key) == (loopback, exposed)


@pytest.mark.parametrize(
    "options",
    [{"model": " "}, {"attempts": 0}, {"timeout_seconds": 0.0}, {"timeout_seconds": float("nan")}],
)
def test_other_values_out_of_range(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        Endpoint(**({"url": "http://localhost", "model": "m"} | options))  # type: ignore[arg-type]


def test_a_slash_at_the_end_makes_no_difference() -> None:
    assert endpoint("http://localhost/v1/") == endpoint("http://localhost/v1")
