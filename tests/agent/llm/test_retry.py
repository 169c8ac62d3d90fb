"""Pauses between attempts, and what a server may ask for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ModelCallError
from agent.llm.client import ChatClient, Message
from agent.llm.retry import LONGEST_PAUSE, PassingError, SeededPauses, asked_pause
from tests.agent.llm.server import Step, says, serving

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def after(attempt: int, *, asked: float | None = None) -> Any:
    """The state of tenacity after a failed attempt."""
    error = PassingError("x", pause=asked)
    return SimpleNamespace(attempt_number=attempt, outcome=SimpleNamespace(exception=lambda: error))


@given(first=st.floats(0.01, 10), attempt=st.integers(1, 10_000), seed=st.text(max_size=5))
def test_a_pause_doubles_with_each_attempt_is_bounded_and_repeats_with_its_seed(
    first: float, attempt: int, seed: str
) -> None:
    full = min(first * 2 ** min(attempt - 1, 30), LONGEST_PAUSE)
    pause = SeededPauses(first, seed=seed)(after(attempt))
    assert full / 2 <= pause <= full
    assert pause == SeededPauses(first, seed=seed)(after(attempt))


def test_what_the_server_asks_for_comes_first() -> None:
    assert SeededPauses(0.5, seed="")(after(1, asked=17.0)) == 17.0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("3", 3.0),
        ("0", 0.0),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        (format_datetime(NOON + timedelta(seconds=90), usegmt=True), 90.0),
        (format_datetime(NOON - timedelta(days=1), usegmt=True), 0.0),
        ("Wed, 01 May 2024 12:00:07 -0000", 7.0),
    ],
)
def test_f03_both_forms_of_retry_after(header: str | None, seconds: float | None) -> None:
    """Seconds and HTTP date; nonsense is no wish."""
    assert asked_pause(header, now=NOON) == seconds


@pytest.mark.parametrize("header", ["0", "0.01", format_datetime(NOON, usegmt=True)])
async def test_f03_a_wait_within_the_time_is_kept_and_the_call_repeated(header: str) -> None:
    limited = Step(status=429, headers={"Retry-After": header})
    with serving(limited, says("now")) as server:
        client = ChatClient(server.endpoint())
        reply = await client.chat([Message(role="user", content="x")], max_tokens=5)
        await client.aclose()
    assert (reply.text, len(server.seen)) == ("now", 2)


@pytest.mark.parametrize(
    "header",
    ["120", format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)],
    ids=["seconds", "date"],  # two workers must give a test one name, whatever the time is
)
async def test_f03_a_wait_beyond_the_time_ends_the_call_at_once(header: str) -> None:
    """Nobody waits for an hour within a search of two minutes."""
    with serving(Step(status=429, headers={"Retry-After": header})) as server:
        client = ChatClient(server.endpoint(timeout_seconds=20))
        with pytest.raises(ModelCallError, match=r"429.*asks to wait \d+ s"):
            await client.chat([Message(role="user", content="x")], max_tokens=5)
        await client.aclose()
        assert len(server.seen) == 1
