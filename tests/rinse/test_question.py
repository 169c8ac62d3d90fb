"""Questions of one token, of function words, of foreign scripts, of nothing."""

from __future__ import annotations

import numpy as np
import pytest

from retrieval.index.encoder import TransformerEncoder
from rinse.errors import ScoreError
from rinse.profile import Profile
from rinse.readers.question import QuestionReader, same_length
from rinse.readers.states import SharedEncoder


@pytest.fixture
def reader(tiny_encoder: TransformerEncoder, tiny_profile: Profile) -> QuestionReader:
    return QuestionReader(SharedEncoder(tiny_encoder), tiny_profile)


@pytest.mark.parametrize(
    ("question", "tokens"), [("river", 1), ("the of in", 3), ("?", 1), ("", 0), ("   ", 0), ("東京", 2)]
)
def test_shapes_hold_for_the_smallest_questions(reader: QuestionReader, question: str, tokens: int) -> None:
    """Every array has a row or a column a token, also if there are none."""
    view = reader.read(question)
    dims = view.vectors.shape[1]
    assert len(view.ids) == len(view.weights) == len(view.readable) == len(view.token_spans) == tokens
    assert view.means.shape == (len(view.window_spans), tokens)
    assert view.whole.shape == (1, dims)
    assert view.phrases.shape[1] == dims
    for values in (view.vectors, view.weights, view.means, view.phrases, view.whole):
        assert np.isfinite(values).all()


def test_the_mean_is_weighted_by_idf_and_plain_where_nothing_weighs(
    tiny_encoder: TransformerEncoder, tiny_profile: Profile
) -> None:
    """A question of function words only still has a defined coverage."""
    found = QuestionReader(SharedEncoder(tiny_encoder), tiny_profile).read("the castle")
    assert float(found.mean(np.array([1.0, 0.0], dtype=np.float32))) == pytest.approx(0.5 / 4.5)
    nothing = Profile(settings=tiny_profile.settings, idf=np.zeros_like(tiny_profile.idf))
    view = QuestionReader(SharedEncoder(tiny_encoder), nothing).read("the castle")
    assert float(view.mean(np.array([1.0, 0.0], dtype=np.float32))) == pytest.approx(0.5)


@pytest.mark.parametrize("question", ["東京の川", "ما هو النهر", "река и город", "강은 무엇"])
def test_s07_no_token_of_another_script_is_readable(reader: QuestionReader, question: str) -> None:
    """S07: neither its tokens nor its phrases nor the whole question resemble anything."""
    view = reader.read(question)
    assert len(view.ids)
    assert not view.readable.any()
    assert not view.phrases.any()
    assert not view.whole.any()


def test_s07_a_foreign_word_in_an_english_question_takes_its_share(reader: QuestionReader) -> None:
    """S07: the readable part of a mixed question counts, the other part counts as not covered."""
    view = reader.read("castle 東")
    assert view.readable.tolist() == [1.0, 0.0]
    assert np.linalg.norm(view.whole) == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("question", ["ｃａｓｔｌｅ by the river", "\ufb01rst e\u0301", "\ud800 castle"])
def test_plain_signs_keep_their_positions(question: str) -> None:
    """Gaps are spans of the question as it was asked."""
    assert len(same_length(question)) == len(question)


def test_full_width_questions_are_read_as_plain_ones(reader: QuestionReader) -> None:
    """R04, for scores."""
    wide, plain = reader.read("ｃａｓｔｌｅ"), reader.read("castle")
    assert wide.ids == plain.ids
    assert wide.words == plain.words


def test_an_idf_table_of_another_vocabulary_is_refused(
    tiny_encoder: TransformerEncoder, tiny_profile: Profile
) -> None:
    """Refused with the remedy, not an index error."""
    short = Profile(settings=tiny_profile.settings, idf=tiny_profile.idf[:8])
    with pytest.raises(ScoreError, match=r"ends at 7\. Count a table"):
        QuestionReader(SharedEncoder(tiny_encoder), short).read("castle")
