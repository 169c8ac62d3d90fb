"""What an operator asks of a cache: counts for each site, purging, and its content as records."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import CacheBusyError
from .records import Tally, site_of, tenant_name, tenant_of
from .rows import read_page
from .store import PageStore


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteReport:
    """What was asked of a site on behalf of a tenant since the cache began; its owner could check it."""

    tenant: str | None
    site: str
    """Host, with the port where it has one."""
    pages: int
    """Stored now."""
    bytes: int
    """Of their text."""
    refused: int
    """URLs that are noted as giving no page, whether the note still counts or not."""
    tally: Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheReport:
    """A cache at a glance."""

    tenants: int
    pages: int
    passages: int
    bytes: int
    """Of the stored text; what the cap is about."""
    pending: int
    """Pages that the index has still to take over."""
    sites: tuple[SiteReport, ...]
    """By tenant and site."""


def report(store: PageStore, *, tenant: str | None = None) -> CacheReport:
    """Counts of the whole cache, or of one tenant with a name. Raises what `PageStore` raises."""
    chosen = None if tenant is None else tenant_name(tenant)
    with store.database.reading() as connection:
        sites = connection.execute(
            "SELECT s.tenant, s.site, s.requests, s.bytes, s.revalidations, s.refusals, s.failures, s.hits, "
            "COUNT(p.number), COALESCE(SUM(p.bytes), 0), "
            "(SELECT COUNT(*) FROM refusals AS r WHERE r.tenant = s.tenant AND r.site = s.site) FROM sites AS s "
            "LEFT JOIN pages AS p ON p.tenant = s.tenant AND p.site = s.site "
            "WHERE ?1 IS NULL OR s.tenant = ?1 GROUP BY s.tenant, s.site ORDER BY s.tenant, s.site",
            (chosen,),
        ).fetchall()
        pages, passages, size = connection.execute(
            "SELECT COUNT(*), COALESCE(SUM((SELECT COUNT(*) FROM passages WHERE page = p.number)), 0), "
            "COALESCE(SUM(p.bytes), 0) FROM pages AS p WHERE ?1 IS NULL OR p.tenant = ?1",
            (chosen,),
        ).fetchone()
        (pending,) = connection.execute(
            "SELECT COUNT(DISTINCT tenant || ' ' || key) FROM journal WHERE ?1 IS NULL OR tenant = ?1", (chosen,)
        ).fetchone()
    found = tuple(_site(row) for row in sites)
    return CacheReport(
        tenants=len({one.tenant for one in found}),
        pages=pages,
        passages=passages,
        bytes=size,
        pending=pending,
        sites=found,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What to purge: pages that meet all conditions that are given."""

    site: str | None = None
    """Host, with the port where it has one."""
    tenant: str | None = None
    nameless: bool = False
    """Only the nameless tenant."""
    older_than: float | None = None
    """Seconds since the origin was last asked."""
    counters: bool = False
    """Whether counters and demand go too; otherwise they stay for the audit."""


def purge(store: PageStore, scope: Scope, *, now: float) -> int:
    """Remove pages, and what is known of URLs that gave none; how many pages. Their space is overwritten.

    The index follows when it next catches up; until then it can find nothing of them either.
    """
    conditions: list[tuple[str, object]] = []
    if scope.site is not None:
        conditions.append(("site = ?", scope.site.lower()))
    if scope.tenant is not None or scope.nameless:
        conditions.append(("tenant = ?", tenant_name(scope.tenant)))
    owned = [*conditions]
    where, values = _where(owned)
    old, moments = where, values
    if scope.older_than is not None:
        old, moments = _where([*owned, ("received_at <= ?", now - scope.older_than)])
    with store.database.writing() as connection:
        removed = connection.execute(f"DELETE FROM pages {old}", moments).rowcount  # noqa: S608 - question marks
        connection.execute(
            f"DELETE FROM refusals {old.replace('received_at', 'stored_at')}",  # noqa: S608 - question marks
            moments,
        )
        if scope.counters:
            connection.execute(f"DELETE FROM sites {where}", values)  # noqa: S608 - question marks
            for table in ("demand", "credits"):
                for tenant, key in connection.execute(f"SELECT DISTINCT tenant, key FROM {table}").fetchall():  # noqa: S608
                    if _belongs(tenant, key, scope):
                        connection.execute(
                            f"DELETE FROM {table} WHERE tenant = ? AND key = ?",  # noqa: S608 - a table's name
                            (tenant, key),
                        )
    with contextlib.suppress(CacheBusyError):  # it only gives back space; the text is overwritten already
        store.database.vacuum()
    return removed


def export(store: PageStore) -> Iterator[dict[str, Any]]:
    """Every page with its passages and provenance as a record that JSON takes; by tenant and key."""
    with store.database.reading() as connection:
        for tenant, key, first in connection.execute(
            "SELECT tenant, key, first_fetched FROM pages ORDER BY tenant, key"
        ):
            stored = read_page(connection, tenant, key)
            if stored is None:
                continue
            yield {
                "tenant": stored.tenant,
                "id": stored.key,
                "url": stored.page.url,
                "final_url": stored.final_url,
                "title": stored.page.title,
                "text": stored.page.text,
                "date": stored.page.date,
                "language": stored.page.language,
                "flags": list(stored.page.flags),
                "content_type": stored.content_type,
                "content_sha256": stored.content,
                "headers": dict(stored.exchange.headers),
                "first_fetched": first,
                "received_at": stored.exchange.received_at,
                "passages": [
                    {"id": piece.id, "text": piece.text, "section": piece.section, "url": piece.url}
                    for piece in stored.passages
                ],
            }


def _site(row: tuple[Any, ...]) -> SiteReport:
    tenant, site, requests, received, revalidations, refusals, failures, hits, pages, size, refused = row
    tally = Tally(
        requests=requests,
        bytes=received,
        revalidations=revalidations,
        refusals=refusals,
        failures=failures,
        hits=hits,
    )
    return SiteReport(tenant=tenant_of(tenant), site=site, pages=pages, bytes=size, refused=refused, tally=tally)


def _where(conditions: list[tuple[str, object]]) -> tuple[str, tuple[object, ...]]:
    if not conditions:
        return "", ()
    return "WHERE " + " AND ".join(text for text, _ in conditions), tuple(value for _, value in conditions)


def _belongs(tenant: str, key: str, scope: Scope) -> bool:
    same_tenant = (scope.tenant is None and not scope.nameless) or tenant == tenant_name(scope.tenant)
    return same_tenant and (scope.site is None or site_of(key) == scope.site.lower())
