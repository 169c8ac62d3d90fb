"""URLs: what is one fetch, and what is no URL of the web (case F08)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.web.stop import Stop
from retrieval.web.urls import fetch_key, join_url, parse_url

BASE = "https://example.org/a"


@pytest.mark.parametrize(
    "variant",
    [
        "?utm_source=x",
        "?fbclid=y",
        "#frag",
        "?gclid=1&UTM_Campaign=2#x",
        "?_ga=1",
        "?mc_cid=1&mc_eid=2",
        "?",
        "?utm_source",
    ],
)
def test_variants_that_only_track_are_one_fetch(variant: str) -> None:
    assert fetch_key(BASE + variant) == fetch_key(BASE)


@pytest.mark.parametrize("name", ["id", "cid", "ref", "source", "uid", "session", "page", "q", "lid", "eid"])
def test_parameters_that_may_name_a_page_are_kept(name: str) -> None:
    """Two pages that become one would give a citation the other page's text."""
    keys = {fetch_key(f"{BASE}?{name}={number}&utm_medium=mail") for number in (1, 2)}
    assert keys == {f"{BASE}?{name}=1", f"{BASE}?{name}=2"}


def test_order_blanks_and_repeats_of_parameters_are_kept() -> None:
    assert fetch_key(f"{BASE}?b=2&a=&a=1&fbclid=3&b") == f"{BASE}?b=2&a=&a=1&b"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("HTTP://EXAMPLE.org:80", "http://example.org/"),
        ("https://example.org:443/x", "https://example.org/x"),
        ("http://example.org:443/x", "http://example.org:443/x"),
        ("http://example.org/a/./b/../c", "http://example.org/a/c"),
        ("http://example.org/../../a", "http://example.org/a"),
        ("http://example.org/%2e%2E/a/%7Eb%2f", "http://example.org/a/~b%2F"),
        ("http://example.org//a//", "http://example.org//a//"),
        ("http://bücher.example/Käse spät", "http://xn--bcher-kva.example/K%C3%A4se%20sp%C3%A4t"),
        ("http://example.org./", "http://example.org/"),
        ("  http://example.org/a  ", "http://example.org/a"),
        ("http://[2001:DB8:0::1]:8080/", "http://[2001:db8::1]:8080/"),
        ("http://example.org/100%", "http://example.org/100%"),
    ],
)
def test_the_normal_form(url: str, key: str) -> None:
    assert fetch_key(url) == key


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "2130706433", "0x7f000001", "0x7F.1", "0177.0.0.1", "127.1", "127.0.0.1.", "127。0。0。1"],
)
def test_every_spelling_of_an_ipv4_address_is_that_address(host: str) -> None:
    """Resolvers take all of these; a check that reads only one of them lets the others through (case F01)."""
    assert parse_url(f"http://{host}/").host == "127.0.0.1"


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://example.org/", "javascript:alert(1)", "data:text/html,x", "//example.org/", "x"],
)
def test_other_schemes_are_blocked(url: str) -> None:
    with pytest.raises(Stop, match="only http and https") as stopped:
        parse_url(url)
    assert stopped.value.outcome == "blocked"


def test_credentials_are_blocked_and_not_repeated() -> None:
    """They would go into traces and caches."""
    with pytest.raises(Stop, match="credentials") as stopped:
        parse_url("https://reader:hunter2@example.org/")
    assert stopped.value.outcome == "blocked"
    assert "hunter2" not in stopped.value.detail


@pytest.mark.parametrize(
    "url",
    [
        "http://",
        "http:///path",
        "http://example.org:99999/",
        "http://example.org:0/",
        "http://exa mple.org/",
        "http://example..org/",
        "http://[::1",
        "http://[fe80::1%25eth0]/",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://example.org\\@127.0.0.1/",
        "http://example.org/a\r\nHost: x",
        "http://" + "a" * 64 + ".org/",
        "http://example.org/" + "a" * 9_000,
        "http://exa%6dple.org/",
    ],
)
def test_what_cannot_be_read_is_an_error_and_its_own_key(url: str) -> None:
    """Where two parsers could read two hosts, none is asked."""
    with pytest.raises(Stop) as stopped:
        parse_url(url)
    assert stopped.value.outcome == "error"
    assert fetch_key(url) == url


@given(
    st.text(max_size=60), st.sampled_from(["", "http://", "https://example.org/", "http://example.org/?", "//"])
)
def test_the_key_of_a_key_is_itself(text: str, start: str) -> None:
    """And nothing that a search result contains raises."""
    key = fetch_key(start + text)
    assert fetch_key(key) == key


@given(st.text(max_size=40))
def test_a_normal_form_is_ascii_without_blanks(text: str) -> None:
    """What goes into a request line cannot end it."""
    try:
        url = str(parse_url(f"http://example.org/{text}"))
    except Stop:
        return
    assert url.isascii()
    assert url.isprintable()
    assert " " not in url


def test_a_redirect_keeps_its_tracking_parameters() -> None:
    """A site that adds them by a redirect would otherwise redirect in a circle."""
    base = parse_url(BASE)
    assert str(join_url(base, "?utm_source=x#y")) == f"{BASE}?utm_source=x"
    assert str(join_url(base, "//other.example/b")) == "https://other.example/b"
    with pytest.raises(Stop, match="only http and https"):
        join_url(base, "file:///etc/passwd")
