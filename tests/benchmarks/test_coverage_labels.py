"""Labels of the simulator, worked by hand: what is a false hit, what a false miss, which threshold is the best."""

from __future__ import annotations

import pytest

from benchmarks.coverage.figures import best_similarity, comparison_rows, strategy_rows
from benchmarks.coverage.lines import Line
from benchmarks.coverage.needs import Need, held, key_sentences
from benchmarks.coverage.strategies import NEVER
from benchmarks.coverage.tuning import best_threshold, recall_at, support_recall


def line(number: int = 0, **changes: object) -> Line:
    """An answerable question that was fetched for and got its one piece of support."""
    plain: dict[str, object] = {
        "strategy": "coverage", "number": number, "kind": "new", "dataset": "towns", "cluster": f"c{number}",
        "answerable": True, "hit": False, "needs": 1, "held": 1, "complete_before": False, "served": 5, "stale": 0,
        "pages": 4, "not_modified": 0, "refused": 0, "searches": 1, "robots": 0, "bytes": 1000, "calls": 2,
        "wall_seconds": 1.0, "spared_seconds": 0.5,
    }  # fmt: skip
    return Line.model_validate(plain | changes)


@pytest.mark.parametrize(
    ("changes", "false_hit", "false_miss"),
    [
        ({}, False, False),  # fetched, and the cache had not all
        ({"complete_before": True}, False, True),
        ({"hit": True}, False, False),
        ({"hit": True, "held": 0}, True, False),
        ({"hit": True, "held": 1, "needs": 2}, True, False),  # half of the support is not complete
        ({"hit": True, "held": 0, "complete_before": True}, True, False),  # it was there and was not served
        ({"held": 0}, False, False),  # fetched in vain claims nothing
        ({"hit": True, "answerable": False, "needs": 0, "held": 0, "complete_before": None}, False, False),
        ({"answerable": False, "needs": 0, "held": 0, "complete_before": None}, False, False),
    ],
)
def test_false_hits_and_false_misses(changes: dict[str, object], false_hit: bool, false_miss: bool) -> None:
    judged = line(**changes)  # type: ignore[arg-type]
    assert (judged.false_hit, judged.false_miss) == (false_hit, false_miss)


def test_support_is_held_by_any_passage_that_holds_it() -> None:
    needs = [Need(passages=frozenset({"a", "b"})), Need(passages=frozenset({"c"}))]
    assert [held(needs, served) for served in ((), ("b",), ("a", "b"), ("c", "b"))] == [0, 1, 1, 2]


def test_the_sentence_with_the_answer_is_needed_else_the_first() -> None:
    """A passage that leads to the next one holds no answer: what it is about stands in its first sentence."""
    text = "Kelda is a town. Its mine gave copper until 1911. It is closed."
    assert key_sentences(text, ["Copper"]) == ("its mine gave copper until 1911.",)
    assert key_sentences(text, ["silver"]) == ("kelda is a town.",)
    assert key_sentences(text, []) == ("kelda is a town.",)


def similar(number: int, cosine: float | None, *, would_hold: int, held: int = 1) -> Line:
    return line(number, nearest_passage=cosine, would_hold=would_hold, held=held)


def test_the_best_threshold_fetches_least_at_the_recall() -> None:
    """With 0.7 two of four questions hit and get all; with 0.5 a third one hits and lacks its support."""
    lines = [similar(0, None, would_hold=0), similar(1, 0.9, would_hold=1), similar(2, 0.7, would_hold=1),
             similar(3, 0.5, would_hold=0)]  # fmt: skip
    assert recall_at(lines, "passage", 0.7) == 1.0
    assert recall_at(lines, "passage", 0.5) == 0.75
    assert best_threshold(lines, "passage", recall=1.0) == 0.7
    assert best_threshold(lines, "passage", recall=0.75) == 0.5
    assert best_threshold(lines, "passage", recall=1.1) == NEVER
    assert best_threshold(lines, "question", recall=0.5) == NEVER


def test_figures_by_hand() -> None:
    """Rates over all questions, over answerable ones, over served passages; differences question by question."""
    lines = {
        "coverage": [
            line(0, hit=True, pages=0, searches=0, stale=1),
            line(1),
            line(2, complete_before=True, held=0),
        ],
        "similarity-passage-tuned": [line(0), line(1, hit=True, held=0, pages=0), line(2)],
    }
    coverage, similarity = strategy_rows(lines, seed=0)
    assert coverage["fetches"] == pytest.approx(8 / 3)
    assert coverage["hits"] == pytest.approx(1 / 3)
    assert coverage["false_hits"] == 0.0
    assert coverage["false_misses"] == pytest.approx(1 / 3)
    assert coverage["support_recall"] == pytest.approx(2 / 3)
    assert coverage["stale"] == pytest.approx(1 / 15)
    assert coverage["false_hits_unanswerable"] is None
    assert coverage["seconds_p50"] == 1.5
    assert similarity["false_hits"] == pytest.approx(1 / 3)
    (difference,) = comparison_rows(lines, [("coverage", "similarity-passage-tuned")], seed=0)
    assert difference["false_hits"] == pytest.approx(-1 / 3)
    assert difference["fetches"] == 0.0
    assert difference["fetches_of_it"] == 1.0


def test_the_best_similarity_is_the_cheapest_with_the_same_recall() -> None:
    """One that fetches nothing and serves nothing is no rival."""
    lines = {
        "coverage": [line(0), line(1)],
        "careless": [line(0, hit=True, held=0, pages=0), line(1, hit=True, held=0, pages=0)],
        "careful": [line(0, pages=3), line(1)],
        "wasteful": [line(0, pages=9), line(1)],
    }
    assert best_similarity(lines, "coverage", ["careless", "careful", "wasteful"]) == "careful"
    assert best_similarity(lines, "coverage", ["careless"]) is None


def test_recall_is_over_answerable_questions() -> None:
    assert support_recall([line(0), line(1, held=0), line(2, answerable=False, needs=0, held=0)]) == 0.5
