"""Errors of `policies`.

PolicyError
├── PolicyParameterError   a policy cannot be built from these parameters (cases L07, E05)
├── CalibrationDataError   recorded searches that nothing can be calibrated on
└── PolicyContractError    something would rest on NaN or infinity (case S04)
"""

from __future__ import annotations


class PolicyError(Exception):
    """Root of the errors of `policies`."""


class PolicyParameterError(PolicyError, ValueError):
    """A policy cannot be built from these parameters."""


class CalibrationDataError(PolicyError, ValueError):
    """Recorded searches that nothing can be calibrated on: none, or labels that do not fit."""


class PolicyContractError(PolicyError, ValueError):
    """A reason or a probability would rest on NaN or infinity; a fault of the policy, never of the search."""
