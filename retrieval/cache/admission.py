"""Which pages stay: GreedyDual-Size-Frequency, with what a page contributed counted beside its demand.

    priority(p) = floor + asked(p) x (1 + contribution(p)) x cost(p) / size(p)

(L. Cherkasova, "Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching Policy", HP Labs report
HPL-98-69R1, 1998: `Pr(f) = Clock + Fr(f) x Cost(f) / Size(f)`.) The terms:

- `asked`: how often the page was asked for, served or credited, also before it was evicted the last time;
- `contribution`: mean over the questions that credited it, in units of the score, at least 0 (what a score loses
  without the page's passages; the loop computes it);
- `cost` of fetching it again: one request and its seconds, `1 + seconds`;
- `size`: KiB of its stored text, at least 1;
- `floor` (the paper's Clock): the priority of the page that was evicted last. A page gets the floor of the moment
  of its last use, so what is no longer asked for sinks below new pages, whatever it was worth once.

Admission is no other rule: a new page is stored and the pages of least priority go until the tenant's bytes are
below the cap; if the new one is the least, it is the one to go. Ties go by key. Each tenant has its own cap and
floor: no tenant's load evicts another's pages.
"""

from __future__ import annotations

import math
from sqlite3 import Connection

MOST_CONTRIBUTION = 100.0
"""One absurd figure must not keep a page for ever."""
_GHOSTS = 20_000
"""Keys of a tenant whose demand is remembered, cached or not."""
_QUESTIONS = 64
"""Of one page whose credit is remembered."""


def priority(*, floor: float, asked: int, contribution: float, seconds: float, size: int) -> float:
    """The formula above.

    Args:
        floor: At least 0.
        asked: At least 1.
        contribution: Mean per question; NaN, infinite and negative ones count as 0.
        seconds: That its last fetch took.
        size: In bytes.
    """
    return floor + asked * (1 + usable(contribution)) * (1 + max(0.0, seconds)) / max(1.0, size / 1024)


def usable(contribution: float) -> float:
    """A contribution in [0, `MOST_CONTRIBUTION`]; what is no number is 0."""
    return min(max(contribution, 0.0), MOST_CONTRIBUTION) if math.isfinite(contribution) else 0.0


def ask(connection: Connection, tenant: str, key: str, now: float) -> None:
    """Note that a page was asked for."""
    connection.execute(
        "INSERT INTO demand VALUES (?, ?, 1, ?) "
        "ON CONFLICT DO UPDATE SET asked = asked + 1, latest = excluded.latest",
        (tenant, key, now),
    )


def forget_ghosts(connection: Connection, tenant: str) -> None:
    """Forget the keys that nobody has asked for the longest, a tenth of them, where there are too many."""
    (known,) = connection.execute("SELECT COUNT(*) FROM demand WHERE tenant = ?", (tenant,)).fetchone()
    if known <= _GHOSTS:
        return
    old = "SELECT key FROM demand WHERE tenant = ? ORDER BY latest, key LIMIT ?"
    for table in ("credits", "demand"):
        connection.execute(
            f"DELETE FROM {table} WHERE tenant = ? AND key IN ({old})",  # noqa: S608 - a table's name
            (tenant, tenant, known - _GHOSTS * 9 // 10),
        )


def note_contribution(
    connection: Connection, tenant: str, key: str, *, question: bytes, contribution: float, now: float
) -> None:
    """Note what a page contributed to a question; the same question again replaces its older figure."""
    connection.execute(
        "REPLACE INTO credits VALUES (?, ?, ?, ?, ?)", (tenant, key, question, usable(contribution), now)
    )
    connection.execute(
        "DELETE FROM credits WHERE tenant = ? AND key = ? AND question NOT IN (SELECT question FROM credits "
        "WHERE tenant = ? AND key = ? ORDER BY latest DESC, question LIMIT ?)",
        (tenant, key, tenant, key, _QUESTIONS),
    )


def rank(connection: Connection, tenant: str, key: str) -> None:
    """Give a page the priority that it has now."""
    row = connection.execute(
        "SELECT t.floor, d.asked, p.seconds, p.bytes, "
        "(SELECT AVG(contribution) FROM credits WHERE tenant = p.tenant AND key = p.key) "
        "FROM pages AS p JOIN tenants AS t ON t.tenant = p.tenant "
        "LEFT JOIN demand AS d ON d.tenant = p.tenant AND d.key = p.key WHERE p.tenant = ? AND p.key = ?",
        (tenant, key),
    ).fetchone()
    if row is None:
        return
    floor, asked, seconds, size, contribution = row
    value = priority(floor=floor, asked=asked or 1, contribution=contribution or 0.0, seconds=seconds, size=size)
    connection.execute("UPDATE pages SET priority = ? WHERE tenant = ? AND key = ?", (value, tenant, key))


def make_room(connection: Connection, tenant: str, max_bytes: int) -> list[str]:
    """Evict pages of least priority until the tenant is within its cap; their keys, in the order they went."""
    gone: list[str] = []
    while True:
        row = connection.execute("SELECT bytes FROM tenants WHERE tenant = ?", (tenant,)).fetchone()
        if row is None or row[0] <= max_bytes:
            return gone
        key, least = connection.execute(
            "SELECT key, priority FROM pages WHERE tenant = ? ORDER BY priority, key LIMIT 1", (tenant,)
        ).fetchone()
        connection.execute("DELETE FROM pages WHERE tenant = ? AND key = ?", (tenant, key))
        connection.execute("UPDATE tenants SET floor = MAX(floor, ?) WHERE tenant = ?", (least, tenant))
        gone.append(key)
