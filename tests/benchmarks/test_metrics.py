"""Answer and ranking figures, against pairs worked by hand from the official scripts."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metrics import (
    Script,
    all_support_at,
    answer_f1,
    exact_match,
    mean,
    normalise_answer,
    ratio,
    recall_at,
    script_for,
)

# (prediction, gold), exact match, F1 by each script
SCRIPTS: tuple[Script, ...] = ("hotpotqa", "squad1", "squad2")
OFFICIAL = [
    # articles and punctuation vanish, so nothing is left on either side
    (("The The", "A"), 1.0, (0.0, 0.0, 1.0)),
    (("!!!", "the"), 1.0, (0.0, 0.0, 1.0)),
    (("", "A"), 1.0, (0.0, 0.0, 1.0)),
    (("!!!", "Chk Chk Chk"), 0.0, (0.0, 0.0, 0.0)),
    # punctuation is deleted, not turned into a space
    (("10,000", "10000"), 1.0, (1.0, 1.0, 1.0)),
    (("10,000", "10 000"), 0.0, (0.0, 0.0, 0.0)),
    (("well-known", "well known"), 0.0, (0.0, 0.0, 0.0)),
    # 2 of 3 tokens: precision 1, recall 2/3
    (("February 1929", "11 February 1929"), 0.0, (0.8, 0.8, 0.8)),
    # word order does not count in F1
    (("February 11, 1929", "11 February 1929"), 0.0, (1.0, 1.0, 1.0)),
    # multisets: "new new" shares one "new" with "new york": precision 1/2, recall 1/2
    (("new new", "new york"), 0.0, (0.5, 0.5, 0.5)),
    (("a new york", "The New York"), 1.0, (1.0, 1.0, 1.0)),
    # HotpotQA's whole answers; SQuAD counts them as words
    (("yes", "Yes."), 1.0, (1.0, 1.0, 1.0)),
    (("yes", "no"), 0.0, (0.0, 0.0, 0.0)),
    (("yes it is", "yes"), 0.0, (0.0, 0.5, 0.5)),
    (("no", "no one"), 0.0, (0.0, 2 / 3, 2 / 3)),
    (("noanswer", "noanswer given"), 0.0, (0.0, 2 / 3, 2 / 3)),
    # an article inside a word stays
    (("Theodore", "odore"), 0.0, (0.0, 0.0, 0.0)),
    (("Straße", "STRASSE"), 0.0, (0.0, 0.0, 0.0)),
]


@pytest.mark.parametrize("official", [True, False])
@pytest.mark.parametrize(("pair", "em", "f1"), OFFICIAL)
def test_figures_equal_the_published_scripts(
    pair: tuple[str, str], em: float, f1: tuple[float, ...], official: bool
) -> None:
    """Case E01: worked by hand through the three scripts. Folding changes nothing in text that needs none."""
    prediction, gold = pair
    assert exact_match(prediction, [gold], official=official) == em
    for script, expected in zip(SCRIPTS, f1, strict=True):
        found = answer_f1(prediction, [gold], script=script, official=official)
        assert found == pytest.approx(expected), script


# (prediction, answer and aliases), exact match, F1: worked by hand through MuSiQue's metrics/answer.py
MUSIQUE = [
    (("Mirna", ["the river Mirna", "Mirna"]), 1.0, 1.0),
    (("the Mirna river", ["Mirna", "Mirna Valley"]), 0.0, 2 / 3),
    (("Lenne", ["Mirna", "Tessel"]), 0.0, 0.0),
    # no yes/no rule: these are words like any other
    (("yes it is", ["yes"]), 0.0, 0.5),
    # with no token left on both sides both agree, with none on one side they do not
    (("the", ["A"]), 1.0, 1.0),
    (("the", ["Mirna"]), 0.0, 0.0),
    # multisets over the best alias
    (("Mirna Mirna", ["Mirna", "Mirna Mirna Mirna"]), 0.0, 0.8),
]


@pytest.mark.parametrize(("case", "em", "f1"), MUSIQUE)
def test_musique_takes_the_best_over_answer_and_aliases(case: tuple[str, list[str]], em: float, f1: float) -> None:
    """Case E01: its script compares as SQuAD 2.0's does, and each figure takes its own best alias."""
    prediction, answers = case
    assert exact_match(prediction, answers, official=True) == em
    assert answer_f1(prediction, answers, script=script_for("musique_ans"), official=True) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("dataset", "script"),
    [
        ("hotpotqa", "hotpotqa"),
        ("2wikimultihopqa", "hotpotqa"),
        ("musique_full", "squad2"),
        ("MuSiQue", "squad2"),
        ("squad2", "squad2"),
        ("squad", "squad1"),
        ("sufficit-demo", "hotpotqa"),
    ],
)
def test_each_dataset_has_the_rules_of_its_own_script(dataset: str, script: Script) -> None:
    """Names as the files give them."""
    assert script_for(dataset) == script


