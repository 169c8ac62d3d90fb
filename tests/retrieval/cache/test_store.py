"""The store: whole transactions, tenants apart, eviction by worth, damage that is told."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval import Passage
from retrieval.cache.admission import MOST_CONTRIBUTION, priority
from retrieval.cache.database import PAGES_FILE
from retrieval.cache.records import Refusal, Tally
from retrieval.cache.report import Scope, export, purge, report
from retrieval.cache.store import PageStore
from retrieval.cache.verify import verify
from retrieval.errors import CacheBusyError, CacheCorruptError, CacheError
from tests.retrieval.cache.origins import NOW, stored_page

KEY = "http://moor.example/a"


def test_a_page_comes_back_as_it_was(store: PageStore) -> None:
    """Page, passages, headers and provenance survive, whatever the text holds."""
    page = stored_page(KEY, "A moor is wet.", "Zoë said: 'x\x00y' — 東京都.", tenant="acme")
    assert store.put(page) == []
    assert store.page("acme", KEY) == page
    assert store.page(None, KEY) is None
    with PageStore(store.folder) as again:
        assert again.page("acme", KEY) == page


def test_lone_surrogates_are_stored_as_something(store: PageStore) -> None:
    """No text of a page can make a write fail."""
    store.put(stored_page(KEY, "A \ud800 moor.", " ", title="T\udfff"))
    found = store.page(None, KEY)
    assert found is not None
    assert [piece.text for piece in found.passages] == ["A \ufffd moor."]


def test_a_page_takes_the_place_of_its_older_state(store: PageStore) -> None:
    """Case C05: the old passages are gone in the same transaction; a passage is its content."""
    old, new = (
        stored_page(KEY, "It is 5 m high.", "Both."),
        stored_page(KEY, "It is 6 m high.", "Both.", at=NOW + 1),
    )
    store.put(old)
    store.put(new)
    gone, kept, fresh = (Passage(text=text).id for text in ("It is 5 m high.", "Both.", "It is 6 m high."))
    assert store.places(None, [gone, kept, fresh]).keys() == {kept, fresh}
    assert not verify(store).faults


def test_a_text_of_two_pages_has_two_places(store: PageStore) -> None:
    """Identity is content: removing one page leaves the passage to the other."""
    store.put(stored_page(KEY, "Both."))
    store.put(stored_page(KEY + "2", "Both."))
    key = Passage(text="Both.").id
    assert [place.key for place in store.places(None, [key])[key]] == [KEY, KEY + "2"]
    store.refuse(None, KEY, None, forget=True)
    assert [place.key for place in store.places(None, [key])[key]] == [KEY + "2"]


_TENANTS = st.sampled_from([None, "", "a", "A", "=", "b'; --", "\udcff", "a\x00"])
_ACTIONS = st.lists(
    st.tuples(_TENANTS, st.sampled_from(["put", "refuse", "credit", "purge"]), st.sampled_from("xyz")), max_size=12
)


@settings(max_examples=12)
@given(_ACTIONS, _TENANTS)
def test_nothing_crosses_tenants(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[str | None, str, str]], reader: str | None
) -> None:
    """What one tenant sees is what it would see if the others did not exist, evictions included."""
    with (
        PageStore(tmp_path_factory.mktemp("all"), max_bytes=25) as shared,
        PageStore(tmp_path_factory.mktemp("one"), max_bytes=25) as alone,
    ):
        for number, (tenant, action, name) in enumerate(actions):
            for store in (shared, alone) if tenant == reader else (shared,):
                _act(store, tenant, action, name, number)
        assert _seen(shared, reader) == _seen(alone, reader)
        assert not verify(shared).faults


def _act(store: PageStore, tenant: str | None, action: str, name: str, number: int) -> None:
    key = f"http://{name}.example/"
    if action == "put":
        store.put(stored_page(key, f"Text {name}.", tenant=tenant, at=NOW + number))
    elif action == "refuse":
        note = Refusal(key=key, outcome="error", detail="", status=500, stored_at=NOW, life=60)
        store.refuse(tenant, key, note, Tally(failures=1), forget=False)
    elif action == "credit":
        store.credit(tenant, "Who?", {Passage(text=f"Text {name}.").id: 1.0}, NOW + number)
    elif tenant is not None:
        purge(store, Scope(tenant=tenant, counters=True), now=NOW)


def _seen(store: PageStore, tenant: str | None) -> object:
    keys = [f"http://{name}.example/" for name in "xyz"]
    ids = [Passage(text=f"Text {name}.").id for name in "xyz"]
    sites = [
        site for site in report(store).sites if site.tenant == (tenant and tenant.replace("\udcff", "\\udcff"))
    ]
    pages = [store.page(tenant, key) for key in keys]
    return pages, [store.refusal(tenant, key) for key in keys], store.places(tenant, ids), sites


def test_what_is_worth_least_goes_first(tmp_path: Path) -> None:
    """Demand, contribution and refetch cost keep a page, size counts against it; ties go by key."""
    text = "x" * 500
    with PageStore(tmp_path, max_bytes=4_500) as store:
        for name in "abcd":
            assert store.put(stored_page(f"http://{name}/", text + name, seconds=5.0 if name == "c" else 0)) == []
        store.hit(None, "http://a/", NOW)
        store.credit(None, "Who?", {Passage(text=text + "b").id: 0.5, "unknown": 1.0}, NOW)
        evicted = [store.put(stored_page(f"http://e{n}/", text + f"e{n}"))[0] for n in range(3)]
        assert evicted[0] == "http://d/"
        assert not {"http://b/", "http://c/"} & set(evicted)
        assert report(store).bytes <= 4_500
        assert not verify(store).faults


def test_a_page_that_is_larger_than_the_cap_is_not_kept(tmp_path: Path) -> None:
    """It evicts nobody else for ever: it is worth the least by its size, or the cap is empty."""
    with PageStore(tmp_path, max_bytes=100) as store:
        assert "http://big/" in store.put(stored_page("http://big/", "x" * 1000))
        assert store.page(None, "http://big/") is None
    with pytest.raises(ValueError, match="max_bytes is -1"):
        PageStore(tmp_path, max_bytes=-1)


def test_old_worth_does_not_keep_a_page_for_ever(tmp_path: Path) -> None:
    """The floor rises with each eviction, so that new pages overtake what is no longer asked for."""
    with PageStore(tmp_path, max_bytes=2_500) as store:
        store.put(stored_page("http://once/", "y" * 500))
        for _ in range(5):
            store.hit(None, "http://once/", NOW)
        for number in range(30):
            store.put(stored_page(f"http://n{number}/", f"{number:03}" + "x" * 497))
        assert store.page(None, "http://once/") is None


@given(st.floats(allow_nan=True), st.floats(0, 60), st.integers(0, 10**9), st.integers(1, 1000))
def test_a_priority_is_finite_and_grows_with_demand(
    contribution: float, seconds: float, size: int, asked: int
) -> None:
    """No reported figure, NaN and infinity included, makes a page immortal."""
    one = priority(floor=0, asked=asked, contribution=contribution, seconds=seconds, size=size)
    more = priority(floor=0, asked=asked + 1, contribution=contribution, seconds=seconds, size=size)
    assert 0 < one < more <= (asked + 1) * (1 + MOST_CONTRIBUTION) * 61


def test_the_same_question_again_replaces_its_credit(store: PageStore) -> None:
    """A contribution is a mean over questions; asking one of them often is demand, not contribution."""
    store.put(stored_page(KEY, "A moor is wet."))
    for question, worth in (("Who?", 4.0), ("who", 2.0), ("Where?", 0.0)):
        store.credit(None, question, {Passage(text="A moor is wet.").id: worth}, NOW)
    with store.database.reading() as connection:
        rows = connection.execute("SELECT contribution FROM credits ORDER BY contribution").fetchall()
        (asked,) = connection.execute("SELECT asked FROM demand").fetchone()
    assert rows == [(0.0,), (2.0,)]
    assert asked == 4


def test_counters_tell_an_owner_what_was_asked(store: PageStore) -> None:
    """Requests, bytes, revalidations, refusals and hits by site survive the pages themselves."""
    page = stored_page(KEY, "A moor is wet.")
    store.put(page, Tally(requests=2, bytes=700))
    store.freshen(page, replace(page.exchange, received_at=NOW + 5), Tally(requests=1, revalidations=1))
    store.hit(None, KEY, NOW)
    store.refuse(None, "http://moor.example:81/b", None, Tally(refusals=1), forget=False)
    first, second = report(store).sites
    assert (first.site, first.pages, first.tally) == (
        "moor.example", 1, Tally(requests=3, bytes=700, revalidations=1, hits=1)
    )  # fmt: skip
    assert (second.site, second.tally.refusals) == ("moor.example:81", 1)
    assert purge(store, Scope(site="MOOR.example"), now=NOW) == 1
    assert report(store).sites[0].tally == first.tally
    assert report(store).pages == 0


def test_a_304_for_another_state_changes_nothing(store: PageStore) -> None:
    """Another process replaced the page while it was validated: its newer state stays."""
    old, new = stored_page(KEY, "Old."), stored_page(KEY, "New.", at=NOW + 5)
    store.put(new)
    assert not store.freshen(old, old.exchange)
    assert store.page(None, KEY) == new


def test_purging_by_age_tenant_and_all(store: PageStore) -> None:
    """Conditions add up; the text is no longer in the files."""
    store.put(stored_page(KEY, "Old secret text."))
    store.put(stored_page(KEY, "Young text.", tenant="a", at=NOW + 100))
    assert purge(store, Scope(tenant="a", older_than=50), now=NOW + 100) == 0
    assert purge(store, Scope(older_than=50), now=NOW + 100) == 1
    store.close()
    for path in store.folder.iterdir():
        assert b"secret" not in path.read_bytes()
    with PageStore(store.folder) as again:
        assert [row["id"] for row in export(again)] == [KEY]
        assert purge(again, Scope(nameless=True), now=NOW) == 0
        assert purge(again, Scope(counters=True), now=NOW) == 1
        assert report(again).sites == ()


def test_another_writer_is_waited_for_and_then_told(tmp_path: Path) -> None:
    """Case C04: never "database is locked", but a typed error after a documented time."""
    with PageStore(tmp_path, busy_seconds=0.05) as store, store.database.writing():
        with pytest.raises(CacheBusyError, match=r"locked by another writer for 0\.05 s"):
            store.put(stored_page(KEY, "A moor is wet."))
        assert store.page(None, KEY) is None


def test_ten_threads_write_and_one_reads(tmp_path: Path) -> None:
    """Case C04: no lost write, no error, and each read is one page as it was written."""
    store = PageStore(tmp_path / "busy")

    def write(name: int) -> None:
        for number in range(5):
            store.put(stored_page(f"http://{name}/{number}", f"Text {name}.", f"Text {name} {number}."))

    threads = [threading.Thread(target=write, args=(name,)) for name in range(10)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        page = store.page(None, "http://3/4")
        assert page is None or len(page.passages) == 2
    for thread in threads:
        thread.join()
    assert report(store).pages == 50
    assert not verify(store).faults
    store.close()


def test_damage_is_told(tmp_path: Path) -> None:
    """Case C04: a file that is something else, cut off, of another version or changed inside."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / PAGES_FILE).write_bytes(b"no database at all, but long enough to look at " * 30)
    with pytest.raises(CacheCorruptError, match="Remove the cache's folder"):
        PageStore(tmp_path / "a")
    sqlite3.connect(tmp_path / "a" / "other").close()
    with PageStore(tmp_path / "b") as store:
        store.put(stored_page(KEY, "A moor is wet."))
    _execute(tmp_path / "b", "UPDATE passages SET text = 'A moor is dry.'")
    with PageStore(tmp_path / "b") as store:
        with pytest.raises(CacheCorruptError, match="is not the one it was"):
            store.page(None, KEY)
        assert [fault.where for fault in verify(store).faults] == [KEY]
    _execute(tmp_path / "b", "UPDATE pages SET page = '{'")
    _execute(tmp_path / "b", "UPDATE tenants SET bytes = 1")
    with PageStore(tmp_path / "b") as store:
        assert [fault.where for fault in verify(store).faults] == ["counters", KEY]
    _execute(tmp_path / "b", "PRAGMA user_version = 99")
    with pytest.raises(CacheError, match="has version 99"):
        PageStore(tmp_path / "b")
    _execute(tmp_path / "b", "PRAGMA application_id = 7")
    with pytest.raises(CacheCorruptError, match="is no coverage cache"):
        PageStore(tmp_path / "b")


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """The message names the remedy."""
    (tmp_path / "file").touch()
    with pytest.raises(CacheError, match="Name a folder that can be written"):
        PageStore(tmp_path / "file")


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    """Use after close is an error with a remedy, and closing twice is none."""
    store = PageStore(tmp_path)
    store.close()
    store.close()
    with pytest.raises(CacheError, match="Open the cache again"):
        store.page(None, KEY)


def _execute(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / PAGES_FILE)
    connection.execute(statement)
    connection.commit()
    connection.close()
