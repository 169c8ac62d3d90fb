"""Errors of `policies`.

PolicyError
├── PolicyParameterError   a policy cannot be built from these parameters (cases L07, E05)
└── PolicyContractError    a policy gave a reason that rests on NaN or infinity (case S04)
"""

from __future__ import annotations


class PolicyError(Exception):
    """Root of the errors of `policies`."""


class PolicyParameterError(PolicyError, ValueError):
    """A policy cannot be built from these parameters."""


class PolicyContractError(PolicyError, ValueError):
    """A policy gave a reason that rests on NaN or infinity; a fault of the policy, never of the search."""
