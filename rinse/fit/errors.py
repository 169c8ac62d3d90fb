"""Errors of fitting.

RinseError
└── FitError           nothing can be fitted to this, or not here
    ├── PairsError     a file of training pairs cannot be used; names file, line and what was expected
    └── FolderError    a folder of a fit belongs to another fit, or is damaged
"""

from __future__ import annotations

from ..errors import RinseError


class FitError(RinseError):
    """Nothing can be fitted to this, or not here."""


class PairsError(FitError):
    """A file of training pairs cannot be used; the message names file, line and what was expected."""


class FolderError(FitError):
    """A folder of a fit belongs to another fit, or is damaged."""
