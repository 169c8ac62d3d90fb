"""The client against a real server: what is sent, what comes back, what is refused."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging

import pytest

from agent.errors import ModelCallError
from agent.llm.client import ChatClient, Message, Reply, estimated_tokens
from agent.llm.endpoint import Endpoint
from tests.agent.llm.server import Step, says, serving

KEY = "sk-very-secret-0123456789"
HELLO = (Message(role="user", content="hello there"),)


async def ask(endpoint: Endpoint, *, seconds: float | None = None) -> Reply:
    client = ChatClient(endpoint)
    try:
        return await client.chat(HELLO, max_tokens=7, seconds=seconds, as_json=True)
    finally:
        await client.aclose()


async def test_a_reply_with_the_tokens_that_the_server_counted() -> None:
    """The whole request is pinned: temperature 0, seed, limit, JSON mode, the key as a bearer token."""
    with serving(says("good day", usage=(11, 4))) as server:
        reply = await ask(server.endpoint(key=KEY, seed=3))
    assert (reply.text, reply.spend.tokens, reply.estimated, reply.cut) == ("good day", 15, False, False)
    (seen,) = server.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["Authorization"] == f"Bearer {KEY}"
    assert seen.fields == {
        "model": "scripted-1",
        "messages": [{"role": "user", "content": "hello there"}],
        "stream": False,
        "max_tokens": 7,
        "temperature": 0,
        "seed": 3,
        "response_format": {"type": "json_object"},
    }


async def test_fields_that_a_server_refuses_are_left_out_and_the_limit_can_have_another_name() -> None:
    """Hosted models differ in what they accept."""
    with serving(says("x")) as server:
        await ask(
            server.endpoint(
                without=frozenset({"seed", "temperature", "response_format"}), limit_field="max_completion_tokens"
            )
        )
    (seen,) = server.seen
    assert set(seen.fields) == {"model", "messages", "stream", "max_completion_tokens"}
    assert "Authorization" not in seen.headers


async def test_tokens_are_estimated_where_the_server_does_not_count_and_a_cut_reply_is_marked() -> None:
    """An unknown cost is never zero."""
    with serving(says("two words", usage=None, finish="length")) as server:
        reply = await ask(server.endpoint())
    assert reply.spend.tokens == estimated_tokens("hello there") + estimated_tokens("two words")
    assert reply.estimated
    assert reply.cut


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
async def test_a_failure_that_may_pass_is_tried_again(status: int) -> None:
    with serving(Step(status=status), says("at last")) as server:
        assert (await ask(server.endpoint())).text == "at last"
    assert len(server.seen) == 2


async def test_attempts_are_limited() -> None:
    with serving(Step(status=500)) as server, pytest.raises(ModelCallError, match=r"answered 500.*At most 3"):
        await ask(server.endpoint())
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (400, "context_tokens"),
        (401, "SUFFICIT_LLM_KEY"),
        (403, "does not allow this model"),
        (404, r"\[llm\] url"),
        (422, r"\[llm\] without"),
        (418, r"Check \[llm\]"),
    ],
)
async def test_a_refusal_is_not_tried_again_and_says_what_to_do(status: int, remedy: str) -> None:
    body = json.dumps({"error": {"message": "no <b>way</b>\u200b"}}).encode()
    with serving(Step(body, status=status)) as server:
        with pytest.raises(ModelCallError, match=rf"answered {status}: no ‹b›way‹/b›\..*{remedy}") as caught:
            await ask(server.endpoint())
        assert len(server.seen) == 1
    assert caught.value.spend.tokens == 0


async def test_a_redirect_is_not_followed() -> None:
    """It would carry prompt and key to a place that nobody configured."""
    with (
        serving(says("elsewhere")) as other,
        serving(Step(status=307, headers={"Location": f"{other.url}/x"})) as server,
        pytest.raises(ModelCallError, match="not followed"),
    ):
        await ask(server.endpoint(key=KEY))
    assert (len(server.seen), other.seen) == (1, [])


async def test_a_slow_server_is_left_at_the_time_limit_and_its_prompt_counts() -> None:
    with serving(Step(waits=True)) as server:
        with pytest.raises(ModelCallError, match=r"did not answer within 0\.2 s") as caught:
            await ask(server.endpoint(), seconds=0.2)
        assert await asyncio.to_thread(server.hung_up.wait, 5)
        assert len(server.seen) == 1
    assert caught.value.spend.tokens == estimated_tokens("hello there")
    assert caught.value.estimated


async def test_cancellation_in_the_middle_of_a_call_hangs_up_and_propagates() -> None:
    """A server then stops to generate, and no task stays behind."""
    before = asyncio.all_tasks()
    with serving(Step(waits=True)) as server:
        task = asyncio.create_task(ask(server.endpoint()))
        assert await asyncio.to_thread(server.arrived.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.hung_up.wait, 5)
    assert asyncio.all_tasks() == before


async def test_a_cut_connection_is_tried_again_and_its_prompt_counts() -> None:
    with serving(Step(b'{"choices"', cut=True), says("whole", usage=(10, 5))) as server:
        reply = await ask(server.endpoint())
    assert (reply.text, reply.spend.tokens) == ("whole", 15 + estimated_tokens("hello there"))
    assert reply.estimated


async def test_nobody_at_home() -> None:
    with serving() as gone:
        pass
    with pytest.raises(ModelCallError, match="Is the server running"):
        await ask(gone.endpoint())


@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": 3}]}', b"\xff", b"[" * 9000]
)
async def test_a_body_that_is_no_completion(body: bytes) -> None:
    """One request: the same server would send the same again."""
    with serving(Step(body)) as server:
        with pytest.raises(ModelCallError, match=r"no ChatCompletion .*ending in /v1") as caught:
            await ask(server.endpoint())
        assert len(server.seen) == 1
    assert caught.value.spend.tokens > 0


async def test_a_huge_body_is_left_at_the_limit() -> None:
    with serving(Step(b'{"choices": [', blocks=4_000)) as server:
        with pytest.raises(ModelCallError, match="more than 100000 bytes"):
            await ask(server.endpoint(max_reply_bytes=100_000))
        assert len(server.seen) == 1


async def test_a_gzip_bomb_is_left_at_the_limit_and_plain_gzip_is_read() -> None:
    """Compression was not asked for; a server may compress all the same."""
    coding = {"Content-Encoding": "gzip"}
    bomb = gzip.compress(b" " * 50_000_000)
    with serving(Step(bomb, headers=coding)) as server, pytest.raises(ModelCallError, match="more than 100000"):
        await ask(server.endpoint(max_reply_bytes=100_000))
    with serving(Step(gzip.compress(says("small").body), headers=coding)) as server:
        assert (await ask(server.endpoint())).text == "small"
        assert server.seen[0].headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize(
    ("coding", "body"), [("gzip", b"no gzip"), ("gzip", gzip.compress(b"x" * 99, mtime=0)[:-9]), ("br", b"x")]
)
async def test_a_body_that_cannot_be_unpacked(coding: str, body: bytes) -> None:
    with serving(Step(body, headers={"Content-Encoding": coding})) as server, pytest.raises(ModelCallError):
        await ask(server.endpoint())


async def test_the_key_is_in_no_message_no_repr_and_no_log(caplog: pytest.LogCaptureFixture) -> None:
    """Even where the server repeats it."""
    caplog.set_level(logging.DEBUG)
    echo = Step(json.dumps({"error": {"message": f"bad key {KEY}"}}).encode(), status=401)
    with serving(echo) as server:
        endpoint = server.endpoint(key=f" {KEY}\n")
        with pytest.raises(ModelCallError, match=r"bad key \*\*\*") as caught:
            await ask(endpoint)
    assert server.seen[0].headers["Authorization"] == f"Bearer {KEY}"
    texts = [repr(endpoint), str(endpoint), caplog.text]
    error: BaseException | None = caught.value
    while error is not None:
        texts.append(f"{error!r} {error}")
        error = error.__cause__ or error.__context__
    assert KEY not in "".join(texts)


def test_one_client_serves_event_loops_one_after_the_other() -> None:
    """`run_sync` makes a loop a search; a connection of a closed loop is never used again."""
    with serving(says("again")) as server:
        client = ChatClient(server.endpoint())

        async def once() -> str:
            try:
                return (await client.chat(HELLO, max_tokens=5)).text
            finally:
                await client.aclose()

        assert [asyncio.run(once()) for _ in range(3)] == ["again"] * 3
