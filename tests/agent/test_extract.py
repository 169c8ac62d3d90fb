"""What a question asks for, and which spans could answer it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.extract.asked import Asked, what_is_asked
from agent.extract.candidates import find_candidates, number_of_years
from agent.extract.reading import read
from retrieval import Passage


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who built the lighthouse?", "person"),
        ("The lighthouse was built by whom?", "person"),
        ("Which engineer built the lighthouse?", "person"),
        ("What is the name of the engineer who built it?", "person"),
        ("Where was the engineer born?", "place"),
        ("The engineer was born in what town?", "place"),
        ("When did it open?", "date"),
        ("In which year did it open?", "date"),
        ("How many steps does the tower have?", "number"),
        ("What is the height of the tower?", "number"),
        ("Is the tower taller than the oak?", "yes_no"),
        ("Which river flows past the tower?", "thing"),
        ("Who is older, Ilse Aue or Tomas Rell?", "choice"),
        ("Was Ilse Aue or Tomas Rell born first?", "choice"),
        ("誰が灯台を建てましたか", "thing"),
        ("", "thing"),
    ],
)
def test_the_question_words_say_what_is_asked(question: str, kind: str) -> None:
    assert what_is_asked(question).kind == kind


def test_a_choice_names_its_options() -> None:
    assert what_is_asked("Who is older, Ilse Aue or Tomas Rell?").options == ("Ilse Aue", "Tomas Rell")
    assert what_is_asked("Are Ilse Aue and Tomas Rell both sculptors?").options == ("Ilse Aue", "Tomas Rell")
    assert what_is_asked("Which film is longer, Glass Orchard (1950 film) or The Weir?").options == (
        "Glass Orchard (1950 film)",
        "The Weir",
    )


def test_the_noun_of_the_question_word_is_kept() -> None:
    assert what_is_asked("What Baltic river is the longest?").head == ("baltic", "river")


@pytest.mark.parametrize(
    ("asked", "text", "spans"),
    [
        (Asked(kind="date"), "Opened on 3 May 1920, widened in the 1950s.", ["3 May 1920", "1950s"]),
        (
            Asked(kind="date"),
            "(May 4, 1916May 5, 2002), the 19th century",
            ["May 4, 1916", "May 5, 2002", "19th century"],
        ),
        (Asked(kind="date", head=("year",)), "Opened on 3 May 1920.", ["1920"]),
        (Asked(kind="number"), "In May 1920 it had 1,250 seats and twenty-one doors.", ["1,250", "twenty-one"]),
        (Asked(kind="number"), "It cost $1.5 million, 12% more.", ["$1.5 million", "12%"]),
        (Asked(kind="person"), "Ilse Aue met Tomas Rell.", ["Ilse Aue", "Tomas Rell"]),
    ],
)
def test_spans_of_the_asked_kind(asked: Asked, text: str, spans: list[str]) -> None:
    assert [candidate.text for candidate in find_candidates(text, asked)] == spans


@given(st.text(max_size=200), st.sampled_from(["date", "number", "person", "thing"]))
def test_a_candidate_is_the_text_at_its_place(text: str, kind: str) -> None:
    for candidate in find_candidates(text, Asked(kind=kind)):  # type: ignore[arg-type]
        assert text[candidate.start : candidate.end] == candidate.text


def test_dates_compare_by_year_month_and_day() -> None:
    dates = ["1928", "9 January 1929", "10 January 1929", "March 1929", "1930"]
    values = [number_of_years(date) for date in dates]
    assert None not in values
    assert values == sorted(values, key=lambda value: value or 0.0)
    assert number_of_years("3 May") is None


def test_sentences_of_two_passages_that_share_a_name_are_read_together() -> None:
    question = "Which river flows past the town where Ilse Aue was born?"
    reading = read(
        question,
        [
            Passage(title="Ilse Aue", text="Ilse Aue was an engineer. She was born in Hartmoor."),
            Passage(title="Hartmoor", text="Hartmoor is a town. The river Lenne flows past Hartmoor."),
            Passage(title="Weir", text="A weir slows a river."),
        ],
    )
    best = max(reading.statements, key=lambda statement: statement.joint)
    assert best.partner is not None
    pair = {best.text, reading.statements[best.partner].text}
    assert pair == {"She was born in Hartmoor.", "The river Lenne flows past Hartmoor."}
    assert best.coverage < best.joint <= 1.0 + 1e-9
