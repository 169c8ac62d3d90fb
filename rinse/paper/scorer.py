"""RINSE as the paper defines it: the equal-weight sum of three corrected readers."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np

from retrieval import EvidenceSet

from ..errors import ProfileMismatchError
from ..gaps import find_gaps, whole_question
from ..sufficiency import ReaderScore, Sufficiency
from .lexicon import Lexicon, WordPieces
from .outputs import PaperBackbones, PaperReaders, ReaderOutputs
from .profile import READERS, ROLES, PaperProfile

_INSIDE = re.compile(r"[A-Za-z0-9_-]+")
"""Names that may stand for a folder inside the profile's folder."""


class PaperScorer:
    """Scores question plus passages by content, span and latent reader. A `SufficiencyScorer`.

    A pure function of the question and the set unless the settings keep the given order; blocking, thread-safe.

    Args:
        readers: The readers on their backbones.
        profile: Everything fitted for them.

    Raises:
        ProfileMismatchError: the profile belongs to other models, settings or IDF (case S03).
    """

    def __init__(self, readers: PaperReaders, profile: PaperProfile) -> None:
        found = readers.backbones.fingerprints()
        profile.check_backbones(found)
        _check_reading(readers, profile)
        self._readers = readers
        self._profile = profile
        models = "\n".join(f"{role}:{found[role][1]}" for role in ROLES)
        self._fingerprint = hashlib.sha256(f"{models}\n{profile.fingerprint}".encode()).hexdigest()

    @classmethod
    def load(cls, folder: Path, *, device: str = "cpu") -> PaperScorer:
        """The scorer of a folder that `sufficit fit` wrote.

        A backbone whose name is a folder inside `folder` is taken from there, any other is looked for as
        `find_backbone` does.

        Raises:
            ProfileError: the folder holds no whole profile.
            BackboneError: a model is not on this machine.
            ProfileMismatchError: a model is not the one that the profile was fitted with.
        """
        profile = PaperProfile.load(folder)
        names = {role: _place(folder, profile.settings.backbones[role].name) for role in ROLES}
        backbones = PaperBackbones.named(
            words=names["words"], reranker=names["reranker"], span=names["span"], latent=names["latent"]
        )
        lexicon = Lexicon(
            words=WordPieces(backbones.words), idf=profile.idf, average_tokens=profile.settings.average_tokens
        )
        return cls(PaperReaders(backbones, lexicon, profile.settings.settings, device=device), profile)

    @property
    def fingerprint(self) -> str:
        """Identifies models, settings and everything fitted by content."""
        return self._fingerprint

    @property
    def profile(self) -> PaperProfile:
        """Settings and statistics."""
        return self._profile

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`."""
        reading = self._readers.reading(question, evidence)
        outputs = reading.outputs
        scores = self.corrected(outputs)
        threshold = self._profile.settings.settings.gap_threshold
        return Sufficiency(
            score=sum(score.corrected for score in scores),
            readers=scores,
            gaps=find_gaps(question, reading.coverage, threshold=threshold)
            if len(evidence)
            else whole_question(question),
            span=reading.span,
            passages=len(evidence),
            masked=outputs.masked,
            truncated=outputs.truncated,
        )

    def corrected(self, outputs: ReaderOutputs) -> tuple[ReaderScore, ...]:
        """Each reader's raw and corrected value from what the readers said; the score is the sum of the latter."""
        raw = raw_scores(outputs, self._profile)
        return tuple(
            ReaderScore(
                reader=reader,
                raw=raw[reader],
                corrected=self._profile.corrections[reader].apply(raw[reader], outputs.passages),
            )
            for reader in READERS
        )


def raw_scores(outputs: ReaderOutputs, profile: PaperProfile) -> dict[str, float]:
    """h_r(q, E) of each reader: features times head, best margin, state times direction (section 4)."""
    return {
        "content": float(outputs.features @ profile.head),
        "span": outputs.margin,
        "latent": float(outputs.state.astype(np.float64) @ profile.direction.astype(np.float64)),
    }


def _check_reading(readers: PaperReaders, profile: PaperProfile) -> None:
    name = profile.settings.name
    if readers.settings != profile.settings.settings:
        raise ProfileMismatchError(
            f"Profile {name!r} was fitted with the settings {profile.settings.settings}, the readers have "
            f"{readers.settings}. Make the readers with the profile's settings."
        )
    if len(profile.direction) != readers.dims:
        raise ProfileMismatchError(
            f"Profile {name!r} has a direction of {len(profile.direction)} dims, the language model's states have "
            f"{readers.dims}. Fit a profile for this model."
        )
    same = np.array_equal(readers.lexicon.idf, profile.idf)
    if not same or readers.lexicon.average_tokens != profile.settings.average_tokens:
        raise ProfileMismatchError(
            f"The readers weigh words by another IDF than profile {name!r}. Make them with the profile's table."
        )


def _place(folder: Path, name: str) -> str:
    inside = folder / name if _INSIDE.fullmatch(name) else None
    return str(inside) if inside is not None and inside.is_dir() else name
