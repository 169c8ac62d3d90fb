"""Errors of `retrieval`.

RetrievalError
├── TierError                 a tier could not serve a request
│   ├── TierTimeoutError      it took longer than the request or the tier allows
│   ├── TierUnavailableError  it cannot serve any request now
│   └── ProviderError         a search provider's answer cannot be used
├── FetchSettingsError        settings of the fetcher that cannot work
├── CacheError                something is wrong with a coverage cache
│   ├── CacheCorruptError     its file or its index is damaged or contradicts itself
│   └── CacheBusyError        another process kept it locked for longer than the time-out
├── IndexFolderError
│   ├── IndexNotFoundError    no finished index in the folder
│   ├── IndexCorruptError     files are missing, changed or contradict each other
│   ├── IndexVersionError     written by another version of the format
│   ├── IndexBusyError        another process builds or changes it
│   ├── DocumentUnknownError  it holds no document with this id
│   └── EncoderMismatchError  built with another encoder than the one that opens it
├── CorpusError               a corpus file cannot be read; says file, line, what was expected
└── BackboneError
    ├── BackboneNotFoundError no weights under this name; says what to install
    └── BackboneCorruptError  weights found, but not the expected ones (sha256)
"""

from __future__ import annotations


class RetrievalError(Exception):
    """Root of the errors of `retrieval`."""


class TierError(RetrievalError):
    """A tier could not serve a request. The search goes on without it."""


class TierTimeoutError(TierError):
    """The tier took longer than the request or its own time-out allows."""


class TierUnavailableError(TierError):
    """The tier cannot serve any request now."""


class ProviderError(TierError):
    """A search provider failed or answered something else than results; the next one is asked."""


class FetchSettingsError(RetrievalError):
    """Settings of the fetcher that cannot work."""


class CacheError(RetrievalError):
    """Something is wrong with a coverage cache."""


class CacheCorruptError(CacheError):
    """The cache's file or its index is damaged or contradicts itself."""


class CacheBusyError(CacheError):
    """Another process kept the cache locked for longer than the time-out."""


class IndexFolderError(RetrievalError):
    """Something is wrong with an index folder."""


class IndexNotFoundError(IndexFolderError):
    """The folder holds no finished index."""


class IndexCorruptError(IndexFolderError):
    """Files of the index are missing, changed or contradict each other."""


class IndexVersionError(IndexFolderError):
    """The index was written in another version of the format."""


class IndexBusyError(IndexFolderError):
    """Another process is building or changing this index."""


class DocumentUnknownError(IndexFolderError):
    """The index holds no document with this id."""


class EncoderMismatchError(IndexFolderError):
    """The index was built with another encoder than the one that opens it (cases R05, R06)."""


class CorpusError(RetrievalError):
    """A corpus cannot be read."""


class BackboneError(RetrievalError):
    """Something is wrong with a model's files."""


class BackboneNotFoundError(BackboneError):
    """No weights were found under this name."""


class BackboneCorruptError(BackboneError):
    """Weights were found, but they are not the expected ones."""
