"""What holds for every scorer on a released model, whichever architecture it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from retrieval import EvidenceSet
from rinse import ScoreError, SufficiencyScorer
from rinse.baselines.best_passage import NO_EVIDENCE
from rinse.baselines.crag import CragScorer
from rinse.baselines.self_rag import SelfRagScorer
from rinse.baselines.uar import UarScorer
from tests.rinse.baselines.tiny_released import TEXTS, Array, with_tensors

QUESTION = "who built the castle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """A scorer and the model that it is tested on."""

    named: Callable[[str], SufficiencyScorer]
    folder: str
    """The fixture that writes it."""
    last: str
    """A tensor that every score passes through."""
    lowest: float = NO_EVIDENCE
    """The score where there is no passage."""
    refusal: str = "no finite value for any of 3"
    """The message where that tensor is not finite."""


CRAG = Released(named=CragScorer.named, folder="t5_folder", last="classification_head.out_proj.bias")
SELF_RAG = Released(named=SelfRagScorer.named, folder="critic_folder", last="model.norm.weight")
UAR = Released(
    named=UarScorer.named, folder="uar_folder", last="model.norm.weight", lowest=0.0, refusal="not finite"
)
ALL = {"crag": CRAG, "self-rag": SELF_RAG, "uar-tree": UAR}


@pytest.fixture(params=list(ALL.values()), ids=list(ALL))
def released(request: pytest.FixtureRequest) -> Released:
    found: Released = request.param
    return found


@pytest.fixture
def folder(released: Released, request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(released.folder)
    return found


def test_it_is_a_scorer(released: Released, folder: Path) -> None:
    """Whatever takes a scorer can be handed this one."""
    assert isinstance(released.named(str(folder)), SufficiencyScorer)


def test_no_evidence_is_the_lowest(released: Released, folder: Path, evidence: Callable[..., EvidenceSet]) -> None:
    """Without a passage nothing suffices, whatever the model believes; it is not asked."""
    assert released.named(str(folder)).score(QUESTION, evidence()).score == released.lowest


def test_what_is_not_finite_is_an_error(
    released: Released, folder: Path, tmp_path: Path, evidence: Callable[..., EvidenceSet]
) -> None:
    """A NaN never becomes a score, nor takes a branch of a tree."""

    def spoilt(weights: dict[str, Array]) -> dict[str, Array]:
        weights[released.last][0] = np.nan
        return weights

    broken = with_tensors(folder, tmp_path / "nan", spoilt)
    with pytest.raises(ScoreError, match=released.refusal):
        released.named(str(broken)).score(QUESTION, evidence(*TEXTS))


@pytest.mark.parametrize("released", [CRAG, SELF_RAG], ids=["crag", "self-rag"], indirect=True)
def test_order_and_repeats_do_not_matter(
    released: Released, folder: Path, evidence: Callable[..., EvidenceSet]
) -> None:
    """To the last bit: the batch is made of the set."""
    scorer = released.named(str(folder))
    assert scorer.score(QUESTION, evidence(*TEXTS)) == scorer.score(QUESTION, evidence(*TEXTS[::-1], TEXTS[0]))
