"""Checks of parameters, made when a policy or a budget is built (cases L07, E05)."""

from __future__ import annotations

import math

from .errors import PolicyParameterError


def require_threshold(owner: str, name: str, value: float, *, remedy: str = "") -> None:
    """Refuse a threshold that every score or no score can pass.

    Raises:
        PolicyParameterError: NaN or infinite.
    """
    if not math.isfinite(value):
        raise PolicyParameterError(
            f"{owner}: {name} must be a finite number, it is {value}. "
            + (remedy or "Choose it among the scores of your own searches; to answer without a check, use FixedK.")
        )


def require_whole(owner: str, name: str, value: float, *, at_least: int, remedy: str = "") -> None:
    """Refuse a count that is not a whole number of at least `at_least`.

    Raises:
        PolicyParameterError: too small, fractional, NaN or infinite.
    """
    if not float(value).is_integer() or value < at_least:
        raise PolicyParameterError(
            f"{owner}: {name} must be a whole number of at least {at_least}, it is {value}. "
            + (remedy or f"Pass {name}={at_least} or more.")
        )


def require_amount(owner: str, name: str, value: float, *, remedy: str = "") -> None:
    """Refuse an amount that is negative or not finite.

    Raises:
        PolicyParameterError: negative, NaN or infinite.
    """
    if not math.isfinite(value) or value < 0:
        raise PolicyParameterError(
            f"{owner}: {name} must be a finite number of at least 0, it is {value}. "
            + (remedy or f"Pass {name}=0 or more.")
        )


def require_share(owner: str, name: str, value: float) -> None:
    """Refuse a share or a probability outside [0, 1].

    Raises:
        PolicyParameterError: below 0, above 1 or NaN.
    """
    if not 0 <= value <= 1:
        raise PolicyParameterError(
            f"{owner}: {name} must be in [0, 1], it is {value}. It is a share: 0.1 means one in ten."
        )


def require_open_share(owner: str, name: str, value: float) -> None:
    """Refuse a risk or an error probability outside (0, 1): 0 can never be promised, 1 promises nothing.

    Raises:
        PolicyParameterError: 0 or below, 1 or above, or NaN.
    """
    if not 0 < value < 1:
        raise PolicyParameterError(
            f"{owner}: {name} must be between 0 and 1, both excluded, it is {value}. It is a share: 0.1 "
            "means one in ten."
        )
