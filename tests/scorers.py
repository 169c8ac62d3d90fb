"""Small scorers for tests of runners; imported by name in processes of their own."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from benchmarks.lanes import Lost
from retrieval import EvidenceSet
from rinse import ReaderScore, Sufficiency
from rinse.errors import ScoreError

HANG = "hang"
RAISE = "raise"
DIE = "die"
EXIT = "exit"
NAN = "nan"
NONE = "none"
READER = "reader"
OUTSIDE = "outside"


@dataclass(frozen=True)
class WordScorer:
    """The share of the question's words that the evidence holds; misbehaves on questions that say so."""

    fingerprint: str = "words-1"
    pause: float = 0.0

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        time.sleep(self.pause)
        print("a library that prints")  # noqa: T201  must not reach the report
        asked = question.split()
        self._misbehave(asked)
        held = {word for passage in evidence for word in passage.text.split()}
        share = sum(word in held for word in asked) / len(asked)
        return Sufficiency(
            score=share, readers=(ReaderScore(reader="words", raw=share, corrected=share),), passages=len(evidence)
        )

    def _misbehave(self, asked: list[str]) -> None:
        if RAISE in asked:
            raise ScoreError("told to raise")
        if HANG in asked:
            time.sleep(3600)
        if DIE in asked:
            os._exit(7)
        if EXIT in asked:
            sys.exit(4)


class InvalidScorer(WordScorer):
    """Gives what is no number on questions that say so."""

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        if NAN in question.split():
            return cast("Sufficiency", _Loose(score=float("nan")))
        if READER in question.split():
            bad = SimpleNamespace(reader="words", raw=float("nan"), corrected=0.0)
            return cast("Sufficiency", SimpleNamespace(score=1.0, readers=(bad,)))
        if NONE in question.split():
            return cast("Sufficiency", _Loose(score=None))
        return super().score(question, evidence)


@dataclass(frozen=True)
class _Loose:
    score: Any
    readers: tuple[ReaderScore, ...] = ()


class ProbabilityScorer(WordScorer):
    """Its score is a probability too."""

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        found = super().score(question, evidence)
        probability = 1.5 if OUTSIDE in question.split() else found.score
        return cast("Sufficiency", _WithProbability(score=found.score, probability=probability))


@dataclass(frozen=True)
class _WithProbability:
    score: float
    probability: float
    readers: tuple[ReaderScore, ...] = ()


class ThreeReaders(WordScorer):
    """Adds up three readers: the share of words, the number of passages, and what one word tells."""

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        share = super().score(question, evidence).score
        values = {"content": share, "span": float("amber" in _text(evidence)), "latent": -0.1 * len(evidence)}
        readers = tuple(ReaderScore(reader=name, raw=3 * one, corrected=one) for name, one in values.items())
        return Sufficiency(score=sum(values.values()), readers=readers, passages=len(evidence))


def _text(evidence: EvidenceSet) -> str:
    return " ".join(passage.text for passage in evidence)


def three_readers() -> ThreeReaders:
    return ThreeReaders(fingerprint="three-1")


class ForgetfulScorer(WordScorer):
    """Its score moves with every call, which no scorer's may."""

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        _CALLS.append(question)
        return Sufficiency(score=0.01 * len(_CALLS))


_CALLS: list[str] = []


def forgetful() -> ForgetfulScorer:
    return ForgetfulScorer(fingerprint="forgetful-1")


def words() -> WordScorer:
    return WordScorer()


def words_again() -> WordScorer:
    """The same scores under another fingerprint."""
    return WordScorer(fingerprint="words-2")


def slow_words() -> WordScorer:
    return WordScorer(fingerprint="words-slow", pause=0.05)


def invalid() -> InvalidScorer:
    return InvalidScorer(fingerprint="invalid-1")


def probable() -> ProbabilityScorer:
    return ProbabilityScorer(fingerprint="probable-1")


def broken() -> WordScorer:
    raise ScoreError("cannot be made")


def held_out(without: str | None = None) -> WordScorer:
    return WordScorer(fingerprint=f"without-{without}")


NOT_CALLABLE = 1


def double(number: int) -> int:
    """A job for lanes: even numbers only."""
    if number == 13:
        raise ValueError("thirteen")
    if number == 14:
        time.sleep(3600)
    if number == 15:
        os._exit(3)
    return 2 * number


def make_double() -> Any:
    return double


def make_nothing() -> Any:
    raise OSError("no model here")


def threads(_: int) -> list[str | None]:
    return [os.environ.get("OMP_NUM_THREADS"), str(os.getpid()), Path(sys.executable).name]


def make_threads() -> Any:
    return threads


def process_of(number: int) -> str | Lost:
    """A job that says where it ran; odd numbers give no valid result."""
    return Lost(kind="score_invalid", detail=str(os.getpid())) if number % 2 else str(os.getpid())


def make_process_of() -> Any:
    return process_of
