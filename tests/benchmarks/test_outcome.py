"""Searches held against annotations: support found, decisions, answers, and their sums."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agent import SearchAgent
from benchmarks.datasets import Gold, GoldPassage, GoldSentence
from benchmarks.outcome import Failure, digest, judge
from benchmarks.quick import LABELS
from benchmarks.summary import rows
from benchmarks.support import holds, support_ranks
from retrieval import Passage
from retrieval.passage import passage_id
from tests.benchmarks.toy import FERRY, HILL, LAKE, outcome_of, question
from tests.fakes import QuoteAnswerer, ScriptedPlanner, ScriptedScorer, answer_at, tier


def test_a_gold_passage_is_found_by_its_text_alone() -> None:
    """White space and title do not matter, one other character does: near-identical text is another passage."""
    gold = GoldPassage(passage_id=LAKE.id)
    assert holds(Passage(text=LAKE.text.replace(" ", "  "), title="Other"), gold)
    assert not holds(Passage(text=LAKE.text.replace(".", "!"), title="Lake"), gold)


def test_a_gold_sentence_is_found_in_any_passage_of_its_article() -> None:
    """However the article is cut; the same sentence in another article is no support."""
    gold = GoldSentence(article="Lake", sentence_id=passage_id("It is deep."))
    assert holds(LAKE, gold)
    assert holds(Passage(text="It is deep.", title="Lake", section="Depth"), gold)
    assert not holds(Passage(text="It is deep.", title="Hill"), gold)
    assert not holds(Passage(text="It is deep and cold.", title="Lake"), gold)
    elsewhere = Passage(text=LAKE.text, title="Copy").merged_with(LAKE)
    assert holds(elsewhere, gold), "a passage with several sources belongs to each of their articles"


def test_ranks_count_from_one_and_a_passage_may_hold_two_pieces() -> None:
    """The first passage that holds a piece of support gives its rank."""
    support: list[Gold] = [
        GoldSentence(article="Lake", sentence_id=passage_id("It is deep.")),
        GoldSentence(article="Lake", sentence_id=passage_id("The lake is fed by the Mirna.")),
        GoldPassage(passage_id=FERRY.id),
        GoldPassage(passage_id="f" * 64),
    ]
    assert support_ranks(support, [HILL, LAKE, LAKE, FERRY]) == (2, 2, 4, None)
    assert support_ranks([], [HILL]) == ()


def test_a_search_is_judged_turn_by_turn() -> None:
    """One of two pieces after the first turn, both at the end; then the answer is right."""
    found = outcome_of(question(), [LAKE], [LAKE, FERRY])
    assert (found.support, found.support_turn1, found.support_end) == (2, 1, 2)
    assert (found.complete_turn1, found.complete, found.correct) == (False, True, True)
    assert (found.action, found.answer, found.em, found.f1) == ("answer", LAKE.text, 1.0, 1.0)
    assert (found.turns, found.calls, found.passages, found.reason) == (2, 2, 2, "threshold_met")
    assert sorted(rank for rank in found.ranks if rank) == [1, 2]


def test_answering_without_all_support_is_a_wrong_decision() -> None:
    """Even where the answer's text happens to be right."""
    found = outcome_of(question(), [LAKE, HILL])
    assert (found.em, found.complete, found.correct) == (1.0, False, False)


def test_an_unanswerable_question_is_never_complete() -> None:
    """Abstaining is correct, answering is not, whatever was found; no answer is judged."""
    unanswerable = question(answerable=False, support=())
    abstained = outcome_of(unanswerable, [LAKE], score=9.0)
    answered = outcome_of(unanswerable, [LAKE, FERRY])
    assert (abstained.action, abstained.complete, abstained.correct) == ("abstain", False, True)
    assert (answered.action, answered.complete, answered.correct) == ("answer", False, False)
    assert (abstained.em, answered.em, answered.f1) == (None, None, None)


def test_an_abstention_scores_zero_even_if_the_gold_answer_normalises_to_nothing() -> None:
    """No answer and the answer "The The" have the same normal form; an abstention is no answer."""
    found = outcome_of(question(answers=("The The",)), [LAKE], score=9.0)
    assert (found.action, found.answer, found.em, found.f1) == ("abstain", None, 0.0, 0.0)


