"""RINSE: the sum of its readers' corrected scores. So far the content reader, in its unfitted form."""

from __future__ import annotations

import hashlib

from retrieval import EvidenceSet, Ranking
from retrieval.index.encoder import TransformerEncoder

from .gaps import find_gaps, whole_question
from .order import canonical_order
from .profile import Profile
from .readers.content import ContentReader, ContentReading
from .readers.states import TokenEncoder
from .sufficiency import Gap, ReaderScore, Sufficiency


class RinseScorer:
    """Scores question plus passages by how well the passages cover every part of the question.

    A `SufficiencyScorer`: a pure function of the question and the set, blocking, thread-safe. What was read is
    remembered, so a turn costs one forward pass a new passage; a set that did not change costs none.

    Args:
        encoder: The backbone. `RinseScorer.small()` brings its own.
        profile: Settings and statistics that belong to this encoder.

    Raises:
        ProfileMismatchError: the profile belongs to another encoder (case S03).
    """

    def __init__(self, encoder: TokenEncoder, profile: Profile) -> None:
        profile.check_encoder(encoder.name, encoder.fingerprint)
        self._profile = profile
        self._reader = ContentReader(encoder, profile)
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
        """Identifies backbone, settings and statistics by content."""
        return self._fingerprint

    @property
    def profile(self) -> Profile:
        """Settings and statistics."""
        return self._profile

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`."""
        reading = self._reader.read(question, evidence)
        size = len(evidence) - len(reading.masked)
        corrected = self._profile.settings.content.correction.apply(reading.raw, size)
        return Sufficiency(
            score=corrected,
            readers=(ReaderScore(reader="content", raw=reading.raw, corrected=corrected),),
            gaps=self._gaps(question, reading) if len(evidence) else whole_question(question),
            passages=len(evidence),
            masked=reading.masked,
            truncated=reading.truncated,
        )

    def content(self, question: str, evidence: EvidenceSet) -> ContentReading:
        """The content reader's parts, for whoever wants to see why: coverage by token, window and phrase.

        Raises:
            ScoreError: see `SufficiencyScorer.score`.
        """
        return self._reader.read(question, evidence)

    def rank(self, question: str, evidence: EvidenceSet) -> Ranking:
        """The set in the canonical order: BM25 against the question with the profile's IDF, ties by passage id.

        Raises:
            ScoreError: see `SufficiencyScorer.score`.
        """
        reading = self._reader.read(question, evidence)
        order = canonical_order(
            reading.question_ids,
            reading.passage_ids,
            idf=self._profile.idf,
            average_length=self._profile.settings.average_passage_tokens,
        )
        return Ranking(ids=tuple(key for key, _ in order), scores=tuple(score for _, score in order))

    def _gaps(self, question: str, reading: ContentReading) -> tuple[Gap, ...]:
        return find_gaps(question, reading.coverage, threshold=self._profile.settings.gap_threshold)
