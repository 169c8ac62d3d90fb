"""A profile for the tiny random model, and the real model where it is installed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from retrieval import EvidenceSet, Passage
from retrieval.backbones import find_backbone
from retrieval.errors import BackboneNotFoundError
from retrieval.index.encoder import TransformerEncoder
from rinse import RinseScorer
from rinse.profile import Profile, ProfileSettings

_FUNCTION_WORDS = (
    "the a of in and to is was were by on at for with from as it he she they who what where when which how"
)


@pytest.fixture(scope="session")
def tiny_settings(tiny_encoder: TransformerEncoder) -> ProfileSettings:
    """The settings of `small` for the tiny encoder."""
    changes = {"name": "tiny", "encoder": "tiny", "encoder_fingerprint": tiny_encoder.fingerprint, "unknown_id": 1}
    return Profile.small().settings.model_copy(update=changes)


@pytest.fixture(scope="session")
def tiny_profile(tiny_encoder: TransformerEncoder, tiny_settings: ProfileSettings) -> Profile:
    """Function words weigh 0.5, signs 0.1, everything else 4."""
    idf = np.full(256, 4.0, dtype=np.float32)
    for text, weight in ((_FUNCTION_WORDS, 0.5), (". , ? !", 0.1)):
        idf[list(tiny_encoder.token_states([text])[0].ids)] = weight
    return Profile(settings=tiny_settings, idf=idf)


@pytest.fixture
def tiny_scorer(tiny_encoder: TransformerEncoder, tiny_profile: Profile) -> RinseScorer:
    """A scorer that has read nothing yet."""
    return RinseScorer(tiny_encoder, tiny_profile)


@pytest.fixture(scope="session")
def real_scorer() -> RinseScorer:
    """The default scorer on the real MiniLM."""
    try:
        find_backbone("all-MiniLM-L6-v2", allow_hub=False)
    except BackboneNotFoundError as error:
        pytest.skip(str(error))
    return RinseScorer.small()


@pytest.fixture(scope="session")
def evidence() -> Callable[..., EvidenceSet]:
    """`evidence("text", ("Title", "text"), Passage(...))`."""

    def passage(item: str | tuple[str, str] | Passage) -> Passage:
        if isinstance(item, Passage):
            return item
        return Passage(text=item) if isinstance(item, str) else Passage(title=item[0], text=item[1])

    return lambda *items: EvidenceSet.of(map(passage, items))
