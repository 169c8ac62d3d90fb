"""The best reranker logit, held against the model's own on the tiny random cross-encoder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer

from retrieval import EvidenceSet
from rinse import SufficiencyScorer
from rinse.baselines.best_passage import NO_EVIDENCE
from rinse.baselines.rerank_score import RerankScorer
from tests.rinse.paper.tiny_models import QUESTION, TEXTS, write_tiny_models


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_models(tmp_path_factory.mktemp("tiny-rerank")).reranker


@pytest.fixture(scope="module")
def scorer(folder: Path) -> RerankScorer:
    return RerankScorer.named(str(folder))


def test_the_best_passage_counts(scorer: RerankScorer, folder: Path, evidence: Callable[..., EvidenceSet]) -> None:
    """The largest of the model's logits for question and passage with its title."""
    from transformers import XLMRobertaForSequenceClassification

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    model: Any = XLMRobertaForSequenceClassification.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        logits = [
            float(model.eval()(torch.tensor([tokenizer.encode(QUESTION, text).ids])).logits[0, 0])
            for text in (f"Castle. {TEXTS[0]}", *TEXTS[1:])
        ]
    found = scorer.score(QUESTION, evidence(("Castle", TEXTS[0]), *TEXTS[1:]))
    assert isinstance(scorer, SufficiencyScorer)
    assert found.score == pytest.approx(max(logits), abs=1e-5)
    assert max(logits) - min(logits) > 1e-3
    assert not found.truncated


def test_order_does_not_matter_and_no_evidence_is_the_lowest(
    scorer: RerankScorer, evidence: Callable[..., EvidenceSet]
) -> None:
    """To the last bit."""
    assert scorer.score(QUESTION, evidence(*TEXTS)) == scorer.score(QUESTION, evidence(*TEXTS[::-1]))
    assert scorer.score(QUESTION, evidence()).score == NO_EVIDENCE


def test_what_is_not_read_is_said(scorer: RerankScorer, evidence: Callable[..., EvidenceSet]) -> None:
    """A long passage is read in windows; a question beyond its share of the input is cut and reported."""
    assert not scorer.score(QUESTION, evidence(" ".join(TEXTS * 20))).truncated
    assert scorer.score(" ".join([QUESTION] * 20), evidence(TEXTS[0])).truncated