def test_without_accepted_answers_no_answer_is_judged() -> None:
    """Case E02: None, not 0."""
    found = outcome_of(question(answers=()), [LAKE, FERRY])
    assert (found.action, found.em, found.f1) == ("answer", None, None)


def test_what_went_wrong_on_the_way_is_recorded() -> None:
    """A tier that fails in the first turn degrades the search; the outcome says which part it was."""
    failing = SearchAgent(
        tiers=[tier("local", OSError("disk"), [LAKE, FERRY])],
        scorer=ScriptedScorer(),
        policy=answer_at(2.0),
        planner=ScriptedPlanner(),
        answerer=QuoteAnswerer(),
    )
    found = judge(question(), failing.run_sync("Which river?"), policy="threshold")
    assert found.degraded
    assert found.events == ["local/tier_failed"]


def test_rows_hold_the_worked_example() -> None:
    """Four questions, worked by hand: complete and answered, complete and abstained, incomplete and answered,
    unanswerable and abstained.
    """
    outcomes = [
        outcome_of(question("q1"), [LAKE, FERRY]),
        outcome_of(question("q2"), [LAKE], [FERRY], score=9.0),
        outcome_of(question("q3", answers=("Mirna",), group="q1"), [HILL, LAKE]),
        outcome_of(question("q4", answerable=False, support=()), [HILL], score=9.0),
    ]
    (row,) = rows(outcomes, [], labels={"system": "toy-scorer"})
    shares = {
        "all_support_turn1": 1 / 3,
        "all_support": 2 / 3,
        "correct_decisions": 2 / 4,
        "answered": 2 / 4,
        "answered_when_sufficient": 1 / 2,
        "abstained_when_insufficient": 1 / 2,
        "risk": 1 / 2,
        "em": 1 / 3,
        "em_answered": 1 / 2,
        "recall@5": (1 + 1 + 0.5) / 3,
        "all_support@5": 2 / 3,
        "turns_per_question": (1 + 3 + 1 + 3) / 4,
    }
    assert {name: row[name] for name in shares} == pytest.approx(shares)
    sizes = {"dataset": "toy", "split": "dev", "policy": "threshold", "system": "toy-scorer", "n": 4, "groups": 3}
    assert {name: row[name] for name in sizes} == sizes


def test_a_run_that_abstains_on_all_has_nulls_and_no_nan() -> None:
    """Case E02: nothing was answered, so what is a share of the answered is undefined."""
    (row,) = rows([outcome_of(question(answerable=False, support=()), [HILL], score=9.0)], [])
    undefined = {"all_support", "em", "f1", "em_answered", "risk", "answered_when_sufficient", "recall@5"}
    assert {row[name] for name in undefined} == {None}
    assert row["abstained_when_insufficient"] == 1.0
    json.dumps(row, allow_nan=False)


def test_the_digest_knows_everything_but_times_and_order() -> None:
    """Equal digests mean that two runs did the same for every question."""
    one, two = outcome_of(question("q1"), [LAKE]), outcome_of(question("q2"), [FERRY])
    slower = one.model_copy(update={"seconds": 99.0})
    other = one.model_copy(update={"evidence": "another ranking"})
    assert digest([one, two]) == digest([two, slower])
    assert digest([one, two]) != digest([two, other])
    assert digest([one]) != digest([one, one])


def test_a_dataset_of_failures_only_has_a_row_of_nulls() -> None:
    """It must not vanish from the table (case E02)."""
    failure = Failure(policy="band", dataset="toy", split="dev", id="q1", error="ValueError: x")
    (row,) = rows([], [failure])
    assert (row["n"], row["failures"], row["f1"], row["seconds_per_turn"]) == (0, 1, None, None)


def test_every_key_of_a_row_is_documented() -> None:
    """docs/benchmarks.md names all keys and no others."""
    (row,) = rows([outcome_of(question(), [LAKE])], [], labels=LABELS)
    text = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    table = text.partition("There is one row")[2].partition("Support is found")[0]
    first_cells = re.findall(r"^\| (`.+?) \|", table, flags=re.MULTILINE)
    keys = [key for cell in first_cells for key in re.findall(r"`(.+?)`", cell)]
    assert sorted(keys) == sorted(row)
