"""Searches with labels: what stop policies are calibrated and compared on.

A file of episodes holds JSON lines. A first line of `type` "run" says what the searches depend on; each line of
`type` "search" is one search, recorded to its end, with the annotated support that its evidence held after each
turn. `python -m benchmarks record` writes such files; `sufficit calibrate` reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from policies import SearchState
from policies.replay import Recorded

from .wire import read_state


class Probe(BaseModel):
    """What an answerer would have answered after one turn. Never shown to a user."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)

    text: str
    margin: float | None = None
    """By how much the best candidate's worth leads the next one with another text, at least 0, on the answerer's
    own scale; None where it had no other candidate, and for yes or no, one of two, and whole sentences."""


class Episode(BaseModel):
    """One recorded search and what annotators say of it."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, frozen=True, extra="ignore", allow_inf_nan=False)

    type: Literal["search"] = "search"
    dataset: str
    split: str
    id: str
    group: str
    """Ties the variants of one source question, its twin included: resample and split by it."""
    twin: bool = False
    """True: all annotated support was kept from the search."""
    question: str
    answers: tuple[str, ...] = ()
    """Accepted answers; empty = no answer can be judged."""
    answerable: bool = True
    support: int
    """Number of annotated pieces of support."""
    found: tuple[int, ...]
    """How many of them the evidence held after each look; looks are the turns of the trace."""
    probes: tuple[Probe | None, ...] = ()
    """The answer after each look; None where there was no evidence. Empty: none was recorded."""
    gold_answer: str | None = None
    """What the same answerer makes of the annotated support alone; None for a twin."""
    masked: tuple[str, ...] = ()
    """Ids of the passages that were kept from the search."""
    scorer: str
    """Fingerprint of the scorer of the scores in the trace."""
    trace: tuple[dict[str, Any], ...] = Field(default=())
    """The lines of the search's trace, see `agent.trace`; passage texts included."""

    @property
    def key(self) -> tuple[str, str, bool]:
        """What a run counts once: dataset, question id, twin or not."""
        return (self.dataset, self.id, self.twin)

    @property
    def sufficient(self) -> tuple[bool, ...]:
        """Whether the evidence held all annotated support, after each look. Not the same as "answerable": other
        text may answer the question, too.
        """
        return tuple(self.answerable and found == self.support for found in self.found)

    def turns(self) -> list[dict[str, Any]]:
        """The looks, as `wire.turn_json` wrote them."""
        return [line for line in self.trace if line.get("type") == "turn"]

    def states(self) -> Sequence[SearchState]:
        """What the policy saw at each look.

        Raises:
            pydantic.ValidationError: the trace is not one of ours.
        """
        return tuple(read_state(turn["state"]) for turn in self.turns())

    def recorded(self) -> Recorded:
        """The states, ready for `Recorded.play`."""
        return Recorded(self.states())
