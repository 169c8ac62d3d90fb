"""How passages hang together: links, coverage, and that the work is bounded whatever the text is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent.chains import FEATURES, Chains, chain_features, chains
from agent.views import MAX_NAMES, Views
from retrieval import Passage
from retrieval.names import MAX_CHARACTERS

QUESTION = "Which river flows past the town where Ilse Aue was born?"
AUE = Passage(title="Ilse Aue", text="Ilse Aue was an engineer. She was born in Hartmoor.")
HARTMOOR = Passage(title="Hartmoor", text="Hartmoor is a market town. The river Lenne flows past it.")
RELL = Passage(title="Tomas Rell", text="Tomas Rell was born in a town by the sea.")
CJK = ("東京は日本の首都です。", "大阪は日本の都市です。", "京都の寺は古い。")

texts = st.one_of(
    st.text(max_size=120),
    st.sampled_from([AUE.text, HARTMOOR.text, RELL.text, *CJK, "\ud800", "A B C", "Ilse Aue met Tomas Rell."]),
)
passages = st.lists(
    st.builds(lambda text, title: Passage(text=text, title=title), texts, st.text(max_size=12)),
    max_size=7,
    unique_by=lambda passage: passage.id,
)


def links(question: str, *some: Passage) -> Chains:
    views = Views()
    return chains(question, [views.of(one) for one in some])


def feature(values: NDArray[np.float64], name: str) -> list[float]:
    found: list[float] = values[:, FEATURES.index(name)].tolist()
    return found


def test_a_mention_leads_from_a_passage_to_what_it_names() -> None:
    found = links(QUESTION, AUE, HARTMOOR, RELL)
    assert found.mention.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert found.strength[0, 1] == found.strength[1, 0] == 1
    assert found.asked.tolist() == [1, 0, 0]
    features = chain_features(found, [])
    assert feature(features, "near") == [0, 1, 0]
    assert feature(features, "mentioned")[1] > 0
    assert feature(features, "pair")[:2] == pytest.approx([1, 1])  # together they hold every word
    assert feature(features, "pair")[2] == feature(features, "crowd")[2] == 0


def test_a_short_topic_is_mentioned_only_as_a_name() -> None:
    """`Will` stands in many texts as a word; a longer topic is found in lower case too."""
    will, alum = Passage(title="Will", text="Will is a river."), Passage(title="Alum shale", text="It is black.")
    text = Passage(text="It will be alum shale.")
    assert links("?", text, will, alum).mention[0].tolist() == [0, 0, 1]
    assert links("?", Passage(text="She crossed the Will there."), will).mention[0, 1] == 1


def test_rare_names_link_passages_and_names_of_the_question_do_not() -> None:
    """Two passages that both name what the question names are not linked by that."""
    left = Passage(title="Left", text="He met Otto Kern and Bruno Feld.")
    right = Passage(title="Right", text="They knew Otto Kern and Bruno Feld.")
    assert links("Who was he?", left, right).strength[0, 1] > 0.5
    assert links("Did Otto Kern know Bruno Feld?", left, right).strength[0, 1] == 0
    crowd = [Passage(title=f"T{at}", text=f"Number {at} met Otto Kern and Bruno Feld.") for at in range(20)]
    assert links("Who was he?", left, right, *crowd).strength[0, 1] < 0.1


def test_links_are_found_without_titles_by_the_first_name() -> None:
    bare = [Passage(text=one.text) for one in (AUE, HARTMOOR, RELL)]
    assert links(QUESTION, *bare).mention[0, 1] == 1


def test_ranks_count_by_the_best_list_and_the_first_list_is_the_questions_own() -> None:
    features = chain_features(links(QUESTION, AUE, HARTMOOR, RELL), [[1, 0], [2, 1], [0, 2]])
    assert feature(features, "first") == [0.9, 1, 0]
    assert feature(features, "later") == [1, 0.9, 1]


@pytest.mark.parametrize("question", [QUESTION, "", "?", "日本の首都はどこですか"])
def test_an_empty_set_and_a_lone_passage_have_features(question: str) -> None:
    assert chain_features(links(question), []).shape == (0, len(FEATURES))
    lone = chain_features(links(question, HARTMOOR), [[0]])
    assert lone.shape == (1, len(FEATURES))
    assert feature(lone, "pair") == feature(lone, "crowd") == [0]


def test_a_script_without_capitals_is_compared_by_titles_and_coverage() -> None:
    """Pairs of characters cover the question; a title is found inside a text as whole pairs."""
    tower = Passage(title="東京タワー", text="東京タワーは高い。")
    found = links("日本の首都はどこですか", Passage(text=CJK[0]), Passage(text=CJK[2]), tower)
    assert found.covers.sum(axis=1)[0] > found.covers.sum(axis=1)[1]
    assert np.isfinite(chain_features(found, [[0, 1, 2]])).all()


@given(question=st.one_of(texts, st.just(QUESTION)), some=passages, data=st.data())
def test_features_are_shares_and_do_not_depend_on_the_order_of_the_passages(
    question: str, some: list[Passage], data: st.DataObject
) -> None:
    """All of them lie in [0, 1]; passages in another order have the same features in that order."""
    count = len(some)
    rankings = [data.draw(st.permutations(range(count)))[: data.draw(st.integers(0, count))] for _ in range(3)]
    features = chain_features(links(question, *some), rankings)
    assert features.shape == (count, len(FEATURES))
    assert np.isfinite(features).all()
    assert (features >= 0).all()
    assert (features <= 1 + 1e-9).all()
    order = data.draw(st.permutations(range(count)))
    place = {old: new for new, old in enumerate(order)}
    moved = [[place[old] for old in ranking] for ranking in rankings]
    again = chain_features(links(question, *(some[old] for old in order)), moved)
    assert np.allclose(again, features[list(order)], atol=1e-9)


def test_hostile_text_is_bounded_before_it_is_compared() -> None:
    """Names, words and characters that a view holds have an end, however long a text is and whatever is in it."""
    capitals = Passage(title="C", text=" ".join(f"Ab{at}. Cd{at}" for at in range(200_000)))
    view = Views().of(capitals)
    assert len(view.found) == MAX_NAMES
    assert len(view.names) <= MAX_NAMES
    assert len(view.folded) <= MAX_CHARACTERS + 2
    one_name = Views().of(Passage(text="X" * MAX_CHARACTERS + "Y" * MAX_CHARACTERS))
    assert len(one_name.folded) <= MAX_CHARACTERS + 2
    many = [Passage(text=f"N{at} " + "A B C D E F G H " * 1_250) for at in range(5)]
    assert chain_features(links(QUESTION, *many), []).shape == (5, len(FEATURES))


def test_a_view_is_made_once_for_a_text_under_a_heading() -> None:
    """The same text under another title is about something else."""
    views = Views()
    assert views.of(AUE) is views.of(Passage(title=AUE.title, text=AUE.text))
    assert views.of(Passage(title="Engineers", text=AUE.text)).topic == "engineers"


def test_views_are_kept_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What counts is the text: a few long passages take the room of many short ones."""
    monkeypatch.setattr("agent.views.KEPT", 2_000)
    views = Views()
    first = views.of(AUE)
    for at in range(5):
        views.of(Passage(text=f"{at} " + "stone " * 100))
    assert views.of(AUE) is not first
    assert views.of(AUE) == first
