"""RINSE's readings weighed to compare multi-hop questions: log-odds that a set suffices, for a threshold.

`RinseScorer` sums its readers with weights that were fitted within questions (conditional-logistic: what both
sides of a pair share cancels), so it orders sets of one question well and those of different questions less well:
some questions are covered easily, whatever is missing. A gate in front of a generator compares questions. This
head is fitted over records of all questions (logistic) on the same features; the encoder does nothing more.

Form: a sum of parabolas, one a feature and one in ln(1 + |E|), for sets of one passage (as in reading
comprehension) and of several (as a search returns them). A parabola is flat outside the values that it was fitted
on. docs/decisions/014-odds.md has the trials.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from retrieval import EvidenceSet, Ranking
from retrieval.index.encoder import TransformerEncoder

from .errors import ProfileError, ProfileMismatchError
from .profile import MAX_JSON_BYTES, Origin, Profile, Strict, read_capped, shipped_file, small_name
from .readers.states import TokenEncoder
from .scorer import FEATURES, RinseScorer
from .sufficiency import ReaderScore, Sufficiency


class Parabola(Strict):
    """`weight * x + square * x * x` between `low` and `high`, flat outside."""

    weight: float
    square: float
    low: float
    high: float

    @model_validator(mode="after")
    def _has_a_range(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"low {self.low:g} is above high {self.high:g}")
        return self

    def at(self, x: float) -> float:
        """Its value."""
        inside = min(max(x, self.low), self.high)
        return self.weight * inside + self.square * inside * inside

    @property
    def lowest(self) -> float:
        """Its least value."""
        ends = [self.low, self.high]
        if self.square > 0:
            ends.append(-self.weight / (2 * self.square))  # where it turns; `at` keeps it in the range
        return min(map(self.at, ends))


class Terms(Strict):
    """The head for sets of at least so many passages."""

    passages: Annotated[int, Field(ge=1)]
    """The smallest set that it is for."""
    intercept: float
    size: Parabola
    """In ln(1 + |E|)."""
    readers: Annotated[dict[str, Annotated[dict[str, Parabola], Field(min_length=1)]], Field(min_length=1)]
    """By reader and feature."""

    def shares(self, features: Mapping[str, Mapping[str, float]], passages: int) -> dict[str, float]:
        """What each reader adds to the log-odds, without the part that depends on the size only.

        Args:
            features: By reader and name; see `rinse.scorer.Reading`.
            passages: |E|; without passages every part is at its lowest, so that no set is worse than none.
        """
        return {
            reader: sum(one.at(features[reader][name]) if passages else one.lowest for name, one in parts.items())
            for reader, parts in self.readers.items()
        }

    def base(self, passages: int) -> float:
        """Intercept and size."""
        return self.intercept + (self.size.at(math.log1p(passages)) if passages else self.size.lowest)


class OddsSettings(Strict):
    """The JSON file of a head."""

    format: Literal["sufficit-odds-1"]
    name: Annotated[str, Field(min_length=1)]
    """That of the profile with `-odds` behind it."""
    readings: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Identifies what the features depend on, see `readings_of`."""
    terms: Annotated[tuple[Terms, ...], Field(min_length=1)]
    """Ascending by `passages`: a set is judged by the last one that is not for larger sets."""
    origin: Origin
    held_out: tuple[str, ...] = ()
    """Families of datasets that nothing in it has seen."""

    @model_validator(mode="after")
    def _terms_ascend_and_are_known(self) -> Self:
        sizes = [one.passages for one in self.terms]
        if sizes != sorted(set(sizes)):
            raise ValueError(f"terms are for sets from {sizes} passages on; expected ascending numbers")
        for one in self.terms:
            for reader, parts in one.readers.items():
                if not parts.keys() <= set(FEATURES.get(reader, ())):
                    raise ValueError(f"weighs {sorted(parts)} of a reader {reader!r}, there are {dict(FEATURES)}")
        return self

    def of(self, passages: int) -> Terms:
        """The head for sets of this size; for no passages the one that can go lowest, so that no set is worse."""
        if not passages:
            return min(self.terms, key=lambda one: sum(one.shares({}, 0).values()) + one.base(0))
        fitting = [one for one in self.terms if one.passages <= passages]
        return fitting[-1] if fitting else self.terms[0]


