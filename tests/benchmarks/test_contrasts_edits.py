"""Questions about another name or number."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.contrasts.edits import Asked, Names, Thing, edits
from tests.benchmarks.records_world import drawn

MILL = (
    "The first mill of Lower Varn was built by Dr. Ada Brell in 1742. It burned down one night in March, "
    "and Tomas K. Oyle bought the ruin in 1790 for 1,250 crowns. But Edda Finn of the University of Sorl, "
    "who will now and then paint it, lives elsewhere, in Sorl."
)
NEAR = "Nobody knew where the mill stood. Later Otto Ruhl built one in 1811, in the Vale of Kress, in April."


def made(
    question: str, *answers: str, text: str = MILL, near: tuple[str, ...] = (NEAR,), seed: int = 1
) -> set[str]:
    asked = Asked(question=question, answers=answers, text=text)
    return set(edits(asked, Names([text, *near]), near, count=9, draw=drawn(seed)))


def test_names_and_numbers_are_found_whole_and_by_kind() -> None:
    """No sentence's first word, no title without its name, no number that is part of a word."""
    found = Names([MILL]).things(f"{MILL} Consequently the 1970s saw 2nd and A4 there.")
    assert found == (
        *(Thing(text=name, kind="name") for name in ("Lower Varn", "Dr. Ada Brell")),
        Thing(text="March", kind="month"),
        *(Thing(text=name, kind="name") for name in ("Tomas K. Oyle", "Edda Finn", "University of Sorl", "Sorl")),
        *(Thing(text=year, kind="year") for year in ("1742", "1790")),
        Thing(text="1,250", kind="number"),
    )


def test_a_word_that_the_dataset_writes_small_is_no_name() -> None:
    """Else "when will the ferry sail" would ask about a man called Will."""
    names = Names(["Once upon a time Will sailed.", "He will sail if she will."])
    assert names.things("Then Will sailed, and Edda too.") == ()
    assert Names(["So Edda came."]).things("So Edda came.") == (Thing(text="Edda", kind="name"),)


def test_another_one_of_the_same_kind_comes_from_the_passage() -> None:
    """The mill's builder stays the answer; its town becomes another place or person that the passage names."""
    question = "Who built the first mill of Lower Varn?"
    assert made(question, "Dr. Ada Brell") == {
        f"Who built the first mill of {name}?"
        for name in ("Tomas K. Oyle", "Edda Finn", "University of Sorl", "Sorl")
    }
    assert made("Who bought it in 1790?", "Tomas K. Oyle") == {"Who bought it in 1742?"}


def test_a_question_without_capitals_stays_without() -> None:
    """A capital would tell the made question from the real one."""
    question = "who built the first mill of lower varn"
    found = made(question, "Dr. Ada Brell")
    assert "who built the first mill of sorl" in found
    assert all(one == one.lower() for one in found)


def test_what_the_passage_has_none_of_comes_from_a_near_passage() -> None:
    """The only month of the passage, and nothing that the passage names itself."""
    assert made("What burned down in March?", "mill") == {"What burned down in April?"}
    assert made("What burned down in March?", "mill", near=()) == set()


def test_what_the_question_names_only_as_part_of_a_longer_name_stays() -> None:
    """A name with another word in its middle would be none at all."""
    assert made("Who painted New Sorl?", "Edda Finn") == set()
    assert made("Who painted Sorl Bridge?", "Edda Finn") == set()
    assert made("Who sorl?", "Edda Finn") == set()
    assert made("Did Sorl change?", "Edda Finn")


def test_what_a_sentence_says_of_the_other_thing_too_is_not_asked() -> None:
    """Of two field goals each has a kicker: the made question would have an answer."""
    text = (
        "After the break Finn kicked a field goal from 33 yards. Then Oyle kicked a field goal from 41 yards. "
        "There were 900 people."
    )
    question = "Who kicked a field goal from 33 yards?"
    assert made(question, "Finn", text=text, near=()) == {"Who kicked a field goal from 900 yards?"}
    beaten = "In 1742 the crews of Varn beat Sorl by far."
    assert made("Who beat Sorl by far?", "the crews", text=beaten, near=()) == {"Who beat Varn by far?"}


@given(
    st.integers(0, 10**6), st.integers(0, 3), st.sampled_from(["1742", "Dr. Ada Brell", "Lower Varn", "crowns"])
)
def test_an_edit_is_another_question_and_brings_no_answer(seed: int, count: int, answer: str) -> None:
    """At most as many as asked for, all different, the same for one seed, none with the answer as what came."""
    question = "What did Lower Varn pay in 1742 for March and 1,250 of Sorl?"
    asked = Asked(question=question, answers=[answer], text=MILL)

    def once() -> list[str]:
        return edits(asked, Names([MILL, NEAR]), [NEAR], count=count, draw=random.Random(seed))  # noqa: S311

    found = once()
    assert found == once()
    assert len(set(found)) == len(found) <= count
    for one in found:
        assert one != question
        came = set(one.rstrip("?").split()) - set(question.rstrip("?").split())
        assert came
        assert not came & set(answer.split())


@pytest.mark.parametrize("question", ["", "?", "who", "1742", "Σ of 1742 in ‘Sorl’"])
def test_odd_questions_are_no_error(question: str) -> None:
    """Data from outside: whatever it is, there is a list."""
    found = made(question, "x", text="İ Sorl in 1742 and ﬁ, 1790.", near=("", "..."))
    assert question not in found
