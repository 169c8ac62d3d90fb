"""Errors of `policies`.

PolicyError
└── PolicyParameterError   a policy cannot be built from these parameters (cases L07, E05)
"""

from __future__ import annotations


class PolicyError(Exception):
    """Root of the errors of `policies`."""


class PolicyParameterError(PolicyError, ValueError):
    """A policy cannot be built from these parameters."""
