"""Settings: order of sources, unknown keys, values out of range."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.config import Settings, load_settings
from agent.errors import ConfigError
from policies import Budget


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"SUFFICIT_{name.upper()}", raising=False)


def test_flags_beat_the_environment_which_beats_the_file_which_beats_the_defaults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("sufficit.toml").write_text("max_turns = 3\nmax_calls = 7\nk = 9\n")
    monkeypatch.setenv("SUFFICIT_MAX_TURNS", "4")
    monkeypatch.setenv("SUFFICIT_K", "8")
    settings = load_settings({"k": 2, "policy": None})
    assert (settings.k, settings.max_turns, settings.max_calls) == (2, 4, 7)
    assert settings.policy == Settings.model_fields["policy"].default
    assert settings.budget == Budget(max_turns=4, max_calls=7, max_seconds=settings.max_seconds)


def test_an_unknown_key_is_refused_wherever_it_stands_and_the_nearest_one_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("sufficit.toml").write_text("max_turn = 3\n")
    with pytest.raises(ConfigError, match=r"'max_turn'.*Did you mean max_turns"):
        load_settings()
    Path("sufficit.toml").unlink()
    monkeypatch.setenv("SUFFICIT_POLICI", "band")
    with pytest.raises(ConfigError, match=r"SUFFICIT_POLICI.*Did you mean SUFFICIT_POLICY"):
        load_settings()


@pytest.mark.parametrize(
    ("key", "value"), [("k", 0), ("max_turns", -1), ("answer_at", float("nan")), ("max_seconds", float("inf"))]
)
def test_a_value_out_of_range_is_named_with_its_value(key: str, value: float) -> None:
    """NaN and infinity are no thresholds and no budgets (L07)."""
    with pytest.raises(ConfigError, match=rf"'{key}'.*got {value}"):
        load_settings({key: value})


def test_a_file_that_is_no_toml_is_a_clear_error() -> None:
    Path("sufficit.toml").write_text("max_turns = = 3")
    with pytest.raises(ConfigError, match=r"sufficit\.toml"):
        load_settings()


def test_a_page_without_a_scheme_is_refused() -> None:
    """It would be asked for never, and nobody told."""
    for name in ("seeds", "sitemaps"):
        Path("sufficit.toml").write_text(f'[web]\n{name} = ["https://example.org/a", "127.0.0.1:8471/b"]\n')
        with pytest.raises(ConfigError, match=r"127\.0\.0\.1:8471/b' is no address of a page.*https://"):
            load_settings()
