"""What an agent holds open, it lets go with `aclose`, and opens again where it is used again."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest

from agent.config import load_settings
from agent.opening import open_tiers
from retrieval import Request
from retrieval.cache.rooms import Rooms
from retrieval.cache.store import PageStore
from retrieval.index import TransformerEncoder
from tests.retrieval.cache.origins import stored_page
from tests.towns import need_model

pytestmark = pytest.mark.anyio
OPEN_FILES = Path("/proc/self/fd")


def held(folder: Path) -> list[str]:
    """The files of a folder that this process has open or mapped."""
    mapped = Path("/proc/self/maps").read_text(encoding="utf-8")
    found = mapped.splitlines()
    for entry in OPEN_FILES.iterdir():
        with contextlib.suppress(FileNotFoundError):  # the one that lists them
            found.append(str(entry.readlink()))
    return [name for name in found if str(folder) in name]


@pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="open files are listed in /proc on Linux only")
async def test_a_closed_agent_holds_no_file_of_its_cache(tmp_path: Path) -> None:
    """Neither the pages nor their index; a search after that finds what it found before."""
    need_model()
    folder = tmp_path / "cache"
    with PageStore(folder) as store:
        store.put(stored_page("http://moor.example/heather", "The moor is covered with heather.", at=time.time()))
        rooms = Rooms(store, TransformerEncoder.named())
        rooms.catch_up(None)
        rooms.close()
    assert held(folder) == []
    settings = load_settings(
        {
            "tiers": "cache,web",
            "cache": {"folder": folder},
            "web": {"seeds": ["http://moor.example/"], "sites": ["moor.example"]},
        }
    )
    opened = open_tiers(settings, None)
    cache = opened.tiers[0].retriever
    query = Request(query="heather on the moor", question="heather on the moor", k=1, max_age=None)
    for _ in range(2):
        assert len((await cache.retrieve(query)).hits) == 1
        assert any(name.endswith("pages.sqlite") for name in held(folder))
        for connection in opened.connections:
            await connection.aclose()
        assert held(folder) == []
