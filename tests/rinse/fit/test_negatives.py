"""What the span reader is trained on."""

from __future__ import annotations

from retrieval import Passage
from rinse.fit.groups import TrainingGroup, TrainingSide
from rinse.fit.negatives import SpanExample, span_examples

_TEXT = "The bridge is red. Ann Lee built the old bridge in summer. Ships pass below."
_OTHER = Passage(text="The river is long and cold. A captain built a red ship for the old queen of the north.")


def _examples(
    text: str = _TEXT, answers: tuple[str, ...] = ("Ann Lee",), other: Passage = _OTHER
) -> list[SpanExample]:
    good = TrainingSide(
        question="Who built the bridge?", passages=(other, Passage(text=text)), sufficient=True, answers=answers
    )
    bad = TrainingSide(question=good.question, passages=(other,), sufficient=False, answers=answers)
    return span_examples([TrainingGroup(family="f", group="g", sides=(good, bad))])


def test_a_negative_swaps_the_answer_sentence_for_as_many_words_of_another_passage() -> None:
    """Neither length nor topic may tell positive and negative apart; the rest of the passage stays."""
    positive, negative = _examples()
    assert positive.passage.text[positive.start : positive.end] == "Ann Lee"
    assert negative.end is None
    text = negative.passage.text
    assert text.startswith("The bridge is red. ")
    assert text.endswith(" Ships pass below.")
    assert len(text.split()) == len(_TEXT.split())
    window = text.removeprefix("The bridge is red. ").removesuffix(" Ships pass below.")
    assert window in _OTHER.text
    assert "built" in window
    assert negative.start == text.index(window)


def test_every_sentence_with_an_answer_goes() -> None:
    """An answer that survives would teach the reader that right is wrong."""
    _, negative = _examples("Ann Lee built it. It is red. People thank ann lee for it.")
    assert "lee" not in negative.passage.text.lower()
    assert "It is red." in negative.passage.text


def test_a_passage_without_the_answer_serves_where_no_window_is_long_enough() -> None:
    """The paper's second way."""
    short = Passage(text="A short note.")
    _, negative = _examples(other=short)
    assert negative.passage.text == short.text


def test_where_the_answer_survives_in_the_heading_the_pair_is_dropped() -> None:
    """The title stays with the passage and would still give the answer away."""
    good = TrainingSide(
        question="Who built the bridge?",
        passages=(Passage(text=_TEXT, title="Ann Lee"), _OTHER),
        sufficient=True,
        answers=("Ann Lee",),
    )
    assert span_examples([TrainingGroup(family="f", group="g", sides=(good,))]) == []


def test_pairs_without_a_place_for_the_answer_give_nothing() -> None:
    """Yes-no questions and pairs without answers cannot train a span reader."""
    assert _examples(answers=("yes",)) == []
    assert _examples(answers=()) == []


def test_known_support_comes_first() -> None:
    """A distractor that happens to hold the answer string is no support."""
    passages = (Passage(text="Ann Lee sang."), Passage(text=_TEXT), _OTHER)
    good = TrainingSide(
        question="Who built the bridge?",
        passages=passages,
        sufficient=True,
        answers=("Ann Lee",),
        support=(passages[1].id,),
    )
    assert span_examples([TrainingGroup(family="f", group="g", sides=(good,))])[0].passage.text == _TEXT
