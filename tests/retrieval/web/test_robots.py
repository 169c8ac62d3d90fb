"""robots.txt by RFC 9309 (case F04)."""

from __future__ import annotations

import asyncio

import pytest

from retrieval.web import robots as robots_module
from retrieval.web.fetch import Fetcher
from retrieval.web.robots import DAY, LARGEST, UNREACHABLE_LIFE, parse_rules
from retrieval.web.urls import parse_url
from tests.retrieval.web.server import Answer, Asked, book, fetching, local, page, raw, redirect, say, serving

FORBIDS = say(200, b"User-agent: *\nDisallow: /")
OURS = b"User-agent: *\nDisallow: /\n\nUser-agent: SUFFICIT/2.0 # ours\nAllow: /wiki/\nDisallow: /wiki/private\n"


def refused(text: str, path: str) -> bool:
    rules = parse_rules(text, "http://a.test", 0.0)
    return rules.verdict(parse_url(f"http://a.test{path}")).refused == "robots_denied"


@pytest.mark.parametrize(
    ("text", "path", "denied"),
    [
        ("", "/a", False),
        ("<!doctype html><p>No such page", "/a", False),
        ("User-agent: *\nDisallow:", "/a", False),
        ("User-agent: *\nDisallow: /a", "/abc", True),
        ("User-agent: *\nDisallow: /a\nAllow: /abc", "/abcd", False),
        ("User-agent: *\nAllow: /a\nDisallow: /a", "/a", False),
        ("User-agent: *\nDisallow: /*.php$", "/x/y.php", True),
        ("User-agent: *\nDisallow: /*.php$", "/x/y.php?z=1", False),
        ("User-agent: *\nDisallow: /a%2fb", "/a%2Fb", True),
        ("User-agent: *\nDisallow: /k%C3%A4se", "/käse", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: sufficit\nDisallow: /no", "/yes", False),
        ("User-agent: sufficit\nDisallow: /no\n\nUser-agent: *\nDisallow: /yes", "/no", True),
        (
            "User-agent: sufficit\nDisallow: /a\n\nUser-agent: x\nAllow: /\n\nUser-agent: Sufficit\nDisallow: /",
            "/b",
            True,
        ),
        ("User-agent: x\nUser-agent: sufficit\nDisallow: /a", "/a", True),
        ("User-agent: suf\nDisallow: /", "/a", False),
        ("User-agent: sufficit-news\nDisallow: /", "/a", False),
        ("User-agent: sufficit\n\nUser-agent: *\nDisallow: /", "/a", True),
        ("User-agent: x\nSitemap: http://a.test/s\nUser-agent: *\nDisallow: /", "/a", True),
        ("Disallow: /", "/a", False),
        ("\ufeffUser-agent: *\rDisallow: /", "/a", True),
    ],
)
def test_which_rules_apply_and_which_rule_wins(text: str, path: str, *, denied: bool) -> None:
    assert refused(text.removeprefix("\ufeff"), path) == denied


def test_the_verdict_names_the_rule_and_the_delay() -> None:
    rules = parse_rules(
        "User-agent: *\nCrawl-delay: 7\nDisallow: /a\nDisallow: /a/b # why\n", "http://a.test", 0.0
    )
    verdict = rules.verdict(parse_url("http://a.test/a/b/c"))
    assert verdict.detail == "robots.txt of http://a.test: Disallow: /a/b"
    assert verdict.delay == 7.0
    assert rules.verdict(parse_url("http://a.test/c")).detail.endswith("no rule matches")


@pytest.mark.parametrize("delay", ["-5", "nan", "inf", "soon"])
def test_a_delay_that_is_no_number_of_seconds_is_none(delay: str) -> None:
    rules = parse_rules(f"User-agent: *\nCrawl-delay: {delay}\nAllow: /", "http://a.test", 0.0)
    assert rules.verdict(parse_url("http://a.test/")).delay == 0.0


def test_a_file_of_many_agents_and_many_rules_is_read_in_proportion_to_its_size() -> None:
    """A reader that keeps every rule for every agent would need gigabytes for these 500 KiB."""
    agents = "".join(f"User-agent: a{number}\n" for number in range(16_000))
    rules = "".join(f"Disallow: /{number}\n" for number in range(14_000))
    assert not refused(agents + rules, "/7")
    assert refused(agents + "User-agent: *\n" + rules, "/7")


@pytest.mark.parametrize(
    ("robots", "outcome"),
    [
        (say(404), "ok"),
        (say(403), "ok"),
        (say(401), "ok"),
        (say(500), "robots_denied"),
        (say(503), "robots_denied"),
        (say(429), "robots_denied"),
        (say(204), "ok"),
        (say(304), "robots_denied"),
        (say(200, OURS), "ok"),
        (FORBIDS, "robots_denied"),
        (say(200, b"\xff\xfe\x00 not text"), "ok"),
        (say(200, b"User-agent: *\nDisallow: /", {"Content-Encoding": "br"}), "robots_denied"),
        (redirect("http://169.254.169.254/robots.txt"), "robots_denied"),
        (redirect("file:///etc/passwd"), "robots_denied"),
        (redirect("/robots.txt"), "ok"),
        (raw(reset=True), "error"),
        (raw(b"What?\r\n\r\n"), "error"),
    ],
)
async def test_what_each_answer_means(robots: Answer, outcome: str) -> None:
    """4xx allows, 5xx forbids, a circle of redirects counts as absent; a host that does not answer is an error."""
    async with serving({"/robots.txt": robots, "/wiki/a": page()}) as site, fetching() as fetcher:
        fetched = await fetcher.fetch(site.url("/wiki/a"))
        assert fetched.outcome == outcome, fetched.detail
        assert "robots.txt of " in fetched.detail
        assert site.paths == (["/wiki/a"] if outcome == "ok" else [])


async def test_our_own_group_counts_and_not_everyones() -> None:
    async with serving({"/robots.txt": say(200, OURS), "/wiki/a": page()}) as site, fetching() as fetcher:
        assert (await fetcher.fetch(site.url("/wiki/a"))).outcome == "ok"
        assert (await fetcher.fetch(site.url("/other"))).status == 404
        fetched = await fetcher.fetch(site.url("/wiki/private/x"))
        assert fetched.outcome == "robots_denied"
        assert fetched.attempts == 0


@pytest.mark.parametrize(("hops", "outcome"), [(5, "robots_denied"), (6, "ok")])
async def test_five_redirects_are_followed_to_another_host_too(hops: int, outcome: str) -> None:
    """And its rules then speak for the host that was asked."""
    async with serving() as other, serving({"/a": page()}) as site, fetching() as fetcher:
        site.answers["/robots.txt"] = redirect(other.url("/1"))
        other.answers |= {f"/{hop}": redirect(f"/{hop + 1}") for hop in range(1, hops)}
        other.answers[f"/{hops}"] = FORBIDS
        assert (await fetcher.fetch(site.url("/a"))).outcome == outcome


async def test_the_first_500_kib_count_whole_lines_only() -> None:
    start = b"User-agent: *\nDisallow: /early\n"
    filling = b"#" * (LARGEST - len(start) - len(b"\nDisallow: /la"))
    body = start + filling + b"\nDisallow: /late\nDisallow: /later\n"
    async with serving({"/robots.txt": say(200, body), "/late": page()}) as site, fetching() as fetcher:
        assert (await fetcher.fetch(site.url("/late"))).outcome == "ok"
        assert (await fetcher.fetch(site.url("/early"))).outcome == "robots_denied"


async def test_one_request_serves_all_who_ask_at_once_and_for_a_day() -> None:
    """Also if the clock jumps back, the rules are read anew."""
    now = [1_000_000.0]
    fetcher = Fetcher(local(per_host_concurrency=8), clock=lambda: now[0])
    async with serving({"/robots.txt": say(200, b""), "/a": page()}) as site, fetcher:

        async def robots_requests() -> int:
            await asyncio.gather(*(fetcher.fetch(site.url("/a")) for _ in range(8)))
            return len(site.requests) - len(site.paths)

        assert await robots_requests() == 1
        now[0] += DAY - 1
        assert await robots_requests() == 1
        now[0] += 2
        assert await robots_requests() == 2
        now[0] -= 10
        assert await robots_requests() == 3


async def test_a_robots_txt_with_trouble_is_asked_for_again_soon() -> None:
    now = [1_000_000.0]
    fetcher = Fetcher(local(retries=0), clock=lambda: now[0])
    async with serving({"/robots.txt": say(500), "/a": page()}) as site, fetcher:
        assert (await fetcher.fetch(site.url("/a"))).outcome == "robots_denied"
        site.answers["/robots.txt"] = say(200, b"")
        assert (await fetcher.fetch(site.url("/a"))).outcome == "robots_denied"
        now[0] += UNREACHABLE_LIFE
        assert (await fetcher.fetch(site.url("/a"))).outcome == "ok"


async def test_a_cancelled_asker_hands_the_question_on() -> None:
    async with serving({"/a": page()}) as site, fetching() as fetcher:
        asking, gate = asyncio.Event(), asyncio.Event()

        async def held(asked: Asked, writer: asyncio.StreamWriter) -> None:
            asking.set()
            await gate.wait()
            await say(200, b"")(asked, writer)

        site.answers["/robots.txt"] = held
        first = asyncio.create_task(fetcher.fetch(site.url("/a")))
        others = [asyncio.create_task(fetcher.fetch(site.url("/a"))) for _ in range(3)]
        await asking.wait()
        first.cancel()
        gate.set()
        assert [fetched.outcome for fetched in await asyncio.gather(*others)] == ["ok"] * 3
        with pytest.raises(asyncio.CancelledError):
            await first


async def test_a_redirect_is_held_against_the_rules_of_its_new_host() -> None:
    async with serving({"/robots.txt": FORBIDS, "/b": page()}) as other, serving() as site, fetching() as fetcher:
        site.answers["/a"] = redirect(other.url("/b"))
        fetched = await fetcher.fetch(site.url("/a"))
        assert fetched.outcome == "robots_denied"
        assert fetched.redirects == (site.url("/a"),)
        assert other.paths == []


async def test_robots_txt_is_not_asked_for_where_the_owner_says_so() -> None:
    async with serving({"/robots.txt": FORBIDS, "/a": page()}) as site, fetching(robots=False) as fetcher:
        assert (await fetcher.fetch(site.url("/a"))).outcome == "ok"
        assert [asked.path for asked in site.requests] == ["/a"]


async def test_rules_of_many_origins_are_not_all_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are cheap to invent; those that were used last stay."""
    monkeypatch.setattr(robots_module, "ORIGINS", 3)
    names = {f"h{number}.test": ("127.0.0.1",) for number in range(6)}
    settings = local(allow_private=frozenset(names))
    async with serving({"/a": page()}) as site, Fetcher(settings, resolve=book(names)) as fetcher:
        for host in [*names, "h5.test", "h4.test", "h0.test"]:
            assert (await fetcher.fetch(site.url("/a", host))).outcome == "ok"
    asked = [one.headers["host"].partition(".")[0] for one in site.requests if one.path == "/robots.txt"]
    assert asked == ["h0", "h1", "h2", "h3", "h4", "h5", "h0"]
