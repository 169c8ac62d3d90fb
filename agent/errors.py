"""Errors of `agent`.

AgentError
├── ConfigError        a setting is unknown, missing or out of range; says key, value and remedy
│   └── MissingObserverError  a policy requires an observer that the agent was not given
├── PlanError          the planner could not plan
├── AnswerError        the answerer could not answer
├── PassagesError      a file of passages cannot be read; names file and line
├── LabelledError      labels, or a run with labels, that cannot be read or used
├── CertificateError   a certificate cannot be read or written, or was edited
│   └── CertificateMismatchError  it belongs to other searches; names each part that differs
├── TraceError         a trace file cannot be read or written
└── ModelCallError     a language model behind an endpoint did not answer
"""

from __future__ import annotations

from collections.abc import Sequence

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


class LabelledError(AgentError):
    """Labels, or a run with labels, that cannot be read or used."""


class CertificateError(AgentError):
    """A certificate cannot be read or written, or was edited."""


class CertificateMismatchError(CertificateError):
    """A certificate belongs to other searches than those that it is held against.

    Args:
        message: For people.
        parts: Names of the parts that differ.
    """

    def __init__(self, message: str, *, parts: Sequence[str]) -> None:
        super().__init__(message)
        self.parts = tuple(parts)


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
