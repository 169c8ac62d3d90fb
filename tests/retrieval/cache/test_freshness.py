"""Freshness by RFC 9111 and 5861: pure functions of values and a moment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from email.utils import formatdate
from types import MappingProxyType

import pytest
from hishel._core._headers import parse_cache_control
from hypothesis import given
from hypothesis import strategies as st

from retrieval.cache.directives import cache_directives, delta_seconds, http_date, varying_names
from retrieval.cache.freshness import (
    Exchange,
    current_age,
    decide,
    freshened,
    lifetime,
    storable,
    validators,
)
from retrieval.cache.rules import DAY, Override, Rules

NOW = 1_900_000_000.0
RULES = Rules()


def exchange(
    status: int = 200,
    at: float = NOW,
    delay: float = 0.0,
    sent: Mapping[str, str] = MappingProxyType({}),
    **fields: str,
) -> Exchange:
    """A response received at `at` with these header fields (`_` stands for `-`), dated like it."""
    headers = {"date": formatdate(at, usegmt=True)} | named(fields)
    return Exchange(status=status, headers=headers, request_headers=sent, requested_at=at - delay, received_at=at)


def named(fields: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): text for name, text in fields.items()}


def date(moment: float) -> str:
    return formatdate(moment, usegmt=True)


_NAMES = st.sampled_from(["max-age", "s-maxage", "stale-if-error", "stale-while-revalidate"])
_FLAGS = st.sampled_from(["no-store", "must-revalidate", "public", "proxy-revalidate", "immutable"])
_VALID = st.lists(
    st.one_of(_FLAGS, st.tuples(_NAMES, st.integers(0, 10**6)).map(lambda pair: f"{pair[0]}={pair[1]}")),
    unique_by=lambda item: item.split("=")[0],
)


@given(_VALID)
def test_valid_directives_are_read_as_another_library_reads_them(parts: list[str]) -> None:
    """Our parser agrees with hishel's wherever the field is well formed and nothing is repeated."""
    ours, theirs = cache_directives(", ".join(parts)), parse_cache_control(", ".join(parts))
    assert delta_seconds(ours.get("max-age")) == theirs.max_age
    assert delta_seconds(ours.get("s-maxage")) == theirs.s_maxage
    assert delta_seconds(ours.get("stale-if-error")) == theirs.stale_if_error
    assert delta_seconds(ours.get("stale-while-revalidate")) == theirs.stale_while_revalidate
    assert ("no-store" in ours, "must-revalidate" in ours) == (theirs.no_store, theirs.must_revalidate)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"cache_control": "max-age=60"}, 60),
        ({"cache_control": "max-age=60, s-maxage=5"}, 5),
        ({"cache_control": 'max-age="60"'}, 60),
        ({"cache_control": "MAX-AGE=60"}, 60),
        ({"cache_control": "max-age=1, max-age=60"}, 1),
        ({"cache_control": "max-age=soon"}, 0),
        ({"cache_control": "max-age=-5"}, 0),
        ({"cache_control": "max-age=1.5"}, 0),
        ({"cache_control": "max-age"}, 0),
        ({"cache_control": "max-age=60", "expires": date(NOW + 5)}, 60),
        ({"expires": date(NOW + 5)}, 5),
        ({"expires": date(NOW - 5)}, 0),
        ({"expires": "0"}, 0),
        ({"last_modified": date(NOW - 1000)}, 100),
        ({"last_modified": date(NOW - 1000 * DAY)}, DAY),
        ({"last_modified": date(NOW + 1000)}, 0),
        ({}, 3600),
    ],
)
def test_the_lifetime_is_stated_or_guessed(fields: dict[str, str], expected: float) -> None:
    """RFC 9111, section 4.2.1: the order of its sources; what cannot be read is stale, never fresh."""
    page = exchange()
    page = replace(page, headers={**page.headers, **named(fields)})
    assert lifetime(page, RULES) == expected


def test_only_some_statuses_are_guessed() -> None:
    """A heuristic lifetime belongs to statuses that are heuristically cacheable."""
    assert lifetime(exchange(status=206), RULES) == 0
    assert lifetime(exchange(status=206, cache_control="max-age=9"), RULES) == 9


