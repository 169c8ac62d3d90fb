"""Wikitext to clean sections: what a reader sees stays, markup goes, and broken markup costs no time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.corpora.wikitemplates import prose_of
from retrieval.corpora.wikitext import page_sections

MARKUP = re.compile(r"''|\[\[|\]\]|\{\{|\}\}|\{\||\|\}|<ref|<!--|</")

PAGE = """{{About|the marsh bird|the ship|HMS Rail}}
{{Infobox bird
| name = Moor rail <!-- not the ''ship'' -->
| note = {{nowrap|a {{small|nested}} note}}
}}
[[File:Rail.jpg|thumb|A [[rail (bird)|rail]] by the ''water'']]
The '''moor rail''' ({{IPAc-en|ʊər}}; ''Rallus fictus'') is a [[rail (bird)|rail]] of [[bog]]s{{cite web}}.<ref
name="one">A book, [http://example.org page], {{harvnb|Reed|1990}}.</ref> It weighs {{convert|90|to|120|g|oz}} and
was seen {{as of|2012|lc=y}} in [[Lake District#Fens|the fens]].<ref name="one" /> See also its
[http://example.org/map map] and https://example.org/bare here.

== Habits ==
=== Food ===
{{main|Bird food}}
It eats:
* [[snail]]s
* the young shoots of reeds and of other plants
* In winter it also takes berries.
# seeds
:An indented remark of more than six words.
; Term

{| class="wikitable"
! Year !! Count
|-
| 1990 ||
{| class="inner"
| inner
|}
|-
| 2000 || 12
|}
After the table it goes on.<br/>A new line begins&nbsp;here, 1 &lt; 2.

=== Voice ===
<gallery>
Rail.ogg|Its ''call''
</gallery>
<math>\\frac{1}{2}</math>The call is a <code>kek</code>, H<sub>2</sub>O and <nowiki>plain [text]</nowiki> stay.
<blockquote>A quotation stands alone.</blockquote>
[[Category:Rails]] [[de:Moorralle]] [[:Category:Birds]] [[wikt:rail|rail]] __NOTOC__

==  References ==
{{reflist}}
Some words in the references.
=== Notes below ===
Words of a subsection.

== Distribution ==
----
From the coast {{ndash}} {{lang|gd|An Cladach}} ({{lang-fr|la côte}}) to the {{USS|Reed|DD-292|6}}.

==See also==
* [[Water rail]] is a bird of the same family.
==External links==
* [http://example.org The official site of the rail]
"""


def sections_of(wikitext: str) -> dict[str, str]:
    return {section.title: section.text for section in page_sections(wikitext)}


def test_a_page_becomes_clean_sections() -> None:
    """The whole cleaning in one page: the expected text is what the rendered page says in its running text."""
    assert sections_of(PAGE) == {
        "": (
            "The moor rail (Rallus fictus) is a rail of bogs. It weighs 90 to 120 g and was seen as of 2012 in "
            "the fens. See also its map and here."
        ),
        "Habits: Food": (
            "It eats:\n\n"
            "the young shoots of reeds and of other plants\n\n"
            "In winter it also takes berries.\n\n"
            "An indented remark of more than six words.\n\n"
            "After the table it goes on. A new line begins here, 1 < 2."
        ),
        "Habits: Voice": (
            "The call is a kek, H2O and plain [text] stay.\n\nA quotation stands alone.\n\nCategory:Birds rail"
        ),
        "Distribution": "From the coast – An Cladach (la côte) to the USS Reed.",
    }


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("Open {{template and more.", "Open template and more."),
        ("Open [[link and more.", "Open link and more."),
        ("Closed too often]] here}} and there.", "Closed too often here and there."),
        ("Crossed {{a [[b}} c]] end.", "Crossed c end."),
        ("An open <ref>note in the text.\n\nThe next paragraph.", "An open\n\nThe next paragraph."),
        ("Open <b>tag and <i stray.", "Open tag and i stray."),
        ("Before.\n{| open table\n| cell", "Before."),
        ("Before.<!-- open comment\n\nAll gone.", "Before."),
        ("Five '''''quotes''''' and '''three.", "Five quotes and three."),
        ("[[Rail (bird)|]] flies.", "Rail flies."),
        ("{{{argument|default}}} Words.", "Words."),
        ("[[File:A.jpg|thumb|[[File:B.jpg]] nested]] Words.", "Words."),
        ("Mixed [http://example.org label with [[link]]] end.", "Mixed label with link end."),
        ("#REDIRECT [[Elsewhere]]", ""),
        ("", ""),
        ("{{stub}}", ""),
    ],
)
def test_broken_and_odd_markup(wikitext: str, text: str) -> None:
    """What is open or crossed loses its brackets; the words around it stay."""
    assert "\n\n".join(sections_of(wikitext).values()) == text


def test_an_open_table_costs_no_other_section() -> None:
    """Damage ends with the section in which it lies."""
    found = sections_of("== A ==\n{| open\n| x\n== B ==\nText of B is here.\n{{open\n== C ==\nText of C is here.")
    assert found == {"B": "Text of B is here. open", "C": "Text of C is here."}


def test_namespaces_of_other_languages_can_be_hidden() -> None:
    """A dump names its own namespaces; without them the link would show its words."""
    text = "[[Datei:Ralle.jpg|mini|Eine Ralle]] Die Ralle ruft."
    hidden = page_sections(text, hidden_namespaces=frozenset({"datei"}))
    assert [section.text for section in hidden] == ["Die Ralle ruft."]


@pytest.mark.parametrize(
    ("name", "values", "named", "shown"),
    [
        ("Convert", ["5", "mi", "km"], {}, "5 mi"),
        ("convert", ["5", "and", "6", "mi"], {}, "5 and 6 mi"),
        ("Lang", ["fr", "la côte"], {}, "la côte"),
        ("lang-ru", ["берег"], {}, "берег"),
        ("As of", ["2010"], {}, "As of 2010"),
        ("val", ["6.24"], {"e": "18", "u": "C"}, "6.24×10^18 C"),
        ("OldStyleDate", ["February 2", "1905", "January 20"], {}, "February 2, 1905"),
        ("chem", ["H", "2", "O"], {}, "H2O"),
        ("formatnum: 3003", [], {}, "3003"),
        ("nbsp", [], {}, " "),
        ("nowrap", [], {}, ""),
        ("Infobox bird", ["x"], {"name": "y"}, ""),
    ],
)
def test_templates_that_stand_for_words(name: str, values: list[str], named: dict[str, str], shown: str) -> None:
    assert prose_of(name, values, named=named) == shown


_MARKS = (
    *("{{", "}}", "[[", "]]", "[", "]", "{", "}", "{|", "|}", "|", "'", "''", "<ref>", "</ref>", "<", ">", "<b>"),
    *("<!--", "-->", "{{{", "*", "=", "File:", "a", "<nowiki>", "<br/>", "word", "__TOC__"),
)
_PIECES = st.sampled_from([*_MARKS, "== H ==\n", "\n|-\n", "\n", "\n\n", " ", "[http://a ", ". "])


@given(st.lists(_PIECES, max_size=60).map("".join))
def test_no_markup_survives_and_nothing_raises(wikitext: str) -> None:
    """For any mixture of markup: no exception, and none of the tokens that would give it away."""
    for section in page_sections(wikitext):
        assert not MARKUP.search(section.text), section.text
        assert section.text.strip()


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "unit",
    [
        *[
            "{{a|",
            "[[a|",
            "[[File:a|",
            "{{{",
            "[http://a ",
            "http://a ",
            "<ref>",
            "<b>",
            "<div>x",
            '<a b="',
            "<!--",
        ],
        *["{|\n|-\n|", "<gallery>", "'''a''b", "<x>[[{{", "&#", " ", "*" * 200 + "a\n", "(,", ":", "== x ==\n"],
    ],
)
def test_pathological_pages_take_linear_time(unit: str) -> None:
    """60 kB of one open token took the bare parser minutes (or all memory); the limit here is generous."""
    page_sections(unit * (60_000 // len(unit)))
