"""Coverage of a question's words by passages, worked by hand and by its properties."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.cues import Lexicon
from benchmarks.cues.coverage import coverage_cues, coverages
from retrieval import EvidenceSet, Passage
from retrieval.text import tokenise
from tests.benchmarks.sides import contrast

WORD = st.sampled_from(["alder", "birch", "cedar", "dogwood", "elm", "fir"])
TEXT = st.lists(WORD, min_size=1, max_size=5).map(" ".join)
TEXTS = st.lists(TEXT, min_size=1, max_size=5, unique=True)
LEXICON = Lexicon([Passage(text=text) for text in ("alder birch", "alder cedar", "alder elm elm")])


def evidence(*texts: str) -> EvidenceSet:
    return EvidenceSet.of(Passage(text=text) for text in texts)


def test_weights_by_hand() -> None:
    """Three passages: `alder` in all of them, `elm` in one (twice), `gorse` in none."""
    assert len(LEXICON) == 3
    assert LEXICON.weight("alder") == 1.0
    assert LEXICON.weight("elm") == pytest.approx(log(4 / 2) + 1)
    assert LEXICON.weight("gorse") == pytest.approx(log(4) + 1)
    assert LEXICON.average_length == pytest.approx(7 / 3)


def test_coverage_by_hand() -> None:
    """Weights 1, 1.693 and 2.386 of alder, elm and gorse: 5.079 together; a repeated word counts once."""
    asked, weight = "Alder, elm, elm or gorse?", 1 + (log(2) + 1) + 2 * (log(4) + 1)
    found = coverages(LEXICON, asked, evidence("the alder", "elm", "alder and elm", "birch"))
    assert found == pytest.approx([1 / weight, (log(2) + 1) / weight, (log(2) + 2) / weight, 0.0])
    cues = coverage_cues(LEXICON, asked, evidence("the alder", "elm", "alder and elm", "birch"))
    assert cues == pytest.approx(
        {
            "cue-size": 4,
            "cue-min-idf": 0,
            "cue-mean-idf": (2 * log(2) + 4) / weight / 4,
            "cue-top2-idf": (2 * log(2) + 3) / weight / 2,
            "question-overlap": 2 / 4,
        }
    )


def test_a_title_is_seen() -> None:
    """A scorer reads titles, and so do the cues and the frequencies behind them."""
    titled = Passage(text="It is deep.", title="Gorse")
    assert Lexicon([titled]).weight("gorse") == 1.0
    assert coverage_cues(LEXICON, "gorse", EvidenceSet.of([titled]))["question-overlap"] == 1.0


def test_nothing_is_defined_as_zero() -> None:
    """Empty evidence, a question without a word, and a lexicon of nothing give 0, not an error."""
    assert set(coverage_cues(LEXICON, "alder", evidence()).values()) == {0.0}
    signs = coverage_cues(LEXICON, "?!", evidence("alder", "elm"))
    assert signs.pop("cue-size") == 2.0
    assert set(signs.values()) == {0.0}
    assert coverage_cues(Lexicon([]), "alder", evidence("alder"))["cue-min-idf"] == 1.0
    assert Lexicon([]).order("alder", evidence("alder"))


@given(question=TEXT, texts=TEXTS, extra=TEXT, data=st.data())
def test_cues_are_functions_of_a_set(question: str, texts: list[str], extra: str, data: st.DataObject) -> None:
    """Order and repeats change no digit; one passage more never raises the minimum nor lowers the overlap."""
    before = coverage_cues(LEXICON, question, evidence(*texts))
    assert coverage_cues(LEXICON, question, evidence(*data.draw(st.permutations(texts)), texts[0])) == before
    assert all(0 <= value <= 1 for name, value in before.items() if name != "cue-size")
    assert before["cue-min-idf"] <= before["cue-mean-idf"] + 1e-12 <= before["cue-top2-idf"] + 2e-12
    after = coverage_cues(LEXICON, question, evidence(*texts, extra))
    assert after["cue-min-idf"] <= before["cue-min-idf"]
    assert after["question-overlap"] >= before["question-overlap"]
    assert after["cue-size"] >= before["cue-size"]


def test_equal_weights_tie_exactly() -> None:
    """Passages that cover other words of the same weights tie, though their sums run in another order."""
    lexicon = Lexicon([Passage(text=text) for text in ("a x1", "b x2", "c a", "d b", "c e", "d f")])
    one, other = coverages(lexicon, "a e c d f b", evidence("a e c", "f d b"))
    assert one == other


def test_order_is_by_bm25_then_id() -> None:
    """The rarer word counts more, a short passage more than a long one, ties go by id; arrival is no matter."""
    texts = ["fir birch", "fir alder", "fir alder fir fir fir", "dogwood", "cedar fir fir"]
    found = LEXICON.order("alder birch", evidence(*texts))
    by_id = {Passage(text=text).id: text for text in texts}
    assert [by_id[key] for key, _ in found[:3]] == texts[:3]
    assert [key for key, _ in found[3:]] == sorted(Passage(text=text).id for text in texts[3:])
    assert LEXICON.order("alder birch", evidence(*reversed(texts))) == found


def test_unseen_words_match_themselves_only() -> None:
    """Two words that no passage of the lexicon holds are still two words."""
    found = dict(LEXICON.order("gorse", evidence("gorse", "hazel")))
    assert found[Passage(text="hazel").id] == 0
    assert found[Passage(text="gorse").id] > 0


def test_a_text_under_two_titles_counts_once() -> None:
    """Identity is content: the frequencies are those of one passage, whichever of the two comes first."""
    both = [Passage(text="alder", title="Elm"), Passage(text="alder", title="Fir")]
    one, other = Lexicon(both), Lexicon(both[::-1])
    assert len(one) == len(other) == 1
    assert [one.weight(word) for word in ("elm", "fir")] == [other.weight(word) for word in ("elm", "fir")]


def test_lexicon_counts_what_sides_hold() -> None:
    """Passages that are only added later do not count, one that several sides hold counts once."""
    sides = [("where", True, ["alder", "elm"]), ("where", False, ["alder", "fir"])]
    lexicon = Lexicon.of([contrast("g1", *sides, added=["gorse"]), contrast("g2", *sides)])
    assert len(lexicon) == 3
    assert lexicon.weight("gorse") == pytest.approx(log(4) + 1)
    assert lexicon.weight("alder") == pytest.approx(log(2) + 1)


@given(left=st.text(max_size=20), right=st.text(max_size=20))
def test_words_of_joined_passages_are_the_joined_words(left: str, right: str) -> None:
    """The evidence-only classifier joins words, the paper joins texts with blank lines: the same."""
    assert tokenise(f"{left}\n\n{right}") == tokenise(left) + tokenise(right)
