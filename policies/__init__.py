"""When to answer, search on, widen or abstain: numbers in, decision out."""

from .budget import Budget, enforce
from .decision import Abstain, AnswerNow, Decision, Reason, SearchOn, Widen
from .errors import PolicyError
from .named import build_policy
from .policy import StopPolicy
from .state import SearchState, TierInfo

__all__ = [
    "Abstain",
    "AnswerNow",
    "Budget",
    "Decision",
    "PolicyError",
    "Reason",
    "SearchOn",
    "SearchState",
    "StopPolicy",
    "TierInfo",
    "Widen",
    "build_policy",
    "enforce",
]
