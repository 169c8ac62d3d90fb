"""Errors of `benchmarks`.

BenchmarkError
├── DatasetError    a file of questions cannot be read at all; faults of single lines are counted, not raised
├── DownloadError   a file of a dataset cannot be brought here
│   ├── SourceUnavailableError   the server does not give it; what arrived is kept, the same command goes on there
│   ├── SourceChangedError       what the server gives is not what the manifest or an earlier download says
│   ├── UnsafeSourceError        the server leads to an address, or sends an amount, that is refused
│   ├── ArchiveError             an archive is damaged, holds too much, or lacks a member
│   └── DiskError                it cannot be written here
├── RunFileError    a run file belongs to another run or cannot be read or written
├── SettingsError   what was asked for cannot be measured; says what to change
└── StatisticsError scores or labels that no figure can be computed from; names the system and the pair
"""

from __future__ import annotations


class BenchmarkError(Exception):
    """Root of the errors of `benchmarks`."""


class DatasetError(BenchmarkError):
    """A file of questions cannot be read at all."""


class DownloadError(BenchmarkError):
    """A file of a dataset cannot be brought here."""


class SourceUnavailableError(DownloadError):
    """The server does not give the file. What arrived is kept; the same command goes on there."""


class SourceChangedError(DownloadError):
    """What the server gives is not what the manifest, or an earlier download, says. Nothing of it is kept."""


class UnsafeSourceError(DownloadError):
    """The server leads to an address, or sends an amount, that is refused. Nothing of it is kept."""


class ArchiveError(DownloadError):
    """An archive is damaged, holds more than was declared, or lacks a member. Nothing of it is unpacked."""


class DiskError(DownloadError):
    """A file cannot be written here: the disk is full, or the folder is not ours."""


class RunFileError(BenchmarkError):
    """A run file belongs to another run, or cannot be read or written."""


class SettingsError(BenchmarkError, ValueError):
    """What was asked for cannot be measured."""


class StatisticsError(BenchmarkError, ValueError):
    """Scores or labels from which no figure can be computed."""
