"""What an operator may decide about freshness where RFC 9111 leaves room."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """Bounds on the lifetime of a class of pages. They never make storable what the origin forbids to store."""

    host: str = "*"
    """Shell pattern on the host's lower-cased name: `*.example.org`."""
    content_type: str = "*"
    """Shell pattern on the content type: `application/*`."""
    min_lifetime: float = 0.0
    """Seconds that a page of the class is fresh at least, whatever its origin states."""
    max_lifetime: float = math.inf
    """Seconds that it is fresh at most."""

    def __post_init__(self) -> None:
        if not 0 <= self.min_lifetime <= self.max_lifetime:  # also false of NaN
            raise ValueError(
                f"An override for {self.host!r} has lifetimes from {self.min_lifetime} to {self.max_lifetime} "
                "seconds; expected 0 <= min_lifetime <= max_lifetime."
            )

    def fits(self, host: str, content_type: str) -> bool:
        """Whether a page of this host and type belongs to the class."""
        return fnmatchcase(host, self.host) and fnmatchcase(content_type, self.content_type)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How fresh is fresh enough. The defaults serve nothing stale that the origin does not allow to be."""

    overrides: tuple[Override, ...] = ()
    """The first one that fits a page counts."""
    heuristic_share: float = 0.1
    """Without a stated lifetime: this share of the time since the last modification (RFC 9111, sec. 4.2.2)."""
    heuristic_cap: float = DAY
    """Seconds; the longest lifetime that is guessed."""
    unstated_lifetime: float = 3600.0
    """Seconds, for pages whose origin says neither how long they live nor when they were modified."""
    stale_on_error: float = 0.0
    """Seconds after its end of life for which a page may stand in for an origin that fails, where the origin does
    not forbid stale answers; `stale-if-error` of the origin (RFC 5861) counts if it is longer."""

    def __post_init__(self) -> None:
        for name in ("heuristic_share", "heuristic_cap", "unstated_lifetime", "stale_on_error"):
            value = getattr(self, name)
            if not value >= 0:  # also true of NaN
                raise ValueError(f"{name} is {value}; expected seconds (or a share) of at least 0.")

    def bounded(self, lifetime: float, *, host: str, content_type: str) -> float:
        """A lifetime inside the bounds of the first override that fits."""
        fitting = (one for one in self.overrides if one.fits(host, content_type))
        return _within(lifetime, fitting)


def _within(lifetime: float, overrides: Iterable[Override]) -> float:
    for one in overrides:
        return min(max(lifetime, one.min_lifetime), one.max_lifetime)
    return lifetime
