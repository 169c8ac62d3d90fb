"""A chat behind an endpoint as a `Generator`."""

from __future__ import annotations

import pytest

from agent.errors import ModelCallError
from agent.llm.chat_generator import ChatGenerator
from rinse.generator import Generator
from tests.agent.llm.server import Step, says, serving


def test_a_prompt_is_one_user_turn() -> None:
    """Greedy; thoughts are left out, and the text ends before the first stop."""
    with serving(says("<think>hm.</think>A town. And more")) as server:
        model = ChatGenerator(server.endpoint())
        assert isinstance(model, Generator)
        made = model.generate("Where?", max_tokens=9, stop=["."])
    assert (made.text, made.stopped, model.name) == ("A town", True, "scripted-1")
    (seen,) = server.seen
    assert (seen.path, seen.fields["max_tokens"], seen.fields["temperature"]) == ("/v1/chat/completions", 9, 0)
    assert seen.fields["messages"] == [{"role": "user", "content": "Where?"}]


def test_what_a_chat_cannot_do_is_a_typed_error() -> None:
    """Rather than a figure that means something else; a failing server is one, too."""
    with serving(Step(status=500)) as server:
        model = ChatGenerator(server.endpoint(attempts=1))
        with pytest.raises(ModelCallError, match="cannot score"):
            model.logprob("a", "b")
        with pytest.raises(ValueError, match="temperature 0"):
            model.generate("a", max_tokens=1, temperature=0.5)
        with pytest.raises(ModelCallError, match="500"):
            model.generate("a", max_tokens=1)
    assert len(server.seen) == 1


def test_models_and_addresses_are_told_apart() -> None:
    """Scores and replies of one are never taken for another's."""
    with serving() as one, serving() as other:
        prints = {
            ChatGenerator(endpoint).fingerprint
            for endpoint in (one.endpoint(), other.endpoint(), one.endpoint(model="scripted-2"))
        }
    assert len(prints) == 3
