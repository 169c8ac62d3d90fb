"""A search over cache and web: only a partial or a miss asks an origin (issue 6; cases L10, L11, C04, F05)."""

from __future__ import annotations

from pathlib import Path

import pytest

from policies import Budget
from retrieval import Passage, Request, Retrieved, Tier
from retrieval.index import TransformerEncoder
from rinse import RinseScorer
from tests.agent.town_web import DUNMOUTH, MARROWBY, ORLA, PELL, QUESTION, town_web
from tests.fakes import tier
from tests.retrieval.web.pages import html
from tests.retrieval.web.server import page
from tests.towns import need_model

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def scorer() -> RinseScorer:
    need_model()
    return RinseScorer.small()


async def test_a_hit_asks_no_origin_and_says_where_its_passages_are_from(
    tmp_path: Path, scorer: RinseScorer, tiny_encoder: TransformerEncoder
) -> None:
    async with town_web(tmp_path, scorer, tiny_encoder) as towns:
        await towns.warm(ORLA, MARROWBY, PELL)
        result = await towns.agent().run(QUESTION)
        assert towns.site.requests == []
    assert (result.action, result.spend.fetches, result.tiers_not_tried) == ("answer", 0, ("web",))
    assert result.coverage is not None
    assert result.coverage.verdict == "hit"
    found = {one.passage_id: one for one in result.coverage.passages}
    assert set(found) == set(result.evidence.ids)
    for one in found.values():
        assert (one.tier, one.stale) == ("cache", False)
        assert one.age is not None
        assert one.age >= 0
        assert one.url is not None
        assert one.url.startswith(towns.site.url("/"))


async def test_a_partial_fetches_what_is_missing_and_is_a_hit_the_next_time(
    tmp_path: Path, scorer: RinseScorer, tiny_encoder: TransformerEncoder
) -> None:
    """The query for the web is what the cached page leaves open, not the question."""
    async with town_web(tmp_path, scorer, tiny_encoder) as towns:
        await towns.warm(ORLA, PELL)
        first = await towns.agent().run(QUESTION)
        assert towns.site.paths == [MARROWBY]
        again = await towns.agent().run(QUESTION)
        assert towns.site.paths == [MARROWBY]
    on_web = [turn for turn in first.turns if turn.tier == "web"]
    assert [(turn.queries == (QUESTION,), "Marrowby" in turn.queries[0]) for turn in on_web] == [(False, True)]
    assert first.coverage is not None
    assert again.coverage is not None
    assert (first.action, first.coverage.verdict, first.spend.fetches) == ("answer", "partial", 1)
    assert (again.action, again.coverage.verdict, again.spend.fetches) == ("answer", "hit", 0)
    assert {one.tier for one in first.coverage.passages} == {"cache", "web"}


async def test_a_miss_asks_the_web_the_question(
    tmp_path: Path, scorer: RinseScorer, tiny_encoder: TransformerEncoder
) -> None:
    async with town_web(tmp_path, scorer, tiny_encoder) as towns:
        await towns.warm(PELL)
        result = await towns.agent().run(QUESTION)
    first = next(turn for turn in result.turns if turn.tier == "web")
    assert first.queries == (QUESTION,)
    assert result.coverage is not None
    assert (result.action, result.coverage.verdict) == ("answer", "miss")


async def test_what_passages_contributed_is_credited_to_their_pages(
    tmp_path: Path, scorer: RinseScorer, tiny_encoder: TransformerEncoder
) -> None:
    """A page whose passage the score does not need gets none; the question itself is not stored."""
    async with town_web(tmp_path, scorer, tiny_encoder) as towns:
        await towns.warm(ORLA, MARROWBY, PELL)
        await towns.agent().run(QUESTION)
        with towns.store.database.reading() as connection:
            rows = connection.execute("SELECT key, contribution FROM credits").fetchall()
    worth = {key.rpartition("/")[2]: contribution for key, contribution in rows}
    assert set(worth) == {ORLA[1:], MARROWBY[1:]}
    assert min(worth.values()) > 0.5


@pytest.mark.parametrize(
    ("paths", "code"),
    [([], "no_evidence"), ([ORLA], "budget_fetches"), ([ORLA, MARROWBY], "threshold_met")],
)
async def test_a_budget_of_fetches_is_kept(
    tmp_path: Path, scorer: RinseScorer, tiny_encoder: TransformerEncoder, paths: list[str], code: str
) -> None:
    """Where it is used up, the search ends with that reason; the cache may always be asked. An empty cache alone
    is no evidence, with the web named as not tried.
    """
    most = len(paths)
    async with town_web(tmp_path, scorer, tiny_encoder) as towns:
        result = await towns.agent(budget=Budget(max_fetches=most)).run(QUESTION)
        assert towns.site.paths == paths
    assert result.spend.fetches == most
    assert result.reason.code == code
    assert result.tiers_not_tried == (("web",) if most == 0 else ())


