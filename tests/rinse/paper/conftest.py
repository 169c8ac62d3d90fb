"""The tiny models, written once a session, with readers and a profile made for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rinse.paper import (
    BackboneEntry,
    Lexicon,
    PaperBackbones,
    PaperProfile,
    PaperReaders,
    PaperScorer,
    PaperSettings,
    WordPieces,
)
from rinse.profile import Origin
from rinse.size import SizeCorrection
from tests.rinse.paper.tiny_models import LATENT_DIMS, QUESTION, SETTINGS, TEXTS, TinyModels, write_tiny_models


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> TinyModels:
    """Folders of the four tiny models."""
    return write_tiny_models(tmp_path_factory.mktemp("tiny-paper"))


@pytest.fixture(scope="session")
def backbones(tiny_models: TinyModels) -> PaperBackbones:
    """The four, found by their folders."""
    return PaperBackbones.named(
        words=tiny_models.words, reranker=tiny_models.reranker, span=tiny_models.span, latent=tiny_models.latent
    )


@pytest.fixture(scope="session")
def lexicon(backbones: PaperBackbones) -> Lexicon:
    """Counted on this file's texts."""
    return Lexicon.count(WordPieces(backbones.words), TEXTS, [QUESTION, "Who is the king of the island?"])


@pytest.fixture
def readers(backbones: PaperBackbones, lexicon: Lexicon) -> PaperReaders:
    """Readers that have read nothing yet."""
    return PaperReaders(backbones, lexicon, SETTINGS)


@pytest.fixture(scope="session")
def profile(backbones: PaperBackbones, lexicon: Lexicon) -> PaperProfile:
    """Seeded head and direction; the span reader has a size curve."""
    random = np.random.default_rng(7)
    entries = {
        role: BackboneEntry(name=name, fingerprint=fingerprint)
        for role, (name, fingerprint) in backbones.fingerprints().items()
    }
    plain = SizeCorrection(alpha=0.1, beta=0.2, mu=0.3, sigma=2.0)
    curved = SizeCorrection(
        alpha=0.1, beta=0.2, mu=0.3, sigma=2.0, limit=4, knots=(1.0, 2.0, 4.0), values=(0.0, 0.5, 0.6)
    )
    return PaperProfile(
        settings=PaperSettings(
            name="tiny",
            backbones=entries,
            settings=SETTINGS,
            average_tokens=lexicon.average_tokens,
            held_out=("squad",),
            origin=Origin(note="Nothing was fitted.", files=(), records=0, seed=7, versions={}),
        ),
        idf=lexicon.idf,
        head=random.normal(size=2 * len(SETTINGS.quantiles)),
        direction=random.normal(size=LATENT_DIMS).astype(np.float32),
        corrections={"content": plain, "span": curved, "latent": plain},
    )


@pytest.fixture
def make_scorer(backbones: PaperBackbones, lexicon: Lexicon, profile: PaperProfile) -> Callable[..., PaperScorer]:
    """`make_scorer(batch_tokens=...)`: a scorer that has read nothing yet."""

    def make(**options: int) -> PaperScorer:
        return PaperScorer(PaperReaders(backbones, lexicon, SETTINGS, **options), profile)  # type: ignore[arg-type]

    return make
