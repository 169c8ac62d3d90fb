"""From a passage to those that it is linked with: both ways, by rare names, never by what the question names."""

from __future__ import annotations

import math
import random
import sqlite3
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval import Passage
from retrieval.index.hop import (
    LIMIT,
    LONGEST_KEY,
    MOST_MENTIONS,
    MOST_TOPICS,
    QUESTION_WORDS,
    linked,
    question_keys,
)
from retrieval.index.link_rule import NAME_LINKS
from retrieval.index.links import SCHEMA, Links, put_links

BRIDGE = Passage(title="Orn Bridge", text="The crossing was designed by Ilse Aue.")
DESIGNER = Passage(title="Ilse Aue", text="She learned to draw in Tamworth.")
KETTLE = Passage(title="Kettle", text="It boils water.")


@contextmanager
def links_of(passages: Sequence[Passage]) -> Iterator[Links]:
    """The links of passages, by the default rule, in memory."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(
            "CREATE TABLE passages (row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);"
            "CREATE TABLE places (row INTEGER NOT NULL, source TEXT NOT NULL, position INTEGER NOT NULL);" + SCHEMA
        )
        for row, passage in enumerate(passages):
            connection.execute("INSERT INTO passages VALUES (?, ?)", (row, passage.id))
            connection.execute("INSERT INTO places VALUES (?, ?, ?)", (row, passage.source_id, row))
            put_links(connection, row, *NAME_LINKS.keys(passage, ()))
        yield Links(connection)


def hop(passages: Sequence[Passage], *seeds: Passage, question: str = "Where is it?") -> dict[str, float]:
    """Strength by id."""
    with links_of(passages) as links:
        return linked(links, [seed.id for seed in seeds], question)


def test_a_hop_leads_to_what_a_seed_mentions_and_back() -> None:
    """Forward is the second step of a chain whose first was found; back is the first step of one entered late."""
    every = [BRIDGE, DESIGNER, KETTLE]
    assert hop(every, BRIDGE).keys() == {DESIGNER.id}
    assert hop(every, DESIGNER).keys() == {BRIDGE.id}
    assert hop(every, KETTLE) == {}


def test_passages_that_name_the_same_are_linked_less_than_by_what_one_is_about() -> None:
    """Without titles this is the only link there is."""
    ship = Passage(title="Ship", text="it was launched at Velmora")
    song = Passage(title="Song", text="they sang it in Velmora")
    city = Passage(title="Velmora", text="a port")
    found = hop([ship, song, city], ship)
    assert found.keys() == {song.id, city.id}
    assert found[song.id] < found[city.id]


def test_passages_without_titles_are_linked_by_their_first_names() -> None:
    """No title anywhere: what a passage names first is what it is about."""
    bridge = Passage(text="In Tamworth stands a bridge that Ilse Aue designed.")
    designer = Passage(text="Ilse Aue was an engineer and lived near Velmora.")
    assert hop([bridge, designer, KETTLE], bridge).keys() == {designer.id}
    assert hop([bridge, designer, KETTLE], designer).keys() == {bridge.id}


def test_text_without_capitals_is_linked_by_titles_in_its_quotation_marks() -> None:
    director = Passage(title="監督", text="この人は映画『古い橋の歌』を作った。")
    film = Passage(title="古い橋の歌 (映画)", text="これは映画である。")
    assert hop([director, film, KETTLE], director).keys() == {film.id}
    assert hop([director, film, KETTLE], film).keys() == {director.id}


def test_brackets_of_a_title_do_not_hide_it() -> None:
    """Both bearers of an ambiguous name are reached; which is meant, words and vectors say."""
    planet = Passage(title="Mercury (planet)", text="a planet")
    god = Passage(title="Mercury (god)", text="a god")
    poem = Passage(title="Poem", text="it praises Mercury")
    assert hop([planet, god, poem], poem).keys() == {planet.id, god.id}
    assert hop([planet, god, poem], planet).keys() == {poem.id}


def test_two_paragraphs_of_one_title_are_both_reached() -> None:
    """R10: the title is a key that both have, not what tells them apart."""
    youth, age = (Passage(title="Ilse Aue", text=text) for text in ("She drew.", "She taught."))
    assert hop([BRIDGE, youth, age], BRIDGE).keys() == {youth.id, age.id}


@pytest.mark.parametrize(
    ("mention", "title"),
    [
        (unicodedata.normalize("NFD", "Zoë Müller"), unicodedata.normalize("NFC", "Zoë Müller")),
        ("Ｚｏë Ｍüller", "Zoë Müller"),
        ("Zoë Mül\u200dler", "Zoë Müller"),
        ("Zo\u00adë Müller", "Zoë Mül\u00adler"),
        ("ZOË MÜLLER", "Zoe Muller"),
    ],
)
def test_a_name_links_in_whatever_form_it_is_written(mention: str, title: str) -> None:
    """R04: composed and decomposed, full-width and ASCII, zero-width joiners, in mention and title."""
    bridge, person = (
        Passage(title="Bridge", text=f"it was designed by {mention}"),
        Passage(title=title, text="a life"),
    )
    assert hop([bridge, person, KETTLE], bridge).keys() == {person.id}
    assert hop([bridge, person, KETTLE], person).keys() == {bridge.id}


@pytest.mark.parametrize(
    "question",
    [
        "Who was Ilse Aue?",
        "who was ILSE AUE's teacher",
        "Was the Ilse Aue school closed?",
        unicodedata.normalize("NFD", "Who was Ilsé Aüe?"),
        "Ilse\u00a0Aue - who was that?",
    ],
)
def test_a_name_that_the_question_holds_links_nothing(question: str) -> None:
    """Words and vectors search for it already: its links would only repeat them. However it is written."""
    assert hop([BRIDGE, DESIGNER], BRIDGE, question=question) == {}
    assert hop([BRIDGE, DESIGNER], DESIGNER, question=question) == {}


def test_a_part_of_a_name_in_the_question_does_not_take_the_link_away() -> None:
    assert hop([BRIDGE, DESIGNER], BRIDGE, question="Which Ilse designed it?").keys() == {DESIGNER.id}


def test_long_names_of_the_question_link_nothing_either() -> None:
    """As many words as a name may have."""
    name = "Royal Society of the Friends of the Old Harbour of Tamworth"
    member = Passage(title="Member", text=f"she joined the {name}")
    society = Passage(title=name, text="a club")
    assert hop([member, society], member).keys() == {society.id}
    assert hop([member, society], member, question=f"Who joined the {name}?") == {}


@pytest.mark.parametrize(("count", "leads"), [(MOST_TOPICS, True), (MOST_TOPICS + 1, False)])
def test_a_title_of_very_many_documents_leads_nowhere(count: int, leads: bool) -> None:
    """An ambiguous name: following it would bring in a crowd."""
    poem = Passage(title="Poem", text="it praises Smith")
    smiths = [Passage(title="Smith", text=f"number {number} of them") for number in range(count)]
    assert bool(hop([poem, *smiths], poem)) == leads


def test_a_long_document_is_reached_by_its_title() -> None:
    """It is one thing, however many passages it was cut into; the first ones are enough to go on from."""
    poem = Passage(title="Poem", text="it praises Smith")
    life = [Passage(title="Smith", text=f"part {number}", source_id="smith") for number in range(3 * MOST_TOPICS)]
    assert hop([poem, *life], poem).keys() == {passage.id for passage in life[:MOST_TOPICS]}


@pytest.mark.parametrize(("count", "leads"), [(MOST_MENTIONS, True), (MOST_MENTIONS + 1, False)])
def test_a_name_that_very_many_passages_mention_leads_nowhere(count: int, leads: bool) -> None:
    """Neither back from what is about it, nor between those that mention it."""
    city = Passage(title="Velmora", text="a port")
    visits = [Passage(title="Visit", text=f"visit {number} to Velmora") for number in range(count)]
    found = hop([city, *visits], city)
    assert bool(found) == leads
    between = hop([city, *visits], visits[0]).keys()
    assert (visits[1].id in between) == leads
    assert city.id in between


def test_the_rarer_a_name_the_stronger_its_link() -> None:
    city = Passage(title="Velmora", text="a port")

    def strength(count: int) -> float:
        visits = [Passage(title="Visit", text=f"visit {number} to Velmora") for number in range(count)]
        return hop([city, *visits], city)[visits[0].id]

    assert strength(1) == strength(2) > strength(10) > strength(MOST_MENTIONS) > 0


def test_unknown_seeds_are_ignored_and_repeated_ones_count_once() -> None:
    """A seed may have been deleted since it was found."""
    every = [BRIDGE, DESIGNER, KETTLE]
    with links_of(every) as links:
        expected = linked(links, [BRIDGE.id], "Where is it?")
        assert linked(links, ["nobody", BRIDGE.id, BRIDGE.id], "Where is it?") == expected
        assert linked(links, ["nobody"], "Where is it?") == linked(links, [], "Where is it?") == {}


def test_many_links_with_one_seed_are_worth_no_more_than_the_limit() -> None:
    names = [f"Orn {number}" for number in range(20)]
    lists = [Passage(title=title, text="both list " + ", ".join(names)) for title in ("One", "Two list")]
    twin = Passage(title="Twin", text="this lists " + ", ".join(names))
    assert hop([*lists[:1], twin], twin) == {lists[0].id: LIMIT}


def test_the_keys_of_an_endless_question_are_bounded() -> None:
    """A question of a thousand words must not become a million keys."""
    found = question_keys(" ".join(f"word{number}" for number in range(1000)))
    assert QUESTION_WORDS < len(found) <= QUESTION_WORDS * LONGEST_KEY
    assert question_keys("") == question_keys("?!") == frozenset()


_NAMES = ("Velmora", "Ilse Aue", "Orn Bridge", "Tamworth", "Harte")
_PASSAGES = st.lists(
    st.builds(
        lambda title, names, number: Passage(title=title, text=f"text {number} on {', '.join(names)}"),
        st.sampled_from(["", *_NAMES]),
        st.lists(st.sampled_from(_NAMES), max_size=3),
        st.integers(0, 99),
    ),
    min_size=2,
    max_size=8,
    unique_by=lambda passage: passage.id,
)


@given(passages=_PASSAGES, question=st.sampled_from(["Where is it?", "Who saw Velmora?", "Ilse Aue of Tamworth"]))
def test_links_are_finite_bounded_and_lead_both_ways(passages: list[Passage], question: str) -> None:
    """While no key is too frequent: what a passage leads to leads back to it."""
    with links_of(passages) as links:
        found = {one.id: linked(links, [one.id], question) for one in passages}
    for key, others in found.items():
        assert key not in others
        for other, strength in others.items():
            assert key in found[other]
            assert math.isfinite(strength)
            assert 0 < strength <= LIMIT


@given(passages=_PASSAGES, order=st.randoms(use_true_random=False))
def test_the_order_of_seeds_does_not_count(passages: list[Passage], order: random.Random) -> None:
    """And several seeds give what each alone gives, the strongest link of each passage."""
    seeds = [passage.id for passage in passages[: len(passages) // 2 + 1]]
    shuffled = list(seeds)
    order.shuffle(shuffled)
    with links_of(passages) as links:
        together = linked(links, seeds, "Where is it?")
        assert linked(links, shuffled, "Where is it?") == together
        alone = [linked(links, [seed], "Where is it?") for seed in seeds]
    keys = {key for found in alone for key in found}
    assert together == {key: max(found.get(key, 0.0) for found in alone) for key in keys}