async def test_a_maximum_age_makes_a_fresh_page_be_validated(
    tmp_path: Path, scorer: RinseScorer, tiny_encoder: TransformerEncoder
) -> None:
    """The cache leaves the pages out, the web tier asks their origin whether they still hold (case C04)."""
    async with town_web(tmp_path, scorer, tiny_encoder) as towns:
        await towns.warm(ORLA, MARROWBY)
        result = await towns.agent().run(QUESTION, max_age=0.0)
        asked = {one.path: one.headers.get("if-none-match") for one in towns.site.requests}
    assert asked == {ORLA: '"1"', MARROWBY: '"1"'}
    assert result.coverage is not None
    assert (result.action, result.coverage.verdict) == ("answer", "miss")
    assert "cache_stale_left_out" in {event.kind for turn in result.turns for event in turn.events}


async def test_tenants_do_not_see_each_others_pages(
    tmp_path: Path, scorer: RinseScorer, tiny_encoder: TransformerEncoder
) -> None:
    async with town_web(tmp_path, scorer, tiny_encoder) as towns:
        await towns.warm(ORLA, MARROWBY, tenant="a")
        verdicts = {}
        for tenant in ("a", "b", None):
            result = await towns.agent().run(QUESTION, tenant=tenant)
            assert result.coverage is not None
            verdicts[tenant] = (result.coverage.verdict, result.spend.fetches)
    assert verdicts == {"a": ("hit", 0), "b": ("miss", 2), None: ("miss", 2)}


async def test_the_third_tier_has_it(
    tmp_path: Path, scorer: RinseScorer, tiny_encoder: TransformerEncoder
) -> None:
    """Case L10: near-duplicates fill the first two tiers, the gap is answerable on the web alone."""
    near = tuple(Passage(text=f"Orla Venn was a glass painter, says source {n}.") for n in range(3))
    async with town_web(tmp_path, scorer, tiny_encoder) as towns:
        await towns.warm(PELL, DUNMOUTH)
        without = await towns.agent(tier("local", near), towns.cache).run(QUESTION)
        result = await towns.agent(tier("local", near), towns.cache, towns.web).run(QUESTION)
    assert (result.action, result.turns[-1].tier, result.tiers_not_tried) == ("answer", "web", ())
    assert without.action == "abstain"
    assert [turn.tier for turn in without.turns][-1] == "cache"
    assert without.tiers_not_tried == ()


async def test_a_cache_that_raises_does_not_end_the_search(
    tmp_path: Path, scorer: RinseScorer, tiny_encoder: TransformerEncoder
) -> None:
    """Case L11: recorded, the web still used, the outcome degraded."""

    class Broken:
        async def retrieve(self, request: Request) -> Retrieved:
            raise ValueError("no good")

    async with town_web(tmp_path, scorer, tiny_encoder) as towns:
        result = await towns.agent(Tier(name="cache", retriever=Broken()), towns.web).run(QUESTION)
    assert (result.action, result.degraded, result.turns[-1].tier) == ("answer", True, "web")
    assert [event.kind for event in result.turns[0].events] == ["tier_failed"]


async def test_a_page_without_content_is_fetched_once_in_a_search(
    tmp_path: Path, scorer: RinseScorer, tiny_encoder: TransformerEncoder
) -> None:
    """Case F05: a challenge is no evidence, and no later turn of the search asks for it again."""
    wall = page(html("<h1>Just a moment...</h1><p>Checking your browser.</p>", title="Just a moment...").encode())
    changed = {MARROWBY: wall, ORLA: wall}
    async with town_web(tmp_path, scorer, tiny_encoder, changed=changed, paths=(ORLA, MARROWBY)) as towns:
        result = await towns.agent(towns.web).run(QUESTION)
        assert sorted(towns.site.paths) == [MARROWBY, ORLA]
    assert (result.action, len(result.evidence), result.degraded) == ("abstain", 0, True)
    kinds = [event.kind for turn in result.turns for event in turn.events]
    assert kinds.count("fetch_blocked") + kinds.count("fetch_low_content") == 2
