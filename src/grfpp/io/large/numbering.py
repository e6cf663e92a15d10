"""Number the nodes of a list of edges by queries, and write their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from grfpp.errors import InputError
from grfpp.io.folder.writer import FolderWriter
from grfpp.io.large.database import Database, arrays_of, quoted
from grfpp.io.large.staging import Staged
from grfpp.io.tables.labels import require_within
from grfpp.io.tables.numerals import INTEGER

_MOST_NODES = np.iinfo(np.int32).max
#: Names that are whole numbers of any length, in their order.
_NUMERIC = (
    "starts_with(name, '-') DESC, "
    "CASE WHEN starts_with(name, '-') THEN -length(name) ELSE length(name) END, "
    "CASE WHEN starts_with(name, '-') THEN name END DESC, name"
)


@dataclass(frozen=True)
class Numbered:
    """The nodes of a list; `ends` is a query for its edges ``place, u, v, w`` by their numbers."""

    n_nodes: int
    names: str | None
    ends: str


def number_nodes(
    database: Database, staged: Staged, writer: FolderWriter, n_nodes: int | None
) -> Numbered:
    """Number the nodes as `Graph` does.

    Whole numbers in their order, or as they are where they are 0 … n-1; other names in the order in
    which they appear, the source of an edge before its target.
    """
    edges = staged.edges
    if n_nodes is not None and staged.all_whole:
        return _as_they_are(database, staged, n_nodes)
    both = f"SELECT s AS name, 2 * place AS p FROM ({edges}) UNION ALL SELECT t, 2 * place + 1 FROM"
    found = f"SELECT name, min(p) AS p FROM ({both} ({edges})) GROUP BY name"
    if staged.is_whole:
        found = f"SELECT DISTINCT name FROM ({both} ({edges}))"
    database.make("distinct", found)
    order = "name" if staged.is_whole else _NUMERIC if staged.all_whole else "p"
    n, is_dense = _write_names(database, staged, writer, order)
    database.drop("distinct")
    if n_nodes is not None and n != n_nodes:
        raise InputError(f"n_nodes is {n_nodes}, but {staged.name} has {n} nodes")
    if is_dense:
        writer.discard("name_numbers")
        database.drop("names")
        return Numbered(n, None, _numbers(edges))
    # One after the other: each holds all names in memory, as far as that goes.
    names = database.scan("names")
    database.make(
        "half",
        f"SELECT place, a.id AS u, t, w FROM ({edges}) JOIN {names} AS a ON s = a.name",
    )
    staged.drop()
    database.make(
        "numbered",
        f"SELECT place, u, b.id AS v, w FROM {database.scan('half')} "
        f"JOIN {names} AS b ON t = b.name",
    )
    database.drop("half")
    kind = "whole" if staged.is_whole else "text"
    if kind == "text":
        for batch in database.batches(f"SELECT id FROM {names} ORDER BY name"):
            writer.append("name_order", *arrays_of(batch))
    return Numbered(n, kind, f"SELECT place, u, v, w FROM {database.scan('numbered')}")


def name_of(database: Database, node: int) -> Any:
    """What a node is called."""
    if not database.has("names"):
        return node
    found = database.one(f"SELECT name FROM {database.scan('names')} WHERE id = {node}")
    assert found is not None
    name = found[0]
    if not (isinstance(name, str) and INTEGER.fullmatch(name)):
        return name
    # A number among other names is a name too.
    spelt = f"regexp_full_match(name, {quoted(INTEGER.pattern)})"
    other = database.one(f"SELECT name FROM {database.scan('names')} WHERE NOT {spelt} LIMIT 1")
    return int(name) if other is None else name


def _numbers(edges: str) -> str:
    return f"SELECT place, s::INTEGER AS u, t::INTEGER AS v, w FROM ({edges})"


def _as_they_are(database: Database, staged: Staged, n_nodes: int) -> Numbered:
    """Nodes that are 0 … n-1, whether or not they have an edge."""
    if not staged.is_whole:  # one at least has more digits than any number of nodes
        odd = "starts_with({0}, '-') OR length({0}) > 16"
        ends = " UNION ALL ".join(f"SELECT {end} AS name FROM ({staged.edges})" for end in "st")
        found = database.one(f"SELECT name FROM ({ends}) WHERE {odd.format('name')} LIMIT 1")
        assert found is not None
        require_within(min(0, int(found[0])), max(0, int(found[0])), staged.name, n_nodes)
    row = database.one(f"SELECT min(least(s, t)), max(greatest(s, t)) FROM ({staged.edges})")
    assert row is not None
    require_within(int(row[0]), int(row[1]), staged.name, n_nodes)
    return Numbered(n_nodes, None, _numbers(staged.edges))


def _write_names(
    database: Database, staged: Staged, writer: FolderWriter, order: str
) -> tuple[int, bool]:
    """Write the names in the order of their nodes: how many, and whether they are 0 … n-1."""
    n, n_bytes, is_dense = 0, 0, staged.is_whole
    query = f"SELECT name FROM {database.scan('distinct')} ORDER BY {order}"
    kind = "int64" if staged.is_whole else "large_string"
    with database.writer("names", {"name": kind, "id": "int32"}) as names:
        for batch in database.batches(query):
            count = batch.num_rows
            if n + count > _MOST_NODES:
                raise InputError(
                    f"{staged.name} has more than {_MOST_NODES:,} nodes, which this version cannot "
                    "number"
                )
            places = np.arange(n, n + count, dtype=np.int32)
            if staged.is_whole:
                (numbers,) = arrays_of(batch)
                is_dense = is_dense and bool(np.array_equal(numbers, places))
                writer.append("name_numbers", numbers)
                names.append(numbers, places)
            else:
                texts = database.large_text(batch.column(0))
                _, offsets, text = texts.buffers()
                ends = np.frombuffer(offsets, np.int64)[texts.offset :][: count + 1]
                begin, end = int(ends[0]), int(ends[-1])
                if text is not None:
                    writer.append("name_text", np.frombuffer(text, np.uint8)[begin:end])
                writer.append("name_ends", ends[1:] - begin + n_bytes)
                n_bytes += end - begin
                names.append(texts, places)
            n += count
    return n, is_dense
