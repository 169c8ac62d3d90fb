"""The origin of the simulator: a real server that validates, refuses, searches, and counts what it did."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.coverage.desk import Clock
from benchmarks.coverage.needs import find_needs
from benchmarks.coverage.origin import Origin, here, running
from benchmarks.coverage.world import DAY, SEARCH_HOST, SITES, World, build_world
from retrieval.web.fetch import Fetcher
from retrieval.web.providers.client import ApiClient
from retrieval.web.providers.mediawiki import MediaWikiSearch
from retrieval.web.settings import FetchSettings
from tests.benchmarks.coverage_towns import town_records

MANNERS = FetchSettings(
    allow_private=frozenset({SEARCH_HOST, *(site.host for site in SITES)}), per_host_interval=0.0
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    records = town_records(tmp_path_factory.mktemp("towns"))
    return build_world([one.passage for record in records for one in record.passages], [], seed=0)


@pytest.fixture(scope="module")
def origin(world: World) -> Iterator[Origin]:
    with running(world) as started:
        yield started


def test_a_world_is_its_seed_and_spares_what_is_needed(tmp_path: Path, world: World) -> None:
    records = town_records(tmp_path)
    needed = [one.passage for record in records for one in record.passages]
    assert build_world(needed, [], seed=0) == world
    assert not any(page.forbidden or page.gone for page in world.pages)
    assert all(page.revision(0.0) < page.revision(90 * DAY) for page in world.pages)


def test_every_need_is_what_extraction_gives(tmp_path: Path, world: World) -> None:
    """Answerable questions have one need each, on the page that was built from their passage."""
    needs = find_needs(town_records(tmp_path), world)
    assert needs.unjudged == frozenset()
    assert [len(found) for found in needs.by_record.values()] == [1, 1, 0] * 6


@pytest.mark.anyio
async def test_a_page_is_validated_and_counted(origin: Origin, world: World) -> None:
    """200 with a body, then 304 without one; after the page's revision 200 again. The origin counts the same."""
    origin.reset()
    origin.set_clock(1_000_000.0)
    page = next(page for page in world.pages if page.site.cache_control.startswith("max-age") and not page.flaky)
    clock = Clock()
    clock.now = 1_000_000.0
    async with Fetcher(MANNERS, clock=clock, resolve=here) as fetcher:
        url = origin.url(page.host, page.path)
        first = await fetcher.fetch(url)
        known = {"if-none-match": first.headers["etag"]}
        second = await fetcher.fetch(url, validators=known)
        origin.set_clock(1_000_000.0 + 2 * page.site.period)
        third = await fetcher.fetch(url, validators=known)
    assert (first.outcome, second.outcome, third.outcome) == ("ok", "not_modified", "ok")
    counts = origin.counts()
    assert (counts.pages, counts.not_modified, counts.robots) == (3, 1, 1)
    assert counts.bytes == first.bytes_received + third.bytes_received
    assert origin.by_site()[page.host] == counts


@pytest.mark.anyio
async def test_the_search_names_the_page(origin: Origin, world: World) -> None:
    async with ApiClient(MANNERS, resolve=here) as client:
        endpoint = origin.url(SEARCH_HOST, "/w/api.php")
        found = await MediaWikiSearch(site="http://{}", endpoint=endpoint, client=client).search(
            "Tolvik harbour", 3
        )
    page = next(page for page in world.pages if page.title == "Tolvik")
    assert found[0].url == origin.url(page.host, page.path)


@pytest.mark.anyio
async def test_there_is_no_way_out_of_the_simulation() -> None:
    with pytest.raises(OSError, match=r"example\.org"):
        await here("example.org", 80)