def test_the_age_counts_delays_and_other_caches() -> None:
    """RFC 9111, section 4.2.3, with its own terms worked by hand."""
    assert current_age(exchange(age="100", delay=2.0), NOW + 10) == 112
    slow_clock = exchange(date=date(NOW - 300), age="100", delay=2.0)
    assert current_age(slow_clock, NOW + 10) == 310
    assert current_age(exchange(age="young"), NOW) == 0
    assert current_age(exchange(age="7, 900"), NOW) == 7


@given(st.integers(-(10**9), 10**9), st.integers(-100, 100), st.text(max_size=8), st.text(max_size=40))
def test_no_clock_makes_a_page_younger_than_nothing_or_fresh_for_ever(
    jump: int, delay: int, age: str, when: str
) -> None:
    """Case C02: whatever a header says and wherever the clock jumps, ages grow with the distance."""
    page = exchange(age=age, date=when, delay=delay, cache_control="max-age=100")
    found = current_age(page, NOW + jump)
    assert math.isfinite(found)
    assert found >= abs(jump)
    if abs(jump) > 100:
        assert decide(page, now=NOW + jump, rules=RULES).use == "validate"


def test_what_must_not_be_stored() -> None:
    """A shared cache stores neither no-store nor private, nor what it could not find again."""
    assert storable(exchange())
    assert storable(exchange(cache_control="no-cache"))
    assert not storable(exchange(cache_control="max-age=5, No-Store"))
    assert not storable(exchange(cache_control="private"))
    assert not storable(exchange(cache_control='private="set-cookie"'))
    assert not storable(exchange(vary="Accept, *"))
    assert not storable(exchange(status=404))


@pytest.mark.parametrize(
    ("control", "seconds", "use", "on_error"),
    [
        ("max-age=60", 59, "serve", True),
        ("max-age=60", 60, "validate", False),
        ("max-age=60, stale-while-revalidate=30", 89, "serve_and_validate", False),
        ("max-age=60, stale-while-revalidate=30", 90, "validate", False),
        ("max-age=60, stale-if-error=100", 159, "validate", True),
        ("max-age=60, stale-if-error=100", 160, "validate", False),
        ("max-age=60, stale-if-error=100, must-revalidate", 61, "validate", False),
        ("max-age=60, stale-while-revalidate=100, proxy-revalidate", 61, "validate", False),
        ("s-maxage=60, stale-while-revalidate=100", 61, "validate", False),
        ("max-age=60, no-cache", 1, "validate", False),
        ('max-age=60, no-cache="x"', 1, "validate", False),
        ("max-age=60, must-revalidate", 59, "serve", True),
    ],
)
def test_what_may_be_done_with_a_page(control: str, seconds: float, use: str, on_error: bool) -> None:
    """RFC 9111, sections 4.2.4 and 5.2.2, and RFC 5861, at the edges of each window."""
    verdict = decide(exchange(cache_control=control), now=NOW + seconds, rules=RULES)
    assert (verdict.use, verdict.on_error) == (use, on_error)


def test_a_request_may_demand_younger_content() -> None:
    """Fresh is not young enough if the question is about today; nor does a failing origin make it so."""
    page = exchange(cache_control="max-age=1000, stale-if-error=1000")
    assert decide(page, now=NOW + 10, rules=RULES, max_age=10).use == "serve"
    late = decide(page, now=NOW + 11, rules=RULES, max_age=10)
    assert (late.use, late.reason, late.on_error) == ("validate", "too_old", False)
    assert decide(page, now=NOW, rules=RULES, max_age=math.nan).use == "validate"


def test_the_operator_may_allow_stale_pages_where_the_origin_does_not_forbid_it() -> None:
    """Case C02: served while the origin is down only if the policy says so."""
    lenient = Rules(stale_on_error=DAY)
    assert decide(exchange(cache_control="max-age=1"), now=NOW + 99, rules=lenient).on_error
    assert not decide(exchange(cache_control="max-age=1"), now=NOW + 2 * DAY, rules=lenient).on_error
    forbidding = exchange(cache_control="max-age=1, must-revalidate")
    assert not decide(forbidding, now=NOW + 99, rules=lenient).on_error


