"""Errors of `rinse`.

RinseError
├── ScoreError         a reader gave a value that cannot be used (NaN, inf, None, wrong shape)
├── ProfileError       a profile cannot be read or contradicts itself
└── ProfileMismatchError  fitted statistics belong to another model or reader (case S03)
"""

from __future__ import annotations


class RinseError(Exception):
    """Root of the errors of `rinse`."""


class ScoreError(RinseError):
    """A reader gave a value that cannot be used; nothing is decided on it (case S04)."""


class ProfileError(RinseError):
    """A profile cannot be read or contradicts itself."""


class ProfileMismatchError(RinseError):
    """Fitted statistics belong to another model or reader (case S03)."""
