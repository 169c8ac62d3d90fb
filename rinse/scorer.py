"""RINSE: the sum of its readers' corrected scores."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from retrieval import EvidenceSet, Ranking
from retrieval.index.encoder import TransformerEncoder

from .errors import ProfileError, ScoreError
from .gaps import Coverage, find_gaps, whole_question
from .order import bm25_of_counts
from .profile import Profile
from .readers import chain, content
from .readers.matching import Match, Matcher
from .readers.question import QuestionReader, QuestionView
from .readers.states import PassageReader, SharedEncoder, TokenEncoder
from .sufficiency import Gap, ReaderScore, Sufficiency

FEATURES: Mapping[str, tuple[str, ...]] = {"content": content.FEATURES, "chain": chain.FEATURES}
"""The readers of the profile `small`, each with the features that its head weighs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the readers saw, before anything fitted comes in."""

    view: QuestionView
    matches: Mapping[str, Match]
    """By passage id, in the ids' order."""
    features: Mapping[str, Mapping[str, float]]
    """By reader and name."""
    coverage: Coverage
    """Where the question is covered."""
    passages: int
    """Distinct passages that were read."""
    masked: tuple[str, ...]
    """Passages for which the encoder gave nothing usable, in alphabetical order (case S04)."""
    truncated: bool


class RinseScorer:
    """Scores question plus passages by content coverage and by how passages lead from one to the next.

    A `SufficiencyScorer`: a pure function of the question and the set up to rounding (below 1e-4), blocking,
    thread-safe. What was read is remembered, so a turn reads its new passages only, in few forward passes, which
    searches that score at the same time share; a set that did not change costs none.

    Args:
        encoder: The backbone. `RinseScorer.small()` brings its own.
        profile: Settings and everything fitted, for this encoder.

    Raises:
        ProfileMismatchError: the profile belongs to another encoder (case S03).
        ProfileError: the profile weighs a reader or a feature that there is not.
    """

    def __init__(self, encoder: TokenEncoder, profile: Profile) -> None:
        profile.check_encoder(encoder.name, encoder.fingerprint)
        _check_heads(profile)
        self._encoder_name = encoder.name
        self._profile = profile
        shared = SharedEncoder(encoder)
        self._questions = QuestionReader(shared, profile)
        self._matcher = Matcher(PassageReader(shared, profile.idf))
        self._fingerprint = hashlib.sha256(f"{encoder.fingerprint}\n{profile.fingerprint}".encode()).hexdigest()

    @classmethod
    def small(cls, encoder: TokenEncoder | None = None, *, without: str | None = None) -> RinseScorer:
        """The default scorer on all-MiniLM-L6-v2, for English; `encoder` shares one that is loaded already.

        Args:
            encoder: The backbone; None = loaded here.
            without: A family of datasets to be held out, see `Profile.small`.

        Raises:
            BackboneError: its weights are not on this machine; the message says what to install.
            ProfileMismatchError: `encoder` is another one.
        """
        return cls(encoder or TransformerEncoder.named(), Profile.small(without=without))

    @property
    def fingerprint(self) -> str:
        """Identifies backbone, settings and everything fitted by content."""
        return self._fingerprint

    @property
    def profile(self) -> Profile:
        """Settings and everything fitted."""
        return self._profile

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`."""
        return self.judge(question, evidence, self.read(question, evidence))

    def judge(self, question: str, evidence: EvidenceSet, reading: Reading) -> Sufficiency:
        """What the profile makes of a reading of this question and this set. No model is run."""
        readers = tuple(self._corrected(name, reading) for name in self._profile.settings.readers)
        return Sufficiency(
            score=sum(reader.corrected for reader in readers),
            readers=readers,
            gaps=self._gaps(question, reading.coverage) if len(evidence) else whole_question(question),
            passages=len(evidence),
            masked=reading.masked,
            truncated=reading.truncated,
        )

    def read(self, question: str, evidence: EvidenceSet) -> Reading:
        """Everything that the score is made of. Work is proportional to what was not yet seen.

        Raises:
            ScoreError: the encoder gave nothing usable for the question, or for every passage of the set.
        """
        view = self._questions.read(question)
        found = self._matcher.match(view, sorted(evidence, key=lambda passage: passage.id))
        matches = {key: match for key, match in found.items() if match is not None}
        if found and not matches:
            raise ScoreError(
                f"The encoder {self._encoder_name} gave no finite vectors for any of {len(found)} passages. "
                "Check its weights with: sufficit doctor"
            )
        return Reading(
            view=view,
            matches=matches,
            features={
                "content": content.content_features(view, list(matches.values())),
                "chain": chain.chain_features(view, list(matches.values()), self._profile.idf),
            },
            coverage=content.coverage(view, evidence, matches, self._profile),
            passages=len(matches),
            masked=tuple(sorted(found.keys() - matches.keys())),
            truncated=view.truncated or any(match.truncated for match in matches.values()),
        )

    def rank(self, question: str, evidence: EvidenceSet) -> Ranking:
        """The set in the canonical order: BM25 against the question with the profile's IDF, ties by passage id.

        Raises:
            ScoreError: see `SufficiencyScorer.score`.
        """
        reading = self.read(question, evidence)
        settings = self._profile.settings
        order = sorted(
            (
                -bm25_of_counts(
                    reading.view.ids,
                    match.frequency,
                    match.length,
                    idf=self._profile.idf,
                    average_length=settings.average_passage_tokens,
                ),
                key,
            )
            for key, match in reading.matches.items()
        )
        return Ranking(ids=tuple(key for _, key in order), scores=tuple(-score for score, _ in order))

    def _corrected(self, name: str, reading: Reading) -> ReaderScore:
        fitted = self._profile.settings.readers[name]
        features = reading.features[name]
        raw = sum(weight * features[feature] for feature, weight in fitted.head.items())
        return ReaderScore(reader=name, raw=raw, corrected=fitted.correction.apply(raw, reading.passages))

    def _gaps(self, question: str, coverage: Coverage) -> tuple[Gap, ...]:
        return find_gaps(question, coverage, threshold=self._profile.settings.gap_threshold)


def _check_heads(profile: Profile) -> None:
    for name, fitted in profile.settings.readers.items():
        if name not in FEATURES or not fitted.head.keys() <= set(FEATURES[name]):
            raise ProfileError(
                f"Profile {profile.settings.name!r} weighs {sorted(fitted.head)} of a reader {name!r}. There are "
                f"{ {reader: list(features) for reader, features in FEATURES.items()} }."
            )
