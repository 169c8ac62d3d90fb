"""Errors of `agent`.

AgentError
├── ConfigError        a setting is unknown, missing or out of range; says key, value and remedy
│   └── MissingObserverError  a policy requires an observer that the agent was not given
├── PlanError          the planner could not plan
├── AnswerError        the answerer could not answer
├── TraceError         a trace file cannot be read or written
└── ModelCallError     a language model behind an endpoint did not answer
"""

from __future__ import annotations


class AgentError(Exception):
    """Root of the errors of `agent`."""


class ConfigError(AgentError, ValueError):
    """A setting is unknown, missing or out of range."""


class MissingObserverError(ConfigError):
    """A policy requires an observer that the agent was not given."""


class PlanError(AgentError):
    """The planner could not plan; the loop falls back to the question itself."""


class AnswerError(AgentError):
    """The answerer could not answer; the search abstains."""


class TraceError(AgentError):
    """A trace file cannot be read or written."""


class ModelCallError(AgentError):
    """A language model behind an endpoint did not answer."""