def test_overrides_bound_the_lifetime_of_a_class() -> None:
    """The first class that fits counts; hosts and types are patterns."""
    rules = Rules(
        overrides=(
            Override(host="*.news.example", max_lifetime=60),
            Override(content_type="application/*", min_lifetime=DAY),
        )
    )
    page = exchange(cache_control="max-age=1000")
    assert lifetime(page, rules, host="a.news.example", content_type="application/pdf") == 60
    assert lifetime(page, rules, host="b.example", content_type="application/pdf") == DAY
    assert lifetime(page, rules, host="b.example", content_type="text/html") == 1000
    with pytest.raises(ValueError, match="0 <= min_lifetime <= max_lifetime"):
        Override(min_lifetime=2, max_lifetime=1)
    with pytest.raises(ValueError, match="heuristic_share is nan"):
        Rules(heuristic_share=math.nan)


def test_vary_needs_the_same_request() -> None:
    """RFC 9111, section 4.1; content codings are undone before a page is stored, so they do not vary it."""
    page = exchange(
        vary="Accept-Language, Accept-Encoding", cache_control="max-age=9", sent={"accept-language": "en"}
    )
    same = {"accept-language": "en", "accept-encoding": "other"}
    assert decide(page, now=NOW, rules=RULES, request_headers=same).use == "serve"
    others: list[dict[str, str]] = [{"accept-language": "de"}, {}]
    for other in others:
        assert decide(page, now=NOW, rules=RULES, request_headers=other).reason == "vary"
    assert decide(exchange(vary="*"), now=NOW, rules=RULES).reason == "vary"
    assert varying_names(" A, a ,,Accept-Encoding") == ("a",)


def test_a_304_gives_a_page_new_headers_but_not_another_body() -> None:
    """RFC 9111, sections 3.2 and 4.3.4."""
    stored = exchange(etag='"1"', content_type="text/html", cache_control="max-age=1", age="50", x="kept")
    assert validators(stored) == {"if-none-match": '"1"'}
    later = NOW + 100
    answer = exchange(status=304, at=later, etag='"1"', content_type="text/plain", cache_control="max-age=9")
    fresh = freshened(stored, answer)
    assert fresh is not None
    assert (fresh.status, fresh.headers["content-type"], fresh.headers["x"]) == (200, "text/html", "kept")
    assert "age" not in fresh.headers
    assert decide(fresh, now=later + 8, rules=RULES).use == "serve"
    assert freshened(stored, exchange(status=304, etag='"2"')) is None
    assert validators(exchange(last_modified=date(NOW))) == {"if-modified-since": date(NOW)}


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ('W/"1"', '"1"', True),
        ('"1"', 'W/"1"', True),
        ('W/"1"', 'W/"1"', True),
        ('W/"1"', '"2"', False),
        ('"1"', 'W/"2"', False),
        ('"1"', '"W/1"', False),
        ('w/"1"', '"1"', False),
    ],
)
def test_tags_of_a_304_are_compared_as_the_origin_compared_them(old: str, new: str, same: bool) -> None:
    """RFC 9110, section 8.8.3.2, its table and more: a server that compresses makes tags weak in a 200 only."""
    fresh = freshened(exchange(etag=old), exchange(status=304, etag=new))
    assert (fresh is not None) == same
    if fresh is not None:
        assert fresh.headers["etag"] == old


def test_dates_in_all_three_forms_and_in_none() -> None:
    """RFC 9110, section 5.6.7; anything else is no date and no exception."""
    for text in ("Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"):
        assert http_date(text) == 784_111_777
    wrong: tuple[str | None, ...] = (
        "",
        "yesterday",
        "Sun, 06 Nov 99999 08:49:37 GMT",
        "Sun, 99 Nov 1994 88:49:37 GMT",
        None,
    )
    assert {http_date(text) for text in wrong} == {None}
    assert delta_seconds("9" * 40) == 2**31


@given(st.text())
def test_any_field_can_be_read(text: str) -> None:
    """A server may send anything; nothing raises."""
    page = exchange(cache_control=text, expires=text, vary=text, last_modified=text, age=text)
    verdict = decide(page, now=NOW, rules=RULES, request_headers={})
    assert verdict.age >= 0
    assert verdict.lifetime >= 0
    storable(page)
