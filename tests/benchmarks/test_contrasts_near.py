"""What makes a passage unfit as a distractor, and the pool that distractors are drawn from."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.contrasts.near import answer_strings, holds_answer, near_any, overlap, stands_for
from benchmarks.contrasts.pool import TRIES, Pool, title_words
from benchmarks.errors import SettingsError
from retrieval import Passage
from tests.benchmarks.records_world import drawn, shuffled, word, words, world, write_corpus

TEXTS = st.lists(st.sampled_from("abcdef"), max_size=30).map(" ".join)


def naive(one: str, other: str) -> float:
    """The same by the definition, with lists."""
    sets = []
    for text in (one, other):
        said = text.split()
        sets.append({tuple(said[at : at + 5]) for at in range(max(len(said) - 4, 1))} if said else set())
    fewer, more = sorted(sets, key=len)
    return sum(gram in more for gram in fewer) / len(fewer) if fewer else 0.0


@given(TEXTS, TEXTS)
def test_overlap_is_the_share_of_the_shorter_texts_five_grams(one: str, other: str) -> None:
    """Symmetric, in [0, 1], 1 for a text with itself, and what its definition says."""
    assert overlap(one, other) == overlap(other, one) == pytest.approx(naive(one, other))
    assert 0.0 <= overlap(one, other) <= 1.0
    assert overlap(one, one) == (1.0 if one else 0.0)
    assert near_any(one, [other]) == (naive(one, other) >= 0.5)


def test_half_of_the_five_grams_is_near_and_less_is_not() -> None:
    """The bound of the issue, at and below it: 2 of 4, then 2 of 5."""
    text = "a b c d e f g h"
    assert near_any("a b c d e f x y", [text])
    assert not near_any("a b c d e f x y z", [f"{text} i"])
    assert not near_any(text, [])


def test_case_accents_and_signs_do_not_hide_a_copy() -> None:
    """A near-duplicate is told by its words."""
    assert overlap("Zoë's MILL, built of stone in 1,702!", "zoe mill built — of stone in 1702") == 1.0


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=20), TEXTS, TEXTS)
def test_a_text_that_holds_the_gold_one_stands_for_it_and_a_fragment_does_not(
    gold: list[str], before: str, after: str
) -> None:
    """Whatever stands around it. A short piece of gold overlaps with it in full, yet is no evidence."""
    if len(gold) >= 5:
        assert stands_for(" ".join([before, *gold, after]), " ".join(gold))
    long = words(drawn(gold), 20)
    assert overlap(" ".join(long.split()[:6]), long) == 1.0
    assert not stands_for(" ".join(long.split()[:6]), long)


def test_an_answer_is_found_in_heading_or_text_as_whole_words() -> None:
    """In any dress; never inside another word."""
    strings = answer_strings(["The  Mirna!", "1,702"])
    assert holds_answer(Passage(text="It is fed by the MIRNA and others."), strings)
    assert holds_answer(Passage(text="A river.", title="The Mirna"), strings)
    assert holds_answer(Passage(text="In 1702 it froze."), strings)
    assert not holds_answer(Passage(text="Seen from the Mirnas in 17025 it is grey."), strings)


@pytest.mark.parametrize("answers", [(), ("yes",), ("No.", " YES "), ("noanswer",), ("", "?!")])
def test_yes_no_and_blank_answers_name_nothing_to_look_for(answers: tuple[str, ...]) -> None:
    """Else half of all passages, or all, would hold an answer."""
    assert answer_strings(answers) == ()
    assert not holds_answer(Passage(text="No, yes, noanswer!"), answer_strings(answers))


def test_title_words_are_longer_than_three_characters() -> None:
    """The paper's rule: `Mill` counts, `Inn` and a repeated word do not."""
    assert list(title_words("The Mill Inn of mill-town")) == ["mill", "town"]


def test_the_pool_is_the_same_in_whatever_order_a_corpus_was_written() -> None:
    """Repeats, also under another title, count once and the same one is kept."""
    draw = drawn("pool")
    found = [Passage(text=words(draw), title=f"{word(draw)} Mill") for _ in range(30)]
    found += [Passage(text=one.text, title=f"{word(draw)} Copy") for one in found[:10]]
    pools = [Pool(shuffled(found, seed)) for seed in range(5)]
    assert {len(pool) for pool in pools} == {30}
    drawn_passages = {
        (*pool.draws(drawn("draws")), *pool.draws_like("Old Mill Copy", drawn("draws"))) for pool in pools
    }
    assert len(drawn_passages) == 1


def test_passages_like_a_title_share_one_of_its_words() -> None:
    """Each at most once, `TRIES` at most, none for a title without a long word."""
    draw = drawn("like")
    pool = Pool(
        [Passage(text=words(draw), title=f"{word(draw)} {'Mill' if at % 2 else 'Inn'}") for at in range(500)]
    )
    like = list(pool.draws_like("The mill", drawn("like")))
    assert len({one.id for one in like}) == len(like) == TRIES
    assert {one.title.split()[1] for one in like} == {"Mill"}
    assert not list(pool.draws_like("Inn", drawn("like")))
    assert len(list(pool.draws(drawn("like")))) == TRIES


def test_a_corpus_is_a_pool_of_whole_records(tmp_path: Path) -> None:
    """A record is never cut: a gold passage in two halves would not be recognised."""
    long = Passage(text=" ".join(f"Sentence {at} is here." for at in range(400)), title="Long")
    corpus = write_corpus(tmp_path / "corpus.jsonl", [*world(5).corpus, long])
    pool = Pool.read(corpus)
    assert len(pool) == len(world(5).corpus) + 1
    assert [one.text for one in pool.draws_like("Long", drawn("long"))] == [long.text]


def test_an_empty_corpus_is_refused_with_a_remedy() -> None:
    """Instead of an index error at the first draw."""
    with pytest.raises(SettingsError, match=r"no passage.*--corpus"):
        Pool([])
