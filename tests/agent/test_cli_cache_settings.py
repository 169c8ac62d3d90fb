"""`sufficit cache` and `sufficit ask` mean the same cache: flags, environment, `sufficit.toml`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.cli_cache import cache_app
from agent.cli_cache_open import cache_settings, opened
from agent.errors import ConfigError
from retrieval.cache.store import PageStore
from tests.retrieval.cache.origins import stored_page

runner = CliRunner()
FOLDERS = ("file.cache", "environment.cache", "flag.cache")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three caches with one, two and three pages."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("SUFFICIT_")]:
        monkeypatch.delenv(name)
    for number, folder in enumerate(FOLDERS, start=1):
        with PageStore(folder) as store:
            for page in range(number):
                store.put(stored_page(f"http://moor.example/{page}", f"Heather {page}."))


def stats(*arguments: str) -> Mapping[str, Any]:
    done = runner.invoke(cache_app, ["stats", *arguments, "--json"])
    assert done.exit_code == 0, done.output
    found: Mapping[str, Any] = json.loads(done.stdout)
    return found


def test_the_folder_is_that_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flag comes before the environment, and that before the file."""
    Path("sufficit.toml").write_text(f'[cache]\nfolder = "{FOLDERS[0]}"\n')
    assert stats()["pages"] == 1
    monkeypatch.setenv("SUFFICIT_CACHE_FOLDER", FOLDERS[1])
    assert stats()["pages"] == 2
    assert stats("--cache", FOLDERS[2])["pages"] == 3


def test_without_a_folder_the_remedies_are_named() -> None:
    done = runner.invoke(cache_app, ["stats"])
    assert done.exit_code == 2
    assert "under [cache] in sufficit.toml" in " ".join(done.output.split())


def test_cap_rules_manners_and_tenant_are_those_of_a_search() -> None:
    """What warms the cache stores as much, for as long, for the same tenant, as politely as what searches it."""
    Path("sufficit.toml").write_text(
        'tenant = "acme"\n[web]\ncontact = "https://a.example/bot"\nallow_private = ["b.example"]\n'
        f'[cache]\nfolder = "{FOLDERS[0]}"\nmax_bytes = 0\nunstated_lifetime = 7\n'
    )
    settings = cache_settings(None, tenant=None, web={"allow_private": ["c.example"]})
    assert (settings.tenant, settings.web.contact, settings.web.allow_private) == (
        "acme",
        "https://a.example/bot",
        ("c.example",),
    )
    with opened(None) as store:
        assert store.put(stored_page("http://moor.example/new", "Gorse.")) != []
    Path("sufficit.toml").write_text('[cache]\nfolders = "a"\n')
    with pytest.raises(ConfigError, match="Did you mean folder"):
        cache_settings(None)
