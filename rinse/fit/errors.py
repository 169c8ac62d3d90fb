"""Errors of fitting.

RinseError
└── FitError           nothing can be fitted to this, or not here
    ├── LineError      a file of JSON lines cannot be read; names file and line
    ├── PairsError     a file of training pairs cannot be used; names file, line and what was expected
    └── FolderError    a folder of a fit belongs to another fit, or is damaged
"""

from __future__ import annotations

from ..errors import RinseError


class FitError(RinseError):
    """Nothing can be fitted to this, or not here."""


class LineError(FitError):
    """A file of JSON lines cannot be read, or one of its lines; the message names file and line."""


class PairsError(FitError):
    """A file of training pairs cannot be used; the message names file, line and what was expected."""


class FolderError(FitError):
    """A folder of a fit belongs to another fit, or is damaged."""
