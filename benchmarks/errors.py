"""Errors of `benchmarks`.

BenchmarkError
├── DatasetError    a file of questions cannot be read at all; faults of single lines are counted, not raised
├── RunFileError    a run file belongs to another run or cannot be read or written
└── SettingsError   what was asked for cannot be measured; says what to change
"""

from __future__ import annotations


class BenchmarkError(Exception):
    """Root of the errors of `benchmarks`."""


class DatasetError(BenchmarkError):
    """A file of questions cannot be read at all."""


class RunFileError(BenchmarkError):
    """A run file belongs to another run, or cannot be read or written."""


class SettingsError(BenchmarkError, ValueError):
    """What was asked for cannot be measured."""
