"""The best BM25 score, held against the sparse index and a computation by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval import EvidenceSet, Passage
from retrieval.index.sparse import SparseIndex
from rinse import SufficiencyScorer
from rinse.baselines.retrieval_score import RetrievalScorer, TermStatistics

CORPUS = (
    Passage(title="Castle", text="The queen built the red castle on the north mountain."),
    Passage(text="The castle is by the river. The captain moved to the city."),
    Passage(text="A ship was found. The team won the first match."),
    Passage(title="Islands", text="The king of the old island wrote a novel and a song about the castle castle."),
)
QUESTION = "Which river is by the castle that the queen built? The castle!"


def test_it_is_the_score_of_the_sparse_index(tmp_path: Path) -> None:
    """With statistics of a corpus a passage gets what a search over that corpus gives it, and the best counts."""
    index = SparseIndex.create(tmp_path / "sparse")
    index.add((passage.id, passage.full_text) for passage in CORPUS)
    index.commit()
    found = dict(index.search(QUESTION, 10))
    index.close()
    scorer = RetrievalScorer(TermStatistics.of(CORPUS))
    assert isinstance(scorer, SufficiencyScorer)
    for passage in CORPUS:
        expected = found.get(passage.id, 0.0)
        assert scorer.score(QUESTION, EvidenceSet.of([passage])).score == pytest.approx(expected, rel=1e-6)
    best = scorer.score(QUESTION, EvidenceSet.of(CORPUS))
    assert best.score == pytest.approx(max(found.values()), rel=1e-6)
    assert best.passages == 4


def test_statistics_of_the_set_alone(evidence: Callable[..., EvidenceSet]) -> None:
    """Worked by hand: two passages of 2 and 4 terms, the term of the question in one of them."""
    norm = 1.2 * (1 - 0.75 + 0.75 * 2 / 3)
    expected = math.log(1 + 1.5 / 1.5) * 2.2 / (1 + norm)
    found = RetrievalScorer().score("king", evidence("king ship", "queen ship castle river"))
    assert found.score == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("texts", [(), ("A ship was found.",)], ids=["no-evidence", "no-shared-term"])
def test_nothing_shared_is_the_lowest(texts: tuple[str, ...], evidence: Callable[..., EvidenceSet]) -> None:
    """BM25 is never below 0."""
    assert RetrievalScorer().score("king", evidence(*texts)).score == 0.0
    assert RetrievalScorer(TermStatistics.of(())).score("king", evidence(*texts)).score == 0.0


def test_statistics_count_a_text_once() -> None:
    """As an index holds it once; a question's terms that it never saw weigh most."""
    once, twice = TermStatistics.of(CORPUS), TermStatistics.of((*CORPUS, *CORPUS))
    assert once == twice
    assert once.documents == 4
    assert once.frequency["castl"] == 3
    assert once.weight("unseen") > once.weight("ship") > once.weight("castl") > 0


def test_the_fingerprint_covers_the_statistics() -> None:
    """Scores of two collections are not to be mixed."""
    prints = {RetrievalScorer(one).fingerprint for one in (None, TermStatistics.of(CORPUS), TermStatistics.of(()))}
    assert len(prints) == 3
    assert RetrievalScorer(TermStatistics.of(CORPUS[::-1])).fingerprint in prints


@given(st.permutations(CORPUS), st.randoms(use_true_random=False))
def test_order_does_not_matter(passages: list[Passage], random: Random) -> None:
    """With the set's own statistics too, to the last bit."""
    chosen = random.sample(passages, k=3)
    scorer = RetrievalScorer()
    expected = scorer.score(QUESTION, EvidenceSet.of(sorted(chosen, key=lambda one: one.id)))
    assert scorer.score(QUESTION, EvidenceSet.of([*chosen, chosen[0]])) == expected
