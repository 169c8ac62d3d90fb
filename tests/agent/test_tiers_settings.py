"""Settings of the tiers: order, sections, what a tier lacks, secrets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent import load_settings, open_agent
from agent.errors import ConfigError

KEY = "brave-very-secret-0123456789"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("SUFFICIT_")]:
        monkeypatch.delenv(name)


def test_file_environment_and_flags_make_the_tiers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A section may come from several sources, setting by setting; a list is written by comma."""
    Path("sufficit.toml").write_text(
        'tiers = ["cache", "web"]\nmax_fetches = 9\n'
        '[web]\nseeds = ["https://vale.example/"]\nsites = ["a.example"]\n'
        '[cache]\nfolder = "pages.cache"\n[[cache.overrides]]\nhost = "*.example"\nmax_lifetime = 60\n'
    )
    monkeypatch.setenv("SUFFICIT_TIERS", "web, cache")
    monkeypatch.setenv("SUFFICIT_WEB_ALLOW_PRIVATE", "127.0.0.1,moor.example")
    monkeypatch.setenv("SUFFICIT_BRAVE_KEY", KEY)
    settings = load_settings({"web": {"sites": "b.example,c.example"}, "max_age": 60, "tenant": "t"})
    assert settings.tiers == ("web", "cache")
    assert (settings.web.seeds, settings.web.sites) == (("https://vale.example/",), ("b.example", "c.example"))
    assert settings.web.allow_private == ("127.0.0.1", "moor.example")
    assert (settings.cache.folder, settings.cache.overrides[0].max_lifetime) == (Path("pages.cache"), 60)
    assert (settings.max_age, settings.tenant, settings.budget.max_fetches) == (60, "t", 9)
    assert KEY not in f"{settings!r} {settings.model_dump_json()}"


def test_by_default_only_the_local_index_is_searched() -> None:
    assert load_settings().tiers == ("local",)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('tiers = "local,local"', "each at most once"),
        ("tiers = []", "one tier at least"),
        ('tiers = "local,net"', "'local', 'cache' or 'web'"),
        ("max_fetches = -1", "max_fetches"),
        ("max_age = nan", "max_age"),
        ('[web]\nsitez = "a"', r"web\.sitez.*Did you mean sites"),
        ('seeds = ["https://vale.example/"]', r"Did you mean seeds under \[web\]"),
        ('[cache]\nfolders = "a"', r"cache\.folders.*Did you mean folder"),
        ("[[cache.overrides]]\nhosts = 1", "Did you mean host"),
    ],
)
def test_what_cannot_be_is_refused_with_a_hint(text: str, match: str) -> None:
    Path("sufficit.toml").write_text(text + "\n")
    with pytest.raises(ConfigError, match=match):
        load_settings()


def test_an_unknown_name_in_the_environment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICIT_WEB_SEEDZ", "x")
    with pytest.raises(ConfigError, match="Did you mean SUFFICIT_WEB_SEEDS"):
        load_settings()


@pytest.mark.parametrize(
    "text", [f'brave_key = "{KEY}"', f'[web]\nbrave_key = "{KEY}"', f'[web]\nbrave = "{KEY}"']
)
def test_a_key_in_the_file_is_refused_and_not_shown(text: str) -> None:
    """Such files are shared; the key stands in the environment."""
    Path("sufficit.toml").write_text(text + "\n")
    with pytest.raises(ConfigError) as caught:
        load_settings()
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in f"{error} {error!r}"
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize(
    ("flags", "match"),
    [
        ({"tiers": "local"}, "No index is named"),
        ({"tiers": "cache"}, "no folder"),
        ({"tiers": "web"}, "nothing to find links with"),
        ({"tiers": "web", "web": {"seeds": ["https://a.example"], "sites": ["a b"]}}, "names no site"),
        ({"tiers": "web", "web": {"brave": True}}, "SUFFICIT_BRAVE_KEY is not set"),
        (
            {"tiers": "web", "web": {"mediawiki": "http://x.example/api.php", "mediawiki_pages": "http://x"}},
            "title",
        ),
    ],
)
def test_a_tier_that_lacks_something_says_so_before_anything_is_loaded(
    flags: dict[str, object], match: str
) -> None:
    settings = load_settings(flags)
    with pytest.raises(ConfigError, match=match):
        open_agent(settings=settings)
