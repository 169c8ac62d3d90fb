"""Settings of an endpoint: sources, secrets, and the agent that is built from them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent import Settings, load_settings, open_agent
from agent.cli import app
from agent.config import LlmSettings
from agent.doctor import examine
from agent.errors import ConfigError
from tests.agent.llm.server import Step, says_json, serving

KEY = "sk-very-secret-0123456789"
QUESTION = "In which town was Orla Venn born?"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("SUFFICIT_") and name.removeprefix("SUFFICIT_").lower() in _settable():
            monkeypatch.delenv(name)


def _settable() -> set[str]:
    return {*Settings.model_fields, *(f"llm_{name}" for name in LlmSettings.model_fields)}


def test_file_and_environment_make_one_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("sufficit.toml").write_text(
        'planner = "llm"\nmax_tokens = 9000\n[llm]\nurl = "http://127.0.0.1:1/v1"\nmodel = "small"\nattempts = 2\n'
        'without = ["seed"]\n'
    )
    monkeypatch.setenv("SUFFICIT_LLM_MODEL", "large")
    monkeypatch.setenv("SUFFICIT_LLM_TIMEOUT_SECONDS", "7")
    monkeypatch.setenv("SUFFICIT_LLM_KEY", KEY)
    settings = load_settings({"answerer": "llm"})
    endpoint = settings.llm.endpoint()
    assert (settings.planner, settings.answerer, settings.budget.max_tokens) == ("llm", "llm", 9000)
    assert (endpoint.model, endpoint.attempts, endpoint.timeout_seconds) == ("large", 2, 7.0)
    assert endpoint.without == {"seed"}
    assert endpoint.key is not None
    assert endpoint.key.get_secret_value() == KEY
    assert KEY not in f"{settings!r} {endpoint!r} {settings.model_dump_json()}"


def test_by_default_no_language_model_is_used() -> None:
    """An endpoint that is set is not yet used: sending evidence to a server is a decision of its own."""
    settings = load_settings({"llm": {"url": "http://127.0.0.1:1/v1", "model": "m"}})
    assert (settings.planner, settings.answerer) == ("gap", "extractive")


@pytest.mark.parametrize(
    "text",
    [
        f'[llm]\nkey = "{KEY}"\n',
        f'[llm]\napi_key = "{KEY}"\n',
        f'[llm]\nurl = "u"\nmodel = "m"\ntoken = {{ value = "{KEY}" }}\n',
        f'llm = "{KEY}"\n',
        f'llm_key = "{KEY}"\n',
        f'key = "{KEY}"\n',
    ],
)
def test_a_key_in_the_file_is_refused_and_not_shown(text: str) -> None:
    """Such files are shared. Neither the message nor its causes hold it."""
    Path("sufficit.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"key|llm") as caught:
        load_settings()
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in f"{error} {error!r}"
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("SUFFICIT_LLM_URI", "x", "Did you mean SUFFICIT_LLM_URL"),
        ("SUFFICIT_LLM_FOO", "x", r"Known: (?!.*MAX_TURNS).*SUFFICIT_LLM_MODEL"),
        (
            "SUFFICIT_LLM_WITHOUT",
            "seed,model",
            r"llm\.without.*'response_format', 'seed', 'temperature' or 'logprobs'.*'model'",
        ),
        ("SUFFICIT_LLM_WITHOUT", '["seed"', r"llm\.without.*expected e\.g\. seed,temperature"),
        ("SUFFICIT_LLM", "{}", "Unknown setting SUFFICIT_LLM "),
        ("SUFFICIT_LLM_ATTEMPTS", "0", r"'llm\.attempts'.*got '0'"),
        ("SUFFICIT_LLM_WITHOUT", '["model"]', r"llm\.without"),
        ("SUFFICIT_PLANNER", "gpt", r"'planner'.*'gap' or 'llm'"),
    ],
)
def test_a_wrong_setting_is_named(name: str, value: str, match: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=match):
        load_settings()


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('llm_url = "u"', "Did you mean url under [llm]?"),
        ('model = "m"', "Did you mean model under [llm]?"),
        ('[llm]\nurll = "u"', "Did you mean url?"),
        ('[llm]\nllm_url = "u"', "Did you mean url?"),
        ('[llm]\nqqq = "u"', "Known: attempts, "),
    ],
)
def test_a_wrong_key_of_the_file_is_told_as_it_would_stand_there(text: str, hint: str) -> None:
    """The remedy can be copied: no name that is refused at that place."""
    Path("sufficit.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert hint in str(caught.value)


@pytest.mark.parametrize("value", ["seed,temperature", " seed , temperature,", '["seed", "temperature"]'])
def test_fields_left_out_are_a_list_by_comma_or_in_json(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICIT_LLM_WITHOUT", value)
    assert load_settings().llm.without == {"seed", "temperature"}


def test_a_planner_without_an_endpoint_is_told_what_to_set() -> None:
    """Before the index is opened."""
    with pytest.raises(ConfigError, match="SUFFICIT_LLM_URL"):
        open_agent("nowhere", settings=load_settings({"planner": "llm"}))


def test_doctor_tells_of_the_endpoint_without_calling_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICIT_LLM_KEY", KEY)

    def finding(**llm: str) -> tuple[bool, str]:
        settings = load_settings({"llm": llm} if llm else {"planner": "llm"})
        (found,) = [finding for finding in examine(settings) if finding.part == "endpoint"]
        assert KEY not in found.detail
        return found.ok, found.detail

    ok, detail = finding(url="http://127.0.0.1:1/v1", model="m")
    assert ok
    assert detail == "m at http://127.0.0.1:1/v1, a key is set; planner gap, answerer extractive; not called"
    assert finding(url="http://models.example/v1", model="m")[0] is False
    assert finding()[0] is False


def ask_by_model(index: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """`sufficit ask` after one turn, whatever the score, planned and answered by the model at `url`."""
    monkeypatch.setenv("SUFFICIT_LLM_URL", url)
    monkeypatch.setenv("SUFFICIT_LLM_MODEL", "m")
    arguments = ["--index", str(index), "--answer-at=-99", "--abstain-below=-99", "--min-turns=1", "--json"]
    done = CliRunner().invoke(app, ["ask", QUESTION, *arguments, "--planner", "llm", "--answerer", "llm"])
    assert done.exit_code == 0, done.output
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_ask_with_a_model_for_both(town_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole command: real index, real scorer, the model behind a real server."""
    plan = says_json({"queries": ["Orla Venn glass painter"], "reason": "who that is"})
    quote = {"passage": 1, "quote": "She was born in Marrowby and worked there until 1911."}
    with serving(plan, says_json({"answer": "Marrowby", "citations": [quote]})) as server:
        result = ask_by_model(town_index, server.url, monkeypatch)
    assert result["answer"] == "Marrowby"
    assert result["citations"][0]["quote"] == quote["quote"]
    assert result["turns"][0]["queries"] == ["Orla Venn glass painter"]
    assert (result["spend"]["tokens"], result["degraded"]) == (30, False)


def test_ask_without_the_model_that_was_set(town_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server refuses: the gap planner and the extractive answerer take over, and the output says so."""
    with serving(Step(status=404)) as server:
        result = ask_by_model(town_index, server.url, monkeypatch)
    assert (result["action"], result["degraded"]) == ("answer", True)
    assert result["turns"][0]["queries"] == [QUESTION]
    assert [event["kind"] for event in result["events"]] == ["answerer_fell_back"]
