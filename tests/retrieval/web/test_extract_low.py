"""Pages without content are low content, not evidence; pages about such pages are content (case F05)."""

from __future__ import annotations

import pytest

from retrieval.web.chunks import page_passages
from tests.retrieval.web.pages import RIVER, TOWN, article, read

LINKS = "".join(f'<li><a href="/{name}">{name.title()} and more {name}</a></li>' for name in "abcdefghij")
NAVIGATION = f"<header><a href='/'>Home</a></header><ul>{LINKS}</ul><p>© 2024 Example. All rights reserved.</p>"
LATIN = f"{RIVER} {TOWN}"


@pytest.mark.parametrize(
    ("flag", "title", "body", "head"),
    [
        (
            "challenge",
            "Just a moment...",
            "<h1>example.org</h1><p>Verifying you are human. It takes seconds.</p>",
            "",
        ),
        ("challenge", "Attention Required! | Example", "<p>Please complete the captcha below to go on.</p>", ""),
        ("challenge", "example.org", "", '<script src="/cdn-cgi/challenge-platform/h/b.js"></script>'),
        ("challenge", "Robot check", "<p>Are you a human? Confirm it.</p><form><input type=checkbox></form>", ""),
        ("challenge", "Bitte warten", "<p>Sicherheitsüberprüfung Ihres Browsers.</p>", ""),
        (
            "consent_wall",
            "Before you go on",
            "<h1>We value your privacy</h1><p>We use cookies. Accept all cookies?</p>",
            "",
        ),
        (
            "consent_wall",
            "Tessel",
            '<div id="cookie-wall"><p>We use cookies.</p><button>Accept all</button></div>',
            "",
        ),
        (
            "consent_wall",
            "Tessel",
            '<div class="onetrust"><p>Wir verwenden Cookies. Cookies akzeptieren?</p></div>',
            "",
        ),
        ("consent_wall", "Tessel", "<p>Nous utilisons des cookies. Accepter tous les cookies ?</p>", ""),
        ("shell", "App", '<div id="root"></div><script src="a.js"></script>', ""),
        (
            "shell",
            "App",
            "<noscript>Please enable JavaScript to run this app.</noscript><div id=app></div>",
            "<script>x()</script>",
        ),
        ("shell", "App", "<p>JavaScript is required to view this page.</p>", ""),
        ("navigation", "Example", NAVIGATION, ""),
        ("navigation", "Example", f"<nav><ul>{LINKS}</ul></nav>", ""),
        ("paywall", "Tessel", f"<article><p>{RIVER}</p><p>Subscribe to continue reading.</p></article>", ""),
        (
            "paywall",
            "Tessel",
            f"<article><p>{RIVER}</p><p>This article is for paying subscribers only.</p></article>",
            "",
        ),
        (
            "paywall",
            "Tessel",
            article(RIVER),
            '<script type="application/ld+json">{"isAccessibleForFree": false}</script>',
        ),
        ("login_wall", "Tessel", "<p>Log in to continue.</p><form><input name=user></form>", ""),
        ("error_page", "Page not found", "<h1>404</h1><p>Sorry, we looked everywhere.</p>", ""),
        ("error_page", "Oops", "<p>503 Service temporarily unavailable.</p>", ""),
        ("empty", "Tessel", "", ""),
        ("empty", "Tessel", "<img src=a.png>", ""),
    ],
)
def test_f05_no_content(flag: str, title: str, body: str, head: str) -> None:
    """The flag says why; there is no text, hence no passage, that could count as coverage."""
    page = read(body, title=title, head=head)
    assert (page.outcome, page.text, page.sections) == ("low_content", "", ())
    assert flag in page.flags
    assert page.detail.endswith(".")
    assert page_passages(page) == ()


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Tessel", "<p>The Tessel is a river of 140 kilometres.</p>"),
        ("Tessel", f"<header><ul>{LINKS}{LINKS}</ul></header><p>The Tessel is a river of 140 kilometres.</p>"),
        (
            "Tessel",
            f'{article(RIVER)}<div class="cookie-bar"><p>We use cookies.</p><button>Accept cookies</button></div>',
        ),
        (
            "Captcha",
            article("A captcha is a test that tells people from machines.", "The first captcha was made in 1997."),
        ),
        (
            "Cookie",
            article(
                "Cookies are small texts that a site stores in a browser.",
                f"Sites must ask before they set cookies. {LATIN} {LATIN} {LATIN}",
            ),
        ),
        ("404 (number)", article("404 is an even number between 403 and 405.", LATIN)),
        ("Paywall", article(f"A paywall asks readers to subscribe to read. {LATIN * 8}")),
        ("川", "<p>テッセル川は全長百四十キロメートルの川である。アーヴェン丘陵に発する。</p>"),
        (
            "Tessel",
            f"{article(RIVER)}<script src='https://hcaptcha.com/1/api.js'></script><div id=app>{TOWN}</div>",
        ),
    ],
)
def test_f05_short_pages_and_pages_about_walls_are_content(title: str, body: str) -> None:
    page = read(body, title=title)
    assert (page.outcome, page.detail) == ("ok", "")
    assert page_passages(page)


def test_f05_a_banner_beside_content_is_no_text_of_the_page() -> None:
    banner = "<div id='CybotCookiebotDialog'><p>This site uses cookies.</p><a href='/'>Manage cookies</a></div>"
    page = read(f"{banner}{article(RIVER, TOWN)}")
    assert page.text == f"{RIVER}\n\n{TOWN}"
    assert page.flags == ("banner_dropped",)
