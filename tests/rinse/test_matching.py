"""One question beside one passage, held against loops over sentences and tokens."""

from __future__ import annotations

import numpy as np
import pytest

from retrieval import Passage
from retrieval.index.encoder import TransformerEncoder
from rinse.profile import Profile
from rinse.readers.content import FEATURES, content_features
from rinse.readers.matching import SENTENCES, Match, Matcher
from rinse.readers.question import QuestionReader, QuestionView
from rinse.readers.states import PassageReader, PassageStates, SharedEncoder

QUESTION = "Which river flows by the castle that the queen built?"
FILLER = "The band moved west and the team won a match. " * 60
PASSAGES = (
    Passage(text="The queen built the red castle."),
    Passage(text="The queen built it. It is by the river. A ship was found.", title="Castle (old)"),
    Passage(text=f"The river is blue. {FILLER}The queen built the castle.", title="North"),
    Passage(text="Zqy", title="The castle by the river"),
    Passage(text="\u200b"),
    Passage(text="東京の川。城。"),
)


@pytest.fixture(scope="module")
def readers(tiny_encoder: TransformerEncoder, tiny_profile: Profile) -> tuple[QuestionReader, PassageReader]:
    shared = SharedEncoder(tiny_encoder)
    return QuestionReader(shared, tiny_profile), PassageReader(shared, tiny_profile.idf)


def read(
    readers: tuple[QuestionReader, PassageReader], question: str, passage: Passage
) -> tuple[QuestionView, PassageStates, Match]:
    view = readers[0].read(question)
    [(_, states)] = readers[1].read([passage])
    [match] = Matcher(readers[1]).match(view, [passage]).values()
    assert states is not None
    assert match is not None
    return view, states, match


@pytest.mark.parametrize("question", [QUESTION, "river", "the of?", "東京の川", ""])
@pytest.mark.parametrize("passage", PASSAGES, ids=range(len(PASSAGES)))
def test_a_match_equals_loops(
    readers: tuple[QuestionReader, PassageReader], question: str, passage: Passage
) -> None:
    """Tokens over the whole passage, the best sentence together with the heading, phrases over sentences."""
    view, states, match = read(readers, question, passage)
    cosines = np.array(
        [
            [max(0.0, float(one @ other.astype(np.float32))) * readable for other in states.tokens]
            for one, readable in zip(view.vectors, view.readable, strict=True)
        ]
    ).reshape(len(view.ids), len(states.tokens))
    assert match.tokens.tolist() == pytest.approx(cosines.max(axis=1, initial=0.0).tolist(), abs=1e-5)
    covered = [
        cosines[:, (states.sentence_of == number) | (states.sentence_of == -1)].max(axis=1, initial=0.0)
        for number in sorted(set(states.sentence_of.tolist()) - {-1})
    ]
    assert len(match.sentences) == min(len(covered), SENTENCES)
    best_sentence = max((_mean(view, one) for one in covered), default=0.0)
    assert content_features(view, [match])["sentence"] == pytest.approx(best_sentence, abs=1e-5)
    means = [_mean(view, one) for one in match.sentences]
    assert means == sorted(means, reverse=True)
    assert all(np.abs(np.array(covered) - one).max(axis=1).min() < 1e-5 for one in match.sentences if len(one))
    best = [max([0.0, *(float(row @ one) for one in states.sentences.astype(np.float32))]) for row in view.phrases]
    assert match.phrases.tolist() == pytest.approx(best, abs=1e-5)


def _mean(view: QuestionView, values: np.ndarray) -> float:
    return float(np.average(values, weights=view.weights)) if len(values) else 0.0


@pytest.mark.parametrize("question", [QUESTION, "river", "the of?", "東京の川", "", "?"])
def test_values_are_cosines_in_range(readers: tuple[QuestionReader, PassageReader], question: str) -> None:
    """In [0, 1], defined for questions of one token, of function words only, of signs and of nothing."""
    matches = [read(readers, question, passage)[2] for passage in PASSAGES]
    view = readers[0].read(question)
    for match in matches:
        assert match.tokens.shape == (len(view.ids),)
        for values in (match.tokens, match.phrases, match.sentences, np.array([match.whole])):
            assert ((values >= 0) & (values <= 1 + 1e-6)).all()
    found = content_features(view, matches)
    assert all(0 <= found[name] <= 1 + 1e-6 for name in FEATURES)


def test_one_sentence_covers_no_more_than_the_passage(readers: tuple[QuestionReader, PassageReader]) -> None:
    """Facts spread over sentences count for `tokens`, not for `sentence`; the heading counts in every sentence."""
    spread = read(readers, QUESTION, Passage(text="The queen won. The castle is old. The river is blue."))[2]
    joined = read(readers, QUESTION, Passage(text="The queen built the castle by the river."))[2]
    headed = read(readers, QUESTION, Passage(text="The queen built it by the river.", title="Castle"))[2]
    plain = read(readers, QUESTION, Passage(text="The queen built it by the river."))[2]
    view = readers[0].read(QUESTION)
    found = {
        name: content_features(view, [one])
        for name, one in {"spread": spread, "joined": joined, "headed": headed, "plain": plain}.items()
    }
    assert found["spread"]["sentence"] < found["spread"]["tokens"]
    assert found["joined"]["sentence"] == pytest.approx(found["joined"]["tokens"], abs=1e-6)
    assert found["headed"]["sentence"] > found["plain"]["sentence"]


def test_each_kept_sentence_knows_its_names(readers: tuple[QuestionReader, PassageReader]) -> None:
    """In the order of the sentences kept, best first, not in the text's."""
    passage = Passage(text="They met Orrel. The queen built the castle by the river with Tamsin.")
    match = read(readers, QUESTION, passage)[2]
    assert list(match.sentence_names) == [{"tamsin"}, {"orrel"}]


def test_a_match_is_remembered_by_question_passage_and_heading(
    readers: tuple[QuestionReader, PassageReader],
) -> None:
    """A text found under another title is read with it."""
    matcher, view = Matcher(readers[1]), readers[0].read(QUESTION)
    castle, ship = (Passage(text="It is by the river.", title=title) for title in ("Castle", "Ship"))
    first = matcher.match(view, [castle])[castle.id]
    assert matcher.match(view, [castle])[castle.id] is first
    assert matcher.match(view, [ship])[ship.id] is not first
    assert matcher.match(readers[0].read("Who built it?"), [castle])[castle.id] is not first
