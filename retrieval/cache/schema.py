"""The tables of `pages.sqlite`.

`pages` and `passages` are the truth. Triggers keep two things in step with every change of `pages`, by whatever
statement: the bytes of each tenant, and the journal of keys that the index has to look at again.
"""

from __future__ import annotations

APPLICATION = 0x5346_4343
VERSION = 1
SCHEMA = """
CREATE TABLE tenants (tenant TEXT PRIMARY KEY, floor REAL NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE pages (
    number INTEGER PRIMARY KEY, tenant TEXT NOT NULL, key TEXT NOT NULL, site TEXT NOT NULL,
    final_url TEXT NOT NULL, title TEXT NOT NULL, page TEXT NOT NULL, content_type TEXT NOT NULL,
    content TEXT NOT NULL, status INTEGER NOT NULL, headers TEXT NOT NULL, request_headers TEXT NOT NULL,
    requested_at REAL NOT NULL, received_at REAL NOT NULL, first_fetched REAL NOT NULL, seconds REAL NOT NULL,
    bytes INTEGER NOT NULL, priority REAL NOT NULL, UNIQUE (tenant, key)
);
CREATE INDEX pages_by_priority ON pages (tenant, priority, key);
CREATE TABLE passages (
    page INTEGER NOT NULL REFERENCES pages (number) ON DELETE CASCADE, position INTEGER NOT NULL, id TEXT NOT NULL,
    text TEXT NOT NULL, section TEXT NOT NULL, url TEXT, PRIMARY KEY (page, position)
) WITHOUT ROWID;
CREATE INDEX passages_by_id ON passages (id);
CREATE TABLE refusals (
    tenant TEXT NOT NULL, key TEXT NOT NULL, site TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL,
    status INTEGER, stored_at REAL NOT NULL, life REAL NOT NULL, PRIMARY KEY (tenant, key)
) WITHOUT ROWID;
CREATE TABLE sites (
    tenant TEXT NOT NULL, site TEXT NOT NULL, requests INTEGER NOT NULL, bytes INTEGER NOT NULL,
    revalidations INTEGER NOT NULL, refusals INTEGER NOT NULL, failures INTEGER NOT NULL, hits INTEGER NOT NULL,
    PRIMARY KEY (tenant, site)
) WITHOUT ROWID;
CREATE TABLE demand (
    tenant TEXT NOT NULL, key TEXT NOT NULL, asked INTEGER NOT NULL, latest REAL NOT NULL,
    PRIMARY KEY (tenant, key)
) WITHOUT ROWID;
CREATE TABLE credits (
    tenant TEXT NOT NULL, key TEXT NOT NULL, question BLOB NOT NULL, contribution REAL NOT NULL,
    latest REAL NOT NULL, PRIMARY KEY (tenant, key, question)
) WITHOUT ROWID;
CREATE TABLE journal (seq INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, key TEXT NOT NULL);
CREATE TRIGGER page_added AFTER INSERT ON pages BEGIN
    INSERT OR IGNORE INTO tenants VALUES (new.tenant, 0, 0);
    UPDATE tenants SET bytes = bytes + new.bytes WHERE tenant = new.tenant;
    INSERT INTO journal (tenant, key) VALUES (new.tenant, new.key);
END;
CREATE TRIGGER page_removed AFTER DELETE ON pages BEGIN
    UPDATE tenants SET bytes = bytes - old.bytes WHERE tenant = old.tenant;
    INSERT INTO journal (tenant, key) VALUES (old.tenant, old.key);
END;
"""