def readings_of(profile: Profile) -> str:
    """sha256 (hex) of what features depend on: backbone, IDF table and phrases, nothing fitted to labels."""
    settings = profile.settings
    parts = [settings.encoder_fingerprint, settings.idf_sha256, settings.unknown_id, settings.phrase.model_dump()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def odds_name(profile: str) -> str:
    """Name of the head that belongs to the profile of this name.

    >>> odds_name("small")
    'small-odds'
    """
    return f"{profile}-odds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Odds:
    """A head that compares questions."""

    settings: OddsSettings

    @classmethod
    def load(cls, file: Path) -> Odds:
        """Read a head's JSON file.

        Raises:
            ProfileError: it is missing, too large, or does not hold what it should.
        """
        try:
            return cls(settings=OddsSettings.model_validate_json(read_capped(file, MAX_JSON_BYTES)))
        except ValidationError as error:
            raise ProfileError(f"{file} is no head of log-odds: {error}") from error

    @classmethod
    def small(cls, *, without: str | None = None) -> Odds:
        """That of the default profile.

        Args:
            without: See `Profile.small`.

        Raises:
            ProfileError: the family took part, and nothing was fitted without it.
        """
        return cls.load(shipped_file(odds_name(small_name(without))))

    @property
    def fingerprint(self) -> str:
        """sha256 (hex) of everything in it."""
        return hashlib.sha256(self.settings.model_dump_json().encode()).hexdigest()


class OddsScorer:
    """Scores question plus passages by the log-odds that they suffice, comparable between questions.

    A `SufficiencyScorer` with the readings, gaps and costs of `RinseScorer`, and another sum: `score` is the
    natural logarithm of P(suffices) / P(does not) as fitted on records of which half suffice, so 0 is even; where
    a share p of yours does, add ln(p / (1 - p)). It is an estimate and promises nothing.

    Use it where a threshold has to serve many questions, as a gate in front of a generator, **and sets of several
    passages are asked multi-hop questions**: it was fitted on these, and takes one sentence that covers all of a
    question for a hop that is missing. A question that one passage answers gets low log-odds among several. To
    rank sets of one question, and for mixed questions, `RinseScorer` is better.

    Args:
        scorer: Reads.
        odds: Weighs; made for this scorer's backbone, IDF table and phrases.

    Raises:
        ProfileMismatchError: it was made for others (case S03), or saw a family that the profile has not seen.
    """

    def __init__(self, scorer: RinseScorer, odds: Odds) -> None:
        profile = scorer.profile
        if odds.settings.readings != readings_of(profile):
            raise ProfileMismatchError(
                f"{odds.settings.name!r} was fitted on other readings than those of profile "
                f"{profile.settings.name!r}: backbone, IDF table or phrases differ. Use the head that was fitted "
                "with that profile."
            )
        if seen := set(profile.settings.held_out) - set(odds.settings.held_out):
            raise ProfileMismatchError(
                f"{odds.settings.name!r} was fitted on {', '.join(sorted(seen))}, which profile "
                f"{profile.settings.name!r} has not seen. Use the head that was fitted with that profile."
            )
        self._scorer = scorer
        self._odds = odds.settings
        self._fingerprint = hashlib.sha256(f"{scorer.fingerprint}\n{odds.fingerprint}".encode()).hexdigest()

    @classmethod
    def small(cls, encoder: TokenEncoder | None = None, *, without: str | None = None) -> OddsScorer:
        """On all-MiniLM-L6-v2, for English; `encoder` shares one that is loaded already.

        Raises:
            BackboneError: its weights are not on this machine; the message says what to install.
            ProfileError, ProfileMismatchError: see `Profile.small` and `RinseScorer.small`.
        """
        shared = encoder or TransformerEncoder.named()
        return cls(RinseScorer.small(shared, without=without), Odds.small(without=without))

    @property
    def fingerprint(self) -> str:
        """Identifies backbone, settings and everything fitted by content."""
        return self._fingerprint

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set; `readers` hold what each adds, `corrected` with an equal part of intercept and size.

        Raises:
            ScoreError: see `SufficiencyScorer.score`.
        """
        reading = self._scorer.read(question, evidence)
        terms = self._odds.of(len(evidence))  # not of what could be read: a set does not become a single passage
        shares = terms.shares(reading.features, reading.passages)
        base = terms.base(reading.passages) / len(shares)
        readers = tuple(
            ReaderScore(reader=name, raw=share, corrected=share + base) for name, share in shares.items()
        )
        found = self._scorer.judge(question, evidence, reading)
        return replace(found, score=sum(reader.corrected for reader in readers), readers=readers)

    def rank(self, question: str, evidence: EvidenceSet) -> Ranking:
        """See `RinseScorer.rank`."""
        return self._scorer.rank(question, evidence)
