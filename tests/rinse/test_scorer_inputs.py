"""Odd questions and passages on a tiny random model: empty, foreign, broken, endless."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from retrieval import EvidenceSet
from rinse import RinseScorer

Build = Callable[..., EvidenceSet]

QUESTION = "Which river flows by the castle that the queen built?"
TEXTS = (
    "The queen built the red castle on the north mountain.",
    "The castle is by the river. The captain moved to the city.",
    "A ship was found. The team won the first match.",
)


@pytest.mark.parametrize(
    "question", ["", "   ", "?", "who", "the of?", "river", "東京の川は？", "ما هو", "\ud800", "\u200b", "x" * 500]
)
def test_odd_questions_have_finite_scores_and_gaps_inside_the_text(
    tiny_scorer: RinseScorer, evidence: Build, question: str
) -> None:
    """Empty, short, foreign, broken or endless: defined, deterministic, never NaN."""
    for found in (evidence(), evidence(*TEXTS)):
        result = tiny_scorer.score(question, found)
        assert math.isfinite(result.score)
        assert all(question[gap.start : gap.end] == gap.text and gap.text.strip() for gap in result.gaps)


@pytest.mark.parametrize("text", ["\u200b\u200b", "\ud800 castle", "東京", "?!", "x" * 9_000])
def test_odd_passages_have_finite_scores(tiny_scorer: RinseScorer, evidence: Build, text: str) -> None:
    assert math.isfinite(tiny_scorer.score(QUESTION, evidence(text)).score)


def test_signs_that_the_backbone_cannot_read_are_never_covered(tiny_scorer: RinseScorer, evidence: Build) -> None:
    """S07: in an unsupported script even the question's own text as evidence is no coverage."""
    reading = tiny_scorer.read("東京の川", evidence("東京の川", ("東京の川", "川")))
    assert not reading.coverage.tokens.any()
    assert all(value == 0.0 for features in reading.features.values() for value in features.values())


def test_s06_a_passage_of_12_000_words_is_read_to_its_end(tiny_scorer: RinseScorer, evidence: Build) -> None:
    """S06: windows with overlap reach the last sentence; it counts as in a short passage, nothing is cut off."""
    filler = "The band moved west and the team won a match. " * 1_200
    [castle] = tiny_scorer.read("castle", evidence("castle")).view.ids
    reading = tiny_scorer.read(QUESTION, evidence(filler + TEXTS[0]))
    assert not reading.truncated
    [match] = reading.matches.values()
    assert castle in match.frequency
    assert 1_200 * 11 + 11 < match.length < 1.5 * (1_200 * 11 + 11)  # every word, some of them in two windows
    short = tiny_scorer.read(QUESTION, evidence(TEXTS[0]))
    for reader, features in reading.features.items():
        assert all(value > short.features[reader][name] - 0.05 for name, value in features.items())
    named = tiny_scorer.read(QUESTION, evidence(f"{filler}The king met Orrel."))
    [match] = named.matches.values()
    assert match.subject.sentences[-1] == {"orrel"}


def test_s06_beyond_the_documented_cap_the_score_says_that_it_was_truncated(
    tiny_scorer: RinseScorer, evidence: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S06: truncation is never silent."""
    monkeypatch.setattr("rinse.readers.windowing.MAX_WINDOWS", 2)
    assert tiny_scorer.score(QUESTION, evidence("The band moved west. " * 300)).truncated
    assert not tiny_scorer.score(QUESTION, evidence("The band moved west. ")).truncated


@pytest.mark.parametrize("text", ["The queen built it.", "\u200b", "東京"])
@pytest.mark.parametrize(
    "title", ["", "(", "()", "  ", "?", "東京 (川)", "The the", QUESTION, "x" * 500, "\ud800"]
)
def test_odd_titles_have_finite_scores(tiny_scorer: RinseScorer, evidence: Build, title: str, text: str) -> None:
    """A title is what a page says of itself: nothing may be divided by its weight or its length."""
    for passages in ([(title, text)], [(title, text), (title, TEXTS[0]), TEXTS[1]]):
        assert math.isfinite(tiny_scorer.score(QUESTION, evidence(*passages)).score)
