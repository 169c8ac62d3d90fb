"""Errors of `agent`.

AgentError
├── ConfigError        a setting is unknown, missing or out of range; says key, value and remedy
│   └── MissingObserverError  a policy requires an observer that the agent was not given
├── PlanError          the planner could not plan
├── AnswerError        the answerer could not answer
├── PassagesError      a file of passages cannot be read; names file and line
├── TraceError         a trace file cannot be read or written
└── ModelCallError     a language model behind an endpoint did not answer
"""

from __future__ import annotations

from retrieval import Spend


class AgentError(Exception):
    """Root of the errors of `agent`."""


class ConfigError(AgentError, ValueError):
    """A setting is unknown, missing or out of range."""


class MissingObserverError(ConfigError):
    """A policy requires an observer that the agent was not given."""


class PlanError(AgentError):
    """The planner could not plan; the loop falls back to the question itself."""


class AnswerError(AgentError):
    """The answerer could not answer; the search abstains.

    Args:
        message: Why.
        spend: What was spent on the attempt; the search counts it.
    """

    def __init__(self, message: str, *, spend: Spend = Spend()) -> None:
        super().__init__(message)
        self.spend = spend


class PassagesError(AgentError):
    """A file of passages cannot be read; the message names file and line."""


class TraceError(AgentError):
    """A trace file cannot be read or written."""


class ModelCallError(AgentError):
    """A language model behind an endpoint did not answer, or not in the form that was asked for.

    Args:
        message: Why, and what to do. Never holds the key.
        spend: What the attempts cost all the same.
        estimated: Whether that is an estimate.
    """

    def __init__(self, message: str, *, spend: Spend = Spend(), estimated: bool = False) -> None:
        super().__init__(message)
        self.spend = spend
        self.estimated = estimated
