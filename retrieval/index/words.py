"""From passages to words and links: what a new index and a changed one have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from sqlite3 import Connection

from ..passage import Passage
from .links import LinkRule, put_links
from .sparse import SparseIndex
from .sqlite import Database
from .store import aliases_of, mark_indexed


def index_words(
    database: Database, sparse: SparseIndex, blocks: Iterable[dict[int, Passage]], links: LinkRule | None
) -> None:
    """Index blocks of passages, given by row, in the open transaction; numbers are given in their order.

    Whatever is raised, also by `blocks`, drops all changes since the last commit.
    """

    def items() -> Iterator[tuple[str, str]]:
        for block in blocks:
            with database.writing() as connection:
                mark_indexed(connection, block)
                link(connection, block, links)
            yield from ((passage.id, passage.full_text) for passage in block.values())

    sparse.add(items())


def link(connection: Connection, passages: dict[int, Passage], links: LinkRule | None) -> None:
    """Give passages, by row, the keys that the rule finds; without a rule they have none."""
    if links is not None:
        aliases = aliases_of(connection, passages)
        for row, passage in passages.items():
            put_links(connection, row, *links.keys(passage, aliases.get(row, ())))
