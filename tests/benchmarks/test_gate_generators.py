"""What a generator is told, what counts as its refusal, and that both kinds of generator answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import ConfigError, ModelCallError
from benchmarks.gate.generators import EndpointReplier, LocalReplier, choose
from benchmarks.gate.prompt import CHARACTERS, refuses, user_turn
from retrieval import EvidenceSet, Passage
from retrieval.errors import BackboneNotFoundError
from tests.agent.llm.server import Step, says, serving
from tests.benchmarks.gate_world import long_passage
from tests.rinse.baselines.tiny_chat import build_tiny_chat


@pytest.mark.parametrize(
    ("reply", "refused"),
    [
        ("unanswerable", True),
        ("The question is UN-answerable.", True),
        ("ｕｎａｎｓｗｅｒａｂｌｅ!", True),
        ("I cannot answer that", False),
        ("", False),
        ("answerable", False),
    ],
)
def test_a_refusal_holds_the_word_it_was_told_to_say(reply: str, refused: bool) -> None:
    """The rule is one word: an apology, or nothing, is no refusal."""
    assert refuses(reply) is refused


def test_the_generator_reads_passages_up_to_1600_characters() -> None:
    """Passages are numbered in the order of the set and cut as in the paper; the question stands last."""
    fits, cut = long_passage(CHARACTERS), long_passage(CHARACTERS + 1)
    shown = user_turn("Who?", EvidenceSet.of([fits, cut]))
    lines = shown.splitlines()
    assert [line[:4] for line in lines if line.startswith("[")] == ["[1] ", "[2] "]
    assert shown.count("#") == 1
    assert shown.endswith("Question: Who?")
    assert "unanswerable" in shown


def test_braces_in_a_passage_are_text() -> None:
    """Texts of strangers are no format strings."""
    assert "{question} {0}" in user_turn("{documents}?", EvidenceSet.of([Passage(text="{question} {0}")]))


def test_a_local_model_says_the_same_twice(tmp_path: Path, tiny_backbone: Path) -> None:
    """Greedy; its name and content identify it, wherever it lies."""
    folder = build_tiny_chat(tmp_path / "tiny-chat", tiny_backbone)
    choice = choose(str(folder))
    assert choice.name == "tiny-chat"
    replier = choice.make()
    assert isinstance(replier, LocalReplier)
    said = replier.reply("the king built a bridge")
    assert said == choice.make().reply("the king built a bridge")
    assert choice.fingerprint == choose(str(folder)).fingerprint


def test_an_endpoint_is_asked_through_its_chat() -> None:
    """Greedy, 24 tokens, one user turn; what a model thinks first is no part of its reply."""
    with serving(says("<think>unanswerable?</think>Paris")) as server:
        assert EndpointReplier(server.endpoint()).reply("Where?") == "Paris"
    (seen,) = server.seen
    assert (seen.fields["max_tokens"], seen.fields["temperature"]) == (24, 0)
    assert seen.fields["messages"] == [{"role": "user", "content": "Where?"}]


def test_a_failing_endpoint_is_a_typed_error() -> None:
    """The record becomes a failure; nothing is counted as an answer or a refusal."""
    with serving(Step(status=500)) as server, pytest.raises(ModelCallError):
        EndpointReplier(server.endpoint(attempts=1)).reply("Where?")


def test_the_endpoint_is_that_of_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`endpoint` is the model under [llm], `endpoint:MODEL` another one of its server; unset, it says so."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="SUFFICIT_LLM_URL"):
        choose("endpoint")
    monkeypatch.setenv("SUFFICIT_LLM_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("SUFFICIT_LLM_MODEL", "one")
    first, other = choose("endpoint"), choose("endpoint:two")
    assert (first.name, other.name) == ("one", "two")
    assert first.fingerprint != other.fingerprint


def test_an_absent_model_is_told_before_anything_is_done() -> None:
    """With what to do about it."""
    with pytest.raises(BackboneNotFoundError):
        choose("no-such-model-anywhere")
