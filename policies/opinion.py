"""Policies that do what a language model says. Observers ask it after each turn; here are only its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .decision import AnswerNow, Decision, Reason, SearchOn
from .endings import not_observed
from .parameters import require_share
from .state import SearchState


@dataclass(frozen=True, slots=True)
class LlmSaysStop:
    """Answers when the model says that it would stop searching. Never gives up by itself.

    What tool-calling agents do in effect: they search until the model calls no tool (Yao et al. 2023, "ReAct:
    Synergizing reasoning and acting in language models"). It looks at no score. An unusable reply is no value.
    """

    name: ClassVar[str] = "llm_stop"
    requires: ClassVar[frozenset[str]] = frozenset({"llm_stop"})

    def decide(self, state: SearchState) -> Decision:
        """Take the model's word."""
        stop = state.observed("llm_stop.stop")
        if stop is None or not state.passages:
            return not_observed(self.name, state)
        if stop >= 0.5:
            return AnswerNow(reason=Reason(code="llm_stop", by=self.name, values={"stop": stop}))
        return SearchOn(reason=Reason(code="llm_search", by=self.name, values={"stop": stop}))


@dataclass(frozen=True, slots=True, kw_only=True)
class SufficiencyPrompt:
    """Answers when the model rates the evidence sufficient with at least this probability. Never gives up by
    itself.

    The autorater of Joren et al. 2025, "Sufficient Context: A new lens on retrieval augmented generation systems"
    (arXiv 2411.06037), asked after each turn; asking in the course of a search, and the threshold, are ours.
    Monotone in the rating; it looks at no score.

    Raises:
        PolicyParameterError: `at_least` outside [0, 1].
    """

    at_least: float = 0.5
    """In [0, 1]. Where the model's server returns no probabilities, ratings are 0 and 1."""
    name: ClassVar[str] = "llm_sufficient"
    requires: ClassVar[frozenset[str]] = frozenset({"llm_sufficient"})

    def __post_init__(self) -> None:
        require_share("SufficiencyPrompt", "at_least", self.at_least)

    def decide(self, state: SearchState) -> Decision:
        """Hold the rating against the threshold."""
        rating = state.observed("llm_sufficient.sufficient")
        if rating is None or not state.passages:
            return not_observed(self.name, state)
        values = {"sufficient": rating, "at_least": self.at_least}
        if rating >= self.at_least:
            return AnswerNow(reason=Reason(code="llm_sufficient", by=self.name, values=values))
        return SearchOn(reason=Reason(code="llm_insufficient", by=self.name, values=values))
