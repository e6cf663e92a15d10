"""Put the edges of a list into tables as they are read, and settle what its first line is."""

from __future__ import annotations

from dataclasses import dataclass

from grfpp.io.large.batches import EdgeSource, Reported
from grfpp.io.large.database import Database, quoted
from grfpp.io.tables.numerals import INTEGER

_SCHEMA = {"place": "int64", "s": "large_string", "t": "large_string", "w": "float64"}
_WHOLE = {**_SCHEMA, "s": "int64", "t": "int64"}
_FIRST = ("first", "text", "whole")


@dataclass(frozen=True)
class Staged:
    """Edges in tables: those that are numbered by whole numbers, and others.

    Parameters
    ----------
    name
        Of the list, for messages.
    is_whole
        Whether all names are whole numbers of up to 64 bits, and kept as such.
    all_whole
        Whether all names are whole numbers, though some may be longer: then all are kept as text.
    """

    database: Database
    name: str
    is_whole: bool
    all_whole: bool

    @property
    def edges(self) -> str:
        """A query for all of them: ``place, s, t, w``."""
        kind = "BIGINT" if self.is_whole else "VARCHAR"
        return " UNION ALL ".join(
            f"SELECT place, s::{kind} AS s, t::{kind} AS t, w FROM {self.database.scan(table)}"
            for table in _FIRST
            if self.database.has(table)
        )

    def count(self) -> int:
        """How many there are."""
        found = self.database.one(f"SELECT count(*) FROM ({self.edges})")
        return 0 if found is None else int(found[0])

    def drop(self) -> None:
        """Remove the tables."""
        self.database.drop(*_FIRST)


def stage_edges(source: EdgeSource, database: Database, report: Reported) -> Staged:
    """Read all edges of a list into tables.

    Numbers are kept as numbers until a name comes that is none.
    """
    counts = {"whole": 0, "text": 0}
    batches = source.batches()
    with database.writer("whole", _WHOLE) as whole, database.writer("text", _SCHEMA) as text:
        for batch in batches:
            table, kind = (whole, "whole") if batch.is_whole else (text, "text")
            table.append(batch.places, batch.source, batch.target, batch.weights)
            counts[kind] += len(batch.places)
            report("reading", *source.progress())
    database.drop(*(name for name, count in counts.items() if not count))
    n_edges = counts["whole"] + counts["text"]
    has_first = _settle(source, database, n_edges, counts["text"])
    if not n_edges and not has_first:
        raise source.nothing()
    is_whole = not counts["text"] and not has_first
    all_whole = is_whole or (source.reads_numbers and not has_first and _all_spelt(database))
    if all_whole and not is_whole:
        is_whole = not _finds(
            database, "try_cast(s AS BIGINT) IS NULL OR try_cast(t AS BIGINT) IS NULL"
        )
    return Staged(database, source.name, is_whole, all_whole)


def _settle(source: EdgeSource, database: Database, n_edges: int, n_text: int) -> bool:
    """Whether the first line is an edge that is still to be added, which is done then."""
    doubt = source.doubt
    if doubt is None:
        return False
    if n_edges and (n_text or doubt.place is not None):
        names = ", ".join(map(quoted, doubt.names))
        known = n_text > 0 and _finds(database, f"s IN ({names}) OR t IN ({names})")
        all_whole = not n_text or (not known and _all_spelt(database))
        is_edge = doubt.settle(all_whole, known)
    else:
        is_edge = doubt.place is not None  # nothing speaks against it
    if not is_edge:
        return False
    with database.writer("first", _SCHEMA) as table:
        table.append([doubt.place], [doubt.names[0]], [doubt.names[1]], [1.0])
    return True


def _all_spelt(database: Database) -> bool:
    """Whether all names that are kept as text spell whole numbers."""
    pattern = quoted(INTEGER.pattern)
    other = " OR ".join(f"NOT regexp_full_match({end}, {pattern})" for end in "st")
    return not _finds(database, other)


def _finds(database: Database, condition: str) -> bool:
    """Whether there is such an edge among those whose names are kept as text."""
    query = f"SELECT 1 FROM {database.scan('text')} WHERE {condition} LIMIT 1"
    return database.one(query) is not None
