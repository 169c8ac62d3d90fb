"""Citations lead to the passage: text fragments as browsers read them."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.web.chunks import MAX_PASSAGES, page_passages
from retrieval.web.extract import extract
from retrieval.web.fragment import page_fragment, text_fragment
from tests.retrieval.web.pages import RIVER, TOWN, fetched, html

URL = "https://example.org/moor"


@pytest.mark.parametrize(
    ("url", "passage", "link"),
    [
        (URL, "The moor is wet.", f"{URL}#:~:text=The%20moor%20is%20wet."),
        (f"{URL}?a=b#plants", "It is wet.", f"{URL}?a=b#plants:~:text=It%20is%20wet."),
        (f"{URL}#:~:text=old", "It is wet.", f"{URL}#:~:text=It%20is%20wet."),
        (URL, "A well-known, wet moor & more", f"{URL}#:~:text=A%20well%2Dknown%2C%20wet%20moor%20%26%20more"),
        (URL, RIVER, f"{URL}#:~:text=The%20Tessel%20is%20a,the%20bay%20of%20Dunmouth."),
        (URL, "One two.\n\nThree four five six seven.", f"{URL}#:~:text=One%20two.,four%20five%20six%20seven."),
        (URL, "東京の橋", f"{URL}#:~:text=%E6%9D%B1%E4%BA%AC%E3%81%AE%E6%A9%8B"),
        (URL, " \n", URL),
    ],
)
def test_the_form_of_a_link(url: str, passage: str, link: str) -> None:
    """Whole if short, else first and last words, each inside a paragraph; the signs of the syntax are escaped."""
    assert text_fragment(url, passage) == link


def test_a_start_that_stands_twice_is_lengthened() -> None:
    """Otherwise the browser would mark from the first place to the passage's end."""
    passage = "The bridge of Marrowby is old, and the mill beside it is older than the bridge is."
    page = f"The bridge of Marrowby was new. {passage}"
    assert "#:~:text=The%20bridge%20of%20Marrowby%20is," in text_fragment(URL, passage, within=page)


@given(st.text(max_size=300))
def test_both_ends_stand_in_the_passage(passage: str) -> None:
    """Whatever the text: at most one comma parts the directive, and its parts are found in the folded text."""
    link = text_fragment(URL, passage)
    if not passage.strip():
        return
    ends = link.partition(":~:text=")[2].split(",")
    assert len(ends) <= 2
    folded = " ".join(passage.encode("utf-8", "replace").decode().split())
    assert all(unquote(end) in folded for end in ends)
    assert link.isascii()
    assert "-" not in link.partition(":~:")[2]


def test_passages_cite_the_page_as_asked_for_and_share_its_key() -> None:
    """Case F08: another address of the page is another link, but one source."""
    body = html(f"<article><p>{RIVER}</p><h2>Towns</h2><p>{TOWN}</p></article>")
    one, two = (
        page_passages(extract(fetched(body, url=url)))
        for url in ("https://example.org/tessel?utm_source=x#map", "https://example.org/tessel")
    )
    assert {passage.source_id for passage in (*one, *two)} == {"https://example.org/tessel"}
    assert [passage.section for passage in one] == ["", "Towns"]
    assert str(one[0].url).startswith("https://example.org/tessel?utm_source=x#map:~:text=The%20Tessel%20is%20a,")
    assert [passage.id for passage in one] == [passage.id for passage in two]


def test_chunks_end_with_sentences_and_their_number_is_bounded() -> None:
    text = " ".join(f"Tree number {number} is an alder of the moor." for number in range(3_000))
    found = page_passages(extract(fetched(text, kind="text/plain")), max_words=18)
    assert all(passage.text.endswith("moor.") for passage in found)
    assert len(found) == MAX_PASSAGES


def test_a_pdf_is_opened_at_its_page() -> None:
    assert page_fragment("https://example.org/a.pdf#zoom=2", 7) == "https://example.org/a.pdf#page=7"