@pytest.mark.parametrize(
    ("prediction", "gold"),
    [
        (unicodedata.normalize("NFD", "Café Müller"), "Café Müller"),
        ("１０，０００", "10,000"),
        ("Ｎｏ", "no"),
        ("ﬁnal", "final"),
        ("می\u200dخواهم", "میخواهم"),
        ("co\u00adoperate", "cooperate"),
        (unicodedata.normalize("NFD", "서울"), "서울"),
    ],
)
def test_invisible_differences_are_folded_unless_official(prediction: str, gold: str) -> None:
    """Case R04: NFD, full-width, ligatures, joiners and soft hyphens match; the scripts would not match them."""
    assert exact_match(prediction, [gold]) == 1.0
    assert answer_f1(prediction, [gold]) == 1.0
    assert exact_match(prediction, [gold], official=True) == 0.0


def test_the_best_alias_counts() -> None:
    """Both figures are maxima over the accepted answers, each on its own."""
    aliases = ["Rush (band)", "the Rush", "Canadian rock band Rush"]
    assert exact_match("rush", aliases) == 1.0
    assert answer_f1("Canadian band Rush", aliases) == pytest.approx(6 / 7)


def test_without_accepted_answers_nothing_is_judged() -> None:
    """Case E02: no answers to compare with is None, not 0."""
    assert exact_match("anything", []) is None
    assert answer_f1("anything", []) is None


def test_ranks_make_recall_and_all_support() -> None:
    """Two gold items at ranks 1 and 7, one not found."""
    assert recall_at([1, 7, None], 5) == pytest.approx(1 / 3)
    assert recall_at([1, 7, None], 7) == pytest.approx(2 / 3)
    assert all_support_at([1, 7], 6) == 0.0
    assert all_support_at([1, 7], 7) == 1.0
    assert all_support_at([1, None], 100) == 0.0


def test_undefined_figures_are_none() -> None:
    """Case E02: no gold, no values, nothing to divide by."""
    assert recall_at([], 5) is None
    assert all_support_at([], 5) is None
    assert mean([]) is None
    assert mean([None, None]) is None
    assert mean([1.0, None, 0.0]) == 0.5
    assert ratio(3, 0) is None
    assert ratio(3, 4) == 0.75


@given(st.text(), st.text(), st.sampled_from(SCRIPTS), st.booleans())
def test_f1_is_symmetric_bounded_and_one_for_equal_tokens(a: str, b: str, script: Script, official: bool) -> None:
    """Contract: in [0, 1], symmetric in its two texts, at least the exact match once tokens are left."""
    there = answer_f1(a, [b], script=script, official=official)
    back = answer_f1(b, [a], script=script, official=official)
    assert there is not None
    assert there == back
    assert 0.0 <= there <= 1.0
    if exact_match(a, [b], official=official) and normalise_answer(a, official=official):
        assert there == 1.0


@given(st.text())
def test_normalising_twice_changes_nothing_once_articles_are_gone(text: str) -> None:
    """The folded mode has a fixed point: its output contains nothing left to fold."""
    once = normalise_answer(text)
    assert normalise_answer(once) == once
