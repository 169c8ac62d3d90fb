"""The endpoint as a `Generator`."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from agent.errors import ModelCallError
from agent.llm.generator import EndpointGenerator
from rinse.generator import Generator
from tests.agent.llm.server import Step, serving


def completes(text: str, *, finish: str = "stop", **logprobs: Any) -> Step:
    choice = {"text": text, "finish_reason": finish, "logprobs": logprobs or None}
    return Step(json.dumps({"choices": [choice], "usage": {"prompt_tokens": 4}}).encode())


def test_a_completion_with_its_log_probabilities() -> None:
    """The prompt is sent as it is; a rounding error above 0 is 0."""
    with serving(completes(" town", finish="length", tokens=[" to", "wn"], token_logprobs=[-0.5, 1e-9])) as server:
        model = EndpointGenerator(server.endpoint())
        assert isinstance(model, Generator)
        made = model.generate("A market", max_tokens=2, seed=5, stop=["."])
    assert (made.text, made.tokens, made.logprobs) == (" town", (" to", "wn"), (-0.5, 0.0))
    assert (made.prompt_tokens, made.stopped, model.name) == (4, False, "scripted-1")
    (seen,) = server.seen
    assert seen.path == "/v1/completions"
    sent = {
        name: seen.fields[name] for name in ("prompt", "max_tokens", "temperature", "seed", "stop", "logprobs")
    }
    assert sent == {
        "prompt": "A market",
        "max_tokens": 2,
        "temperature": 0.0,
        "seed": 5,
        "stop": ["."],
        "logprobs": 1,
    }


@pytest.mark.parametrize("logprobs", [{}, {"tokens": ["a", "b"], "token_logprobs": [-1.0, None]}])
def test_a_server_without_log_probabilities_gives_none(logprobs: dict[str, Any]) -> None:
    with serving(completes("ab", **logprobs)) as server:
        made = EndpointGenerator(server.endpoint()).generate("x", max_tokens=2)
    assert (made.text, made.tokens, made.logprobs, made.stopped) == ("ab", (), (), True)


def test_logprob_sums_the_tokens_of_the_continuation() -> None:
    echoed: dict[str, Any] = {"tokens": ["A", " mar", "ket", " town"], "token_logprobs": [None, -9.0, -0.25, -0.5]}
    with serving(completes("", **echoed)) as server:
        model = EndpointGenerator(server.endpoint())
        assert model.logprob("A mar", "ket town") == -0.75
        assert model.logprob("A mar", "") == 0.0
    assert len(server.seen) == 1
    assert server.seen[0].fields["echo"] is True


@pytest.mark.parametrize(
    ("logprobs", "message"),
    [
        ({}, "does not echo"),
        ({"tokens": ["ket"], "token_logprobs": [-1.0]}, "does not echo"),
        ({"tokens": ["A ", "mar", "ket"], "token_logprobs": [None, -1.0]}, "does not echo"),
        ({"tokens": ["A market"], "token_logprobs": [None]}, "no log-probability"),
    ],
)
def test_a_server_that_does_not_echo_is_an_error_not_a_number(logprobs: dict[str, Any], message: str) -> None:
    """A wrong sum would be believed."""
    with (
        serving(completes("", **logprobs)) as server,
        pytest.raises(ModelCallError, match=message),
    ):
        EndpointGenerator(server.endpoint()).logprob("A mar", "ket")


async def test_it_works_where_an_event_loop_runs() -> None:
    """In a worker thread, as the seam wants it, and even in the loop's own thread."""
    with serving(completes("x")) as server:
        model = EndpointGenerator(server.endpoint())
        made = await asyncio.to_thread(model.generate, "a", max_tokens=1)
        assert made.text == model.generate("a", max_tokens=1).text == "x"
