"""Bytes become text by a documented order; a text full of U+FFFD is garbled (case F06)."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.web.charset import codec_of, decode, is_garbled
from retrieval.web.extract import extract
from tests.retrieval.web.pages import fetched

GERMAN = "Die Größe der Brücke über den Fluß beträgt übrigens zwölf Öfen."
CHINESE = "这座桥建于一七八四年，横跨河流，是镇上最古老的建筑。每年春天都有很多人来这里看花。"
JAPANESE = "この橋は一七八四年に建てられ、川にかかっている。町で最も古い建物である。"


def page(text: str, meta: str = "") -> str:
    declared = f'<meta charset="{meta}">' if meta else ""
    return f"<!doctype html><html><head>{declared}<title>T</title></head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize(
    ("text", "codec", "header", "meta", "source"),
    [
        (GERMAN, "iso-8859-1", "text/html; charset=ISO-8859-1", "", "header"),
        (GERMAN, "iso-8859-1", "text/html; charset=ISO-8859-1", "utf-8", "header"),  # the header wins over meta
        (GERMAN, "iso-8859-1", "text/html", "latin1", "declaration"),
        (GERMAN, "cp1252", 'text/html; charset="iso-8859-1"', "", "header"),
        (CHINESE, "gb18030", "", "gb2312", "declaration"),
        (CHINESE, "gb18030", "text/html;charset=GBK", "utf-8", "header"),
        (JAPANESE, "shift_jis", "", "Shift_JIS", "declaration"),
        (JAPANESE, "shift_jis", "text/html; charset=x-sjis", "utf-8", "header"),
        (JAPANESE, "euc-jp", "text/html", "euc-jp", "declaration"),
        (GERMAN, "utf-8", "text/html; charset=no-such-thing", "", "pattern"),  # an unknown label is passed over
        (GERMAN, "iso-8859-1", "text/html; charset=utf-7", "windows-1252", "declaration"),
        (GERMAN, "utf-8", "", "utf-16", "declaration"),  # an ASCII declaration of UTF-16 means UTF-8
        (GERMAN, "utf-16-le", "", "", "pattern"),
        (GERMAN, "utf-16-be", "text/html; charset=utf-16be", "iso-8859-1", "header"),
    ],
)
def test_f06_the_order_decides(text: str, codec: str, header: str, meta: str, source: str) -> None:
    """Header before declaration before the bytes; labels are those of the WHATWG."""
    found = decode(page(text, meta).encode(codec), header=header, markup=True)
    assert text in found.text
    assert found.source == source
    assert not found.garbled


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_f06_a_mark_wins_over_header_and_meta(encoding: str) -> None:
    found = decode(page(GERMAN, "iso-8859-1").encode(encoding), header="text/html; charset=gbk", markup=True)
    assert found.source == "bom"
    assert found.text == page(GERMAN, "iso-8859-1")


def test_f06_utf_16_be_with_a_mark() -> None:
    assert decode(codecs.BOM_UTF16_BE + GERMAN.encode("utf-16-be"), markup=False).text == GERMAN


@pytest.mark.parametrize(
    ("text", "codec"), [(CHINESE, "gb18030"), (JAPANESE * 2, "shift_jis"), (JAPANESE * 2, "iso2022_jp")]
)
def test_f06_undeclared_bytes_are_guessed(text: str, codec: str) -> None:
    found = decode(page(text).encode(codec), markup=True)
    assert text in found.text
    assert found.source == "guess"


def test_f06_an_xml_declaration_counts_and_a_comment_does_not() -> None:
    xml = f'<?xml version="1.0" encoding="iso-8859-1"?><html><p>{GERMAN}</p></html>'
    assert GERMAN in decode(xml.encode("iso-8859-1"), markup=True).text
    commented = f'<!-- <meta charset="gbk"> -->{page(GERMAN, "iso-8859-1")}'
    assert GERMAN in decode(commented.encode("iso-8859-1"), markup=True).text
    plain = decode(f"<meta charset=gbk> {GERMAN}".encode(), markup=False)
    assert plain.source == "pattern"  # a text file declares nothing


def test_f06_a_wrong_header_is_obeyed_and_its_text_is_garbled() -> None:
    """Not repaired by guessing: the order is the rule, and the page says that it is garbled, not empty."""
    body = page(CHINESE * 5).encode("gb18030")
    page_found = extract(fetched(body, header="text/html; charset=utf-8"))
    assert page_found.outcome == "garbled"
    assert page_found.text == ""
    assert page_found.sections == ()
    assert "utf-8" in page_found.detail


@pytest.mark.parametrize(
    ("text", "garbled"),
    [
        ("", False),
        (" \n", False),
        (GERMAN, False),
        (f"{GERMAN * 3} A single \ufffd is quoted.", False),
        ("Gr\ufffd\ufffde der Br\ufffd\ufffdcke", True),
        ("\x00\x01\x02\x03 data \x04\x05", True),
    ],
)
def test_f06_what_garbled_means(text: str, garbled: bool) -> None:
    assert is_garbled(text) is garbled


@pytest.mark.parametrize(
    "label", ["utf-7", "iso-2022-kr", "hz-gb-2312", "x-user-defined", "zlib", "rot13", "idna"]
)
def test_dangerous_labels_are_none(label: str) -> None:
    """Neither what the standard replaces nor Python's own codecs that are no charsets."""
    assert codec_of(label) is None


@given(
    st.binary(max_size=300), st.sampled_from(["", "text/html; charset=shift_jis", "charset=utf-16"]), st.booleans()
)
def test_no_bytes_raise(body: bytes, header: str, markup: bool) -> None:
    assert isinstance(decode(body, header=header, markup=markup).text, str)
