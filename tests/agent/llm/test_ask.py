"""JSON from a model: tolerant reading, one more try, limits on tokens."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from agent.errors import ModelCallError
from agent.llm.ask import Asked, Limits, ask_json, parse_json
from agent.llm.client import ChatClient, Message, estimated_tokens
from agent.llm.endpoint import Endpoint
from tests.agent.llm.server import Step, says, serving


class Town(BaseModel):
    name: str
    bridges: int = 0


ASKED = (Message(role="system", content="Answer in JSON."), Message(role="user", content="Which town?"))


async def ask(endpoint: Endpoint, *, tokens: int | None = None, seconds: float = 5) -> Asked[Town]:
    client = ChatClient(endpoint)
    try:
        return await ask_json(client, ASKED, Town, Limits(max_tokens=20, seconds=seconds, tokens=tokens))
    finally:
        await client.aclose()


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Marrowby", "bridges": 2}',
        ' \n{"name": "Marrowby", "bridges": 2}\n',
        'Here it is:\n```json\n{"name": "Marrowby", "bridges": 2}\n```\nAnything else?',
        '```\n{"name": "Marrowby", "bridges": 2}\n```',
        'The town is {"name": "Marrowby", "bridges": 2}.',
        '<think>{"name": "Dunmouth"} or not?</think>{"name": "Marrowby", "bridges": 2}',
        '{"name": "Marrowby", "bridges": 2, "why": "asked"}',
    ],
)
def test_an_object_is_found_in_what_models_put_around_it(text: str) -> None:
    assert parse_json(text, Town) == Town(name="Marrowby", bridges=2)


@pytest.mark.parametrize("text", ["", "  ", "Marrowby", '{"name": 3}', '{"name": "a"', "[1, 2]", '{"a":' * 5000])
def test_what_is_no_such_object_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"it is empty|the text: |name: |town: "):
        parse_json(text, Town)


async def test_an_answer_that_is_no_json_is_sent_back_once_with_what_is_wrong() -> None:
    with serving(says("Marrowby, I think"), says('{"name": "Marrowby"}')) as server:
        asked = await ask(server.endpoint())
    assert (asked.value.name, asked.spend.tokens, asked.estimated) == ("Marrowby", 30, False)
    again = server.seen[1].fields["messages"]
    assert [message["role"] for message in again] == ["system", "user", "assistant", "user"]
    assert again[2]["content"] == "Marrowby, I think"
    assert "Invalid JSON" in again[3]["content"]


async def test_two_wrong_answers_are_a_failure_that_holds_what_both_cost() -> None:
    with serving(says("never", finish="length")) as server:
        with pytest.raises(ModelCallError, match=r"not the JSON.*raise \[llm\] max_tokens") as caught:
            await ask(server.endpoint())
        assert len(server.seen) == 2
    assert caught.value.spend.tokens == 30


async def test_a_failure_of_the_second_try_tells_of_the_first() -> None:
    with (
        serving(says("no"), Step(status=401)) as server,
        pytest.raises(ModelCallError, match=r"401.*Before that.*not the JSON") as caught,
    ):
        await ask(server.endpoint())
    assert caught.value.spend.tokens == 15


async def test_no_call_is_made_that_may_cost_more_tokens_than_are_left() -> None:
    """The bound is the estimated prompt and the longest completion, before the first and before the second try."""
    needed = estimated_tokens(*(message.content for message in ASKED)) + 20
    with serving(says('{"name": "a"}')) as server:
        with pytest.raises(ModelCallError, match=f"may need {needed} tokens, the search has {needed - 1} left"):
            await ask(server.endpoint(), tokens=needed - 1)
        assert server.seen == []
        assert (await ask(server.endpoint(), tokens=needed)).value.name == "a"
    with serving(says("no")) as server:
        with pytest.raises(ModelCallError, match="tokens, the search has") as caught:
            await ask(server.endpoint(), tokens=needed)
        assert len(server.seen) == 1
    assert caught.value.spend.tokens == 15


async def test_without_time_no_call_is_made() -> None:
    with serving(says('{"name": "a"}')) as server:
        with pytest.raises(ModelCallError, match="No time is left") as caught:
            await ask(server.endpoint(), seconds=0)
        assert server.seen == []
    assert caught.value.spend.tokens == 0
