"""PDF by its bytes, whatever its name says (case F07), through an extra that may be missing."""

from __future__ import annotations

import sys

import pytest

from retrieval.web import pdf
from retrieval.web.chunks import page_passages
from retrieval.web.extract import Page, extract
from tests.retrieval.web.pages import RIVER, TOWN, fetched

URL = "https://example.org/view?id=1"


def pdf_bytes(*pages: str, title: str = "The Tessel") -> bytes:
    """A PDF with a line of Helvetica for each line of each page."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        lines = " ".join(f"({line}) Tj 0 -14 Td" for line in text.split("\n"))
        stream = f"BT /F1 12 Tf 72 720 Td {lines} ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< /Title ({title}) /ModDate (D:20210403100000Z) >>")
    body, places = "%PDF-1.4\n", []
    for number, text in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer << /Size {size} /Root 1 0 R /Info {len(objects)} 0 R >>\nstartxref\n{len(body)}\n%%EOF"
    return f"{body}xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()


def read(body: bytes) -> Page:
    return extract(fetched(body, kind="application/pdf", header="text/html", url=URL))


def test_f07_title_date_pages_and_links() -> None:
    """A broken word is joined, and a sentence that goes on is kept whole on the page where it ends."""
    pytest.importorskip("pypdf")
    page = read(
        pdf_bytes(
            "The Tessel is a ri-\\nver of 140 kilometres.\nIt rises in the".replace("\\n", "\n"),
            f"Aven hills.\n{TOWN}",
        )
    )
    assert (page.outcome, page.title, page.date) == ("ok", "The Tessel", "2021-04-03")
    assert [(section.title, section.text) for section in page.sections] == [
        ("Page 1", "The Tessel is a river of 140 kilometres."),
        ("Page 2", f"It rises in the Aven hills. {TOWN}"),
    ]
    first, second = page_passages(page)
    assert (first.url, second.url) == (f"{URL}#page=1", f"{URL}#page=2")
    assert first.source_id == second.source_id == URL


def test_f07_pages_and_characters_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pypdf")
    monkeypatch.setattr(pdf, "PAGES", 2)
    page = read(pdf_bytes(RIVER, TOWN, "The third page."))
    assert page.flags == ("pdf_cut",)
    assert "third" not in page.text
    monkeypatch.setattr(pdf, "CHARACTERS", 60)
    short = read(pdf_bytes(RIVER, TOWN))
    assert "pdf_cut" in short.flags
    assert sum(len(section.text) for section in short.sections) <= 60


def test_f07_without_the_extra_it_is_unsupported_and_says_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    page = read(pdf_bytes(RIVER))
    assert (page.outcome, page.text) == ("unsupported", "")
    assert "pip install 'sufficit[pdf]'" in page.detail


@pytest.mark.parametrize("cut", [9, 60, 300, 500])
def test_f07_a_damaged_pdf_is_an_outcome(cut: int) -> None:
    """Never an exception, never bytes as text."""
    pytest.importorskip("pypdf")
    page = read(pdf_bytes(RIVER)[:cut])
    assert page.outcome in {"unsupported", "low_content"}
    assert page_passages(page) == ()


def test_f07_a_pdf_without_text_is_low_content() -> None:
    pytest.importorskip("pypdf")
    page = read(pdf_bytes(""))
    assert (page.outcome, page.flags) == ("low_content", ("empty",))
