"""The cache as a tier: it nominates, says how old things are, and never claims coverage."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from retrieval import Passage, Request
from retrieval.cache.records import StoredPage
from retrieval.cache.report import Scope, purge, report
from retrieval.cache.rooms import ROOMS, Rooms, room_of
from retrieval.cache.rules import Rules
from retrieval.cache.store import PageStore
from retrieval.cache.tier import CacheTier
from retrieval.cache.verify import verify
from retrieval.errors import TierTimeoutError, TierUnavailableError
from retrieval.index import IndexWriter
from tests.retrieval.cache.origins import NOW, Clock, stored_page
from tests.retrieval.indexes import Hashing, Noting

pytestmark = pytest.mark.anyio


@pytest.fixture
def rooms(store: PageStore) -> Iterator[Rooms]:
    rooms = Rooms(store, Hashing())
    yield rooms
    rooms.close()


@pytest.fixture
def tier(store: PageStore, rooms: Rooms, clock: Clock) -> CacheTier:
    return CacheTier(store, rooms, clock=clock)


async def found(tier: CacheTier, query: str, *, k: int = 10, tenant: str | None = None) -> list[str]:
    answer = await tier.retrieve(Request(query=query, k=k, tenant=tenant))
    return [hit.passage.text for hit in answer.hits]


def page(name: str, *texts: str, at: float = NOW, control: str = "max-age=1000") -> StoredPage:
    return stored_page(f"http://moor.example/{name}", *texts, at=at, control=control)


@pytest.mark.parametrize(
    ("asked", "other", "text"),
    [
        ("Who acquired Tarnwell?", "Who did Tarnwell acquire?", "Tarnwell was acquired by Orrin in 1931."),
        (
            "What is the capital of Austria?",
            "What is the capital of Australia?",
            "The capital of Austria is Vienna.",
        ),
        ("Who won the Dell Cup in 1931?", "Who won the Dell Cup in 1932?", "Orrin won the Dell Cup in 1931."),
        ("Which bridge is open?", "Which bridge is not open?", "The bridge that is open is the old one."),
    ],
)
async def test_alike_questions_are_candidates_and_nothing_more(
    store: PageStore, tier: CacheTier, asked: str, other: str, text: str
) -> None:
    """Case C01: the nearest passage is nominated for both; nothing in the answer says hit, complete or covered."""
    store.put(page("a", text))
    for question in (asked, other):
        answer = await tier.retrieve(Request(query=question, question=question, k=3))
        assert [hit.passage.text for hit in answer.hits] == [text]
        assert (answer.events, answer.degraded, answer.spend.fetches) == ((), False, 0)


async def test_a_hit_has_age_provenance_and_rank(store: PageStore, tier: CacheTier, clock: Clock) -> None:
    """The youngest page of a passage comes first, the others are its other places."""
    store.put(page("old", "The moor is wet."))
    store.put(page("new", "The moor is wet.", at=NOW + 50))
    clock.now += 60
    (hit,) = (await tier.retrieve(Request(query="moor", k=3))).hits
    assert (hit.age, hit.rank, hit.tier, hit.retrieved_at) == (10, 1, "cache", NOW + 60)
    assert [place.source_id for place in hit.passage.provenance] == [
        "http://moor.example/new",
        "http://moor.example/old",
    ]
    assert math.isfinite(hit.score)


async def test_a_changed_page_is_found_by_its_new_text_only(store: PageStore, tier: CacheTier) -> None:
    """Case C05: old chunks are replaced at once, also while another process keeps the index locked."""
    store.put(page("a", "The tower is red.", "Both say this of the tower."))
    assert len(await found(tier, "tower")) == 2
    with IndexWriter.open(room_of(store.folder, None), Hashing(), links=None):
        store.put(page("a", "The tower is blue.", "Both say this of the tower.", at=NOW + 1))
        answer = await tier.retrieve(Request(query="tower", k=10))
        assert [hit.passage.text for hit in answer.hits] == ["Both say this of the tower."]
        assert [event.kind for event in answer.events] == ["cache_behind"]
        assert verify(store).pending == 1
    assert set(await found(tier, "tower")) == {"The tower is blue.", "Both say this of the tower."}
    assert verify(store) == verify(store)
    assert (verify(store).pending, verify(store).faults) == (0, ())


async def test_removed_and_evicted_pages_are_not_nominated(tmp_path: Path, clock: Clock) -> None:
    """Purged by the operator or evicted by the cap: gone from the next answer, and from the index after it."""
    with PageStore(tmp_path, max_bytes=100) as store:
        rooms = Rooms(store, Hashing())
        tier = CacheTier(store, rooms, clock=clock)
        store.put(page("a", "The first tower is red."))
        assert await found(tier, "tower") == ["The first tower is red."]
        evicted = store.put(page("b", "The second tower is very high, and blue."))
        assert evicted == ["http://moor.example/a"]
        assert await found(tier, "tower") == ["The second tower is very high, and blue."]
        purge(store, Scope(), now=NOW)
        assert await found(tier, "tower") == []
        assert not verify(store).faults
        rooms.close()


async def test_tenants_find_only_their_own(store: PageStore, tier: CacheTier) -> None:
    """Each has an index of its own; not even the frequency of a word crosses."""
    for tenant in (None, "", "a", "A"):
        store.put(stored_page("http://x/", f"The tower of {tenant!r}.", tenant=tenant))
    for tenant in (None, "", "a", "A"):
        assert await found(tier, "tower", tenant=tenant) == [f"The tower of {tenant!r}."]
    assert await found(tier, "tower", tenant="b") == []
    assert len(list((store.folder / ROOMS).iterdir())) == 5


async def test_stale_passages_are_left_out_and_told(
    store: PageStore, rooms: Rooms, tier: CacheTier, clock: Clock
) -> None:
    """Case C02: served only if the rules allow it, and then marked with its age."""
    store.put(page("a", "The tower is red.", control="max-age=100"))
    store.put(page("b", "The tower is blue.", control="max-age=1000"))
    store.put(page("c", "The tower is grey.", control="max-age=100, must-revalidate"))
    store.put(page("d", "The tower is pink.", control="max-age=100, stale-while-revalidate=200"))
    store.put(page("e", "The tower is gold.", control="no-cache"))
    clock.now += 150
    answer = await tier.retrieve(Request(query="tower", k=10))
    assert {hit.passage.text for hit in answer.hits} == {"The tower is blue.", "The tower is pink."}
    assert sorted(event.kind for event in answer.events) == ["cache_stale_left_out"] * 3 + ["cache_stale_served"]
    lenient = CacheTier(store, rooms, clock=clock, rules=Rules(stale_on_error=1e6), serve_stale=True)
    answer = await lenient.retrieve(Request(query="tower", k=10))
    texts = {hit.passage.text for hit in answer.hits}
    assert texts == {"The tower is blue.", "The tower is pink.", "The tower is red."}
    assert {hit.age for hit in answer.hits} == {150}
    assert any("is 150 s old; its lifetime is 100 s" in event.detail for event in answer.events)


async def test_wishes_of_a_request(store: PageStore, tier: CacheTier, clock: Clock) -> None:
    """Age, exclusions and k are honoured; a blank query finds nothing; k is filled behind what is left out."""
    for number in range(60):
        old = number % 6 != 0
        store.put(page(str(number), f"The tower number {number} is high.", at=NOW - 500 * old))
    clock.now += 10
    answer = await tier.retrieve(Request(query="tower", k=8, max_age=100))
    assert len(answer.hits) == 8
    assert {hit.age for hit in answer.hits} == {10}
    first = answer.hits[0].passage.id
    answer = await tier.retrieve(Request(query="tower", k=10, max_age=100, exclude=frozenset({first})))
    assert first not in {hit.passage.id for hit in answer.hits}
    assert len(answer.hits) == 9
    assert await found(tier, "  ") == []


async def test_only_what_is_new_is_encoded(store: PageStore, clock: Clock) -> None:
    """A page that is stored again with one changed passage costs one encoding, whoever stores it."""
    encoder = Noting()
    rooms = Rooms(store, encoder)
    store.put(page("a", "The tower is red.", "The bridge is old."))
    assert rooms.catch_up(None)
    before = len(encoder.texts)
    store.put(page("a", "The tower is blue.", "The bridge is old.", at=NOW + 1))
    assert rooms.catch_up(None)
    assert encoder.texts[before:] == ["Heather. The tower is blue."]
    rooms.close()


async def test_a_crash_between_index_and_journal_changes_nothing(
    store: PageStore, rooms: Rooms, tier: CacheTier
) -> None:
    """Entries that were taken over already are taken over again."""
    store.put(page("a", "The tower is red."))
    assert rooms.catch_up(None)
    with store.database.writing() as connection:
        connection.execute("INSERT INTO journal (tenant, key) SELECT tenant, key FROM pages")
    assert await found(tier, "tower") == ["The tower is red."]
    assert (verify(store).pending, verify(store).faults) == (0, ())


async def test_a_room_that_was_removed_is_filled_again(tmp_path: Path, clock: Clock) -> None:
    """The index is never the truth: without it the store fills a new one."""
    with PageStore(tmp_path) as store:
        store.put(page("a", "The tower is red."))
        first = Rooms(store, Hashing())
        assert first.catch_up(None)
        first.close()
        shutil.rmtree(tmp_path / ROOMS)
        assert verify(store).pending == 1
        again = Rooms(store, Hashing())
        assert await found(CacheTier(store, again, clock=clock), "tower") == ["The tower is red."]
        again.close()


async def test_an_index_that_differs_is_a_fault(store: PageStore, rooms: Rooms) -> None:
    """`verify` sees what a broken index would hide or show."""
    store.put(page("a", "The tower is red."))
    assert rooms.catch_up(None)
    rooms.close()
    with IndexWriter.open(room_of(store.folder, None), Hashing(), links=None) as writer:
        writer.delete(["http://moor.example/a"])
        writer.commit()
    (fault,) = verify(store).faults
    assert (fault.where, "The index lacks 1 passages" in fault.detail) == ("index", True)


async def test_a_deadline_and_a_failing_encoder_are_typed(store: PageStore, clock: Clock) -> None:
    """Whatever goes wrong is a TierError; time is counted in slices of the journal."""
    encoder = Noting()
    rooms = Rooms(store, encoder)
    tier = CacheTier(store, rooms, clock=clock)
    for number in range(40):
        store.put(page(str(number), f"The tower {number}."))
    assert not rooms.catch_up(None, seconds=-1)
    assert rooms.catch_up(None)
    with pytest.raises(TierTimeoutError, match="no answer before the deadline"):
        await tier.retrieve(Request(query="tower", k=3, deadline=time.monotonic() - 1))
    store.put(page("new", "A new tower."))
    encoder.fails = True
    answer = await tier.retrieve(Request(query="new tower", k=3))  # the late call may have encoded "tower"
    assert {event.kind for event in answer.events} == {"cache_index_failed", "vectors_failed"}
    assert (answer.degraded, len(answer.hits), verify(store).pending) == (True, 3, 1)
    store.close()
    with pytest.raises(TierUnavailableError, match="was closed"):
        await tier.retrieve(Request(query="tower", k=3))
    rooms.close()


async def test_credit_reaches_the_pages(store: PageStore, tier: CacheTier) -> None:
    """What a question needed is worth more, and counts as use; unknown passages and NaN harm nothing."""
    store.put(page("a", "The tower is red."))
    store.put(page("b", "The bridge is old."))
    ids = [Passage(text=text).id for text in ("The tower is red.", "The bridge is old.", "unknown")]
    await tier.credit("Which tower?", dict(zip(ids, (2.0, math.nan, 1.0), strict=True)))
    with store.database.reading() as connection:
        worth = dict(connection.execute("SELECT key, priority FROM pages").fetchall())
    assert worth["http://moor.example/a"] > worth["http://moor.example/b"] > 0
    assert report(store).sites[0].tally.hits == 2
    assert report(store).pending == 0
