"""The edges of a list in DuckDB: nodes are numbered and duplicates merged, in memory or on disk.

A reader fills the table ``listed(s, t, w)``: names of the ends of an edge (text or BIGINT) and its
weight, one row per edge in the order of the list. All sources share what follows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp._memory import available_bytes
from grfpp.errors import InputError, InputWarning, warn_user
from grfpp.io.table_options import ListRequest
from grfpp.io.text import one_line
from grfpp.nodes import MAX_LIST_LENGTH, Texts

#: Rows that are fetched at a time: some ten megabytes.
_ROWS_PER_BATCH = 1 << 20
#: Names that are fetched at a time: these become Python objects of 50 bytes and more.
_NAMES_PER_BATCH = 1 << 16
#: Smallest memory of DuckDB, in bytes.
_MIN_MEMORY = 64 * 10**6
#: Node indices are int32.
_MAX_NODES = np.iinfo(np.int32).max
#: Largest number of threads, each of which has its buffers.
_MAX_THREADS = 4
#: Smallest size for several threads: less is read within 0.1 s, and with limited address space
#: starting a thread can end the process.
_BYTES_FOR_THREADS = 1 << 22
#: Parts of messages about a full disk.
_DISK_IS_FULL = (
    "no space left", "disk quota", "file too large", "max_temp_directory_size", "disk is full",
)  # fmt: skip
#: Aggregates of the weights ``w`` of one edge in rows ``p``.
_MERGE = {"sum": "sum(w ORDER BY p)", "max": "max(w)", "first": "arg_min(w, p)"}


@dataclass(frozen=True)
class Origin:
    """The name of a list in messages, and the position of its rows."""

    name: str
    position: Callable[[int], str]


class Database(AbstractContextManager["Database"]):
    """A private DuckDB database in memory, with temporary files for what does not fit.

    Parameters
    ----------
    folder
        Folder of the temporary files.
    memory
        Memory limit of DuckDB in bytes; by default the free memory.
    purpose
        The operation, for messages.
    n_bytes
        Size of the input, if it is known.
    """

    def __init__(
        self, folder: Path, *, purpose: str, memory: int | None = None, n_bytes: int | None = None
    ) -> None:
        import duckdb  # takes 0.1 s

        self.folder, self._purpose, self._errors = folder, purpose, duckdb.Error
        self._memory = memory or max(_MIN_MEMORY, available_bytes())
        is_small = n_bytes is not None and n_bytes < _BYTES_FOR_THREADS
        settings: dict[str, Any] = {
            "memory_limit": f"{self._memory // 1000}KB",
            "threads": 1 if is_small else min(_MAX_THREADS, os.cpu_count() or 1),
            "temp_directory": str(folder / "spilled"),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        with self.duckdb_errors():
            self._connection = duckdb.connect(":memory:", config=settings)
            self._connection.execute("SET enable_progress_bar = false")

    def __exit__(self, *error: object) -> None:
        self._connection.close()

    def run(self, query: str, values: Mapping[str, Any] | None = None) -> Any:
        """Run a query, with values for its parameters."""
        with self.duckdb_errors():
            return self._connection.execute(query, values or {})

    def first(self, query: str, values: Mapping[str, Any] | None = None) -> Any:
        """The first row of the result of a query, as a tuple; ``None`` where it has no rows."""
        result = self.run(query, values)
        with self.duckdb_errors():
            return result.fetchone()

    def one(self, query: str, values: Mapping[str, Any] | None = None) -> Any:
        """The value that a query computes."""
        return self.first(query, values)[0]

    def arrays(self, query: str) -> list[npt.NDArray[Any]]:
        """The columns of the result of a query, none of which has missing values."""
        result = self.run(query)
        with self.duckdb_errors():
            return [np.ma.getdata(column) for column in result.fetchnumpy().values()]

    def batches(
        self, table: str, columns: str, size: int = _ROWS_PER_BATCH
    ) -> Iterator[list[npt.NDArray[Any]]]:
        """The columns of a table in its order, in batches of rows."""
        for start in range(0, self.one(f"SELECT count(*) FROM {table}"), size):
            rows = f"rowid >= {start} AND rowid < {start + size}"
            yield self.arrays(f"SELECT {columns} FROM {table} WHERE {rows}")

    def register(self, name: str, data: Any) -> None:
        """Make an Arrow table or a dictionary of arrays readable as a table."""
        with self.duckdb_errors():
            self._connection.register(name, data)

    @contextmanager
    def duckdb_errors(self) -> Iterator[None]:
        """Convert errors of DuckDB to an `InputError` that names the operation."""
        try:
            yield
        except (self._errors, OSError) as error:
            text = one_line(error)
            if any(part in text.lower() for part in _DISK_IS_FULL):
                raise InputError(f"{self._purpose}: no space left on device ({text})") from None
            if "OutOfMemory" in type(error).__name__ or "Out of Memory" in text:
                problem = f"{self._purpose} needs more than {self._memory} bytes of memory"
                advice = "use grfpp.convert with more memory, which writes to a folder"
                raise InputError(problem, advice=advice) from None
            raise InputError(f"{self._purpose}: {text}") from None


def bad_row(database: Database) -> Any:
    """The first invalid row of ``listed``, ``(row, s, t, w)``, or ``None``."""
    return database.first(
        "SELECT rowid, s, t, w FROM listed WHERE s IS NULL OR t IS NULL "
        "OR NOT coalesce(w >= 0 AND isfinite(w), false) ORDER BY rowid LIMIT 1"
    )


def quoted(identifier: str) -> str:
    """The name of a column as an identifier of SQL.

    Examples
    --------
    >>> quoted('a"b c')
    '"a""b c"'
    """
    return '"' + identifier.replace('"', '""') + '"'


@dataclass(frozen=True)
class Nodes:
    """The nodes of a list: their number and their names.

    `kind` is ``"text"``, ``"whole"`` (sorted numbers), or ``None`` for 0 … n-1. The table ``names``
    holds the names in the order of the nodes.
    """

    database: Database
    n_nodes: int
    kind: str | None

    def name(self, node: int) -> Any:
        """The name of a node."""
        if self.kind is None:
            return node
        return self.database.one(f"SELECT name FROM names WHERE rowid = {node}")

    def labels(self) -> Sequence[Any] | None:
        """The names of all nodes; ``None`` if they are 0 … n-1."""
        if self.kind is None:
            return None
        if self.kind == "whole" or self.n_nodes <= MAX_LIST_LENGTH:
            labels: list[Any] = self.database.arrays("SELECT name FROM names")[0].tolist()
            return labels
        return Texts(*map(np.concatenate, zip(*self.text(), strict=True)))

    def text(self) -> Iterator[tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]]:
        """The names in batches: their bytes in one buffer, and their ends in the whole text."""
        n_bytes = 0
        columns = "name, strlen(name) AS size"
        for names, sizes in self.database.batches("names", columns, _NAMES_PER_BATCH):
            buffer = np.frombuffer("".join(names).encode(), np.uint8)
            yield buffer, np.cumsum(sizes) + n_bytes
            n_bytes += len(buffer)


def number_nodes(
    database: Database, origin: Origin, request: ListRequest, *, is_whole: bool
) -> Nodes:
    """Number the nodes of ``listed``, and create ``numbered(p, a, b, swapped, w)`` from it.

    Integers are numbered in ascending order, and unchanged if they are 0 … n-1; other names in the
    order in which they appear, the source of an edge before its target. With `n_nodes` integers
    must be 0 … n_nodes - 1. ``a <= b`` unless `directed`; ``p`` is the row of the list. `is_whole`
    means that all names are integers, maybe as text.
    """
    n_nodes = request.n_nodes
    cast = "::BIGINT" if is_whole else ""
    columns = f"rowid AS p, s{cast} AS s, t{cast} AS t, w"
    database.run(f"CREATE VIEW edges AS SELECT {columns} FROM listed")
    nodes = _whole_nodes(database, origin, n_nodes) if is_whole else _named_nodes(database, origin)
    if n_nodes is not None and nodes.n_nodes != n_nodes:
        raise InputError(f"n_nodes is {n_nodes}, but {origin.name} has {nodes.n_nodes} nodes")
    ends = "SELECT p, s::INTEGER AS u, t::INTEGER AS v, w FROM edges"
    if nodes.kind is not None:
        ends = (
            "SELECT p, x.rowid::INTEGER AS u, y.rowid::INTEGER AS v, w FROM edges "
            "JOIN names AS x ON s = x.name JOIN names AS y ON t = y.name"
        )
    pair = "least(u, v) AS a, greatest(u, v) AS b, u > v"
    pair = "u AS a, v AS b, false" if request.directed else pair
    database.run(f"CREATE TABLE numbered AS SELECT p, {pair} AS swapped, w FROM ({ends})")
    database.run("DROP VIEW edges")
    database.run("DROP TABLE listed")
    return nodes


def _whole_nodes(database: Database, origin: Origin, n_nodes: int | None) -> Nodes:
    least, largest = database.first("SELECT min(least(s, t)), max(greatest(s, t)) FROM edges")
    if n_nodes is not None:
        if least < 0 or largest >= n_nodes:
            raise outside(origin.name, least, largest, n_nodes)
        return Nodes(database, n_nodes, None)
    ends = "SELECT s AS name FROM edges UNION SELECT t FROM edges"
    database.run(f"CREATE TABLE names AS {ends} ORDER BY name")
    n = _count_nodes(database, origin)
    return Nodes(database, n, None if (least, largest) == (0, n - 1) else "whole")


def outside(name: str, least: int, largest: int, n_nodes: int) -> InputError:
    """Make the error about nodes that are not 0 to ``n_nodes - 1``."""
    node = least if least < 0 else largest
    return InputError(f"{name} names node {node}, but {n_nodes} nodes are 0 to {n_nodes - 1}")


def _named_nodes(database: Database, origin: Origin) -> Nodes:
    ends = "SELECT s AS name, 2 * p AS rank FROM edges UNION ALL SELECT t, 2 * p + 1 FROM edges"
    names = f"SELECT name FROM ({ends}) GROUP BY name ORDER BY min(rank)"
    database.run(f"CREATE TABLE names AS {names}")
    if database.first("SELECT 1 FROM names WHERE contains(name, chr(0)) LIMIT 1") is not None:
        raise InputError(f"{origin.name}: names of nodes must not hold zero bytes")
    return Nodes(database, _count_nodes(database, origin), "text")


def _count_nodes(database: Database, origin: Origin) -> int:
    n: int = database.one("SELECT count(*) FROM names")
    if n > _MAX_NODES:
        raise InputError(f"{origin.name} has {n:,} nodes, and at most 2^31 - 1 can be numbered")
    return n


def merge_edges(database: Database, origin: Origin, request: ListRequest, nodes: Nodes) -> None:
    """Create ``merged(a, b, w)`` from ``numbered``: every edge once, without those of weight 0.

    ``duplicates=None`` sums the weights of an edge, with a warning if all edges are listed in both
    orders, since that doubles every weight. Weights are summed in the order of the list, so that
    the result does not depend on threads.
    """
    duplicates = request.options.duplicates
    repeated = "SELECT a, b, min(p) AS first_p FROM numbered GROUP BY a, b HAVING count(*) > 1"
    database.run(f"CREATE TABLE repeated AS {repeated}")
    if not database.one("SELECT count(*) FROM repeated"):
        database.run("CREATE VIEW merged AS SELECT a, b, w FROM numbered WHERE w <> 0")
        return
    if duplicates == "error":
        raise _listed_again(database, origin, nodes)
    if duplicates is None and not request.directed and _is_mirrored(database):
        warn_of_mirrored(origin.name)
    database.run(
        "CREATE TABLE merged AS SELECT * FROM ("
        "SELECT a, b, w FROM numbered ANTI JOIN repeated USING (a, b) UNION ALL "
        f"SELECT a, b, {_MERGE[duplicates or 'sum']} AS w FROM numbered "
        "SEMI JOIN repeated USING (a, b) GROUP BY a, b) WHERE w <> 0"
    )
    infinite = database.first("SELECT a, b FROM merged WHERE isinf(w) ORDER BY a, b LIMIT 1")
    if infinite is not None:
        raise InputError(f"{origin.name}: weights must be finite, found inf at {infinite}")


def _listed_again(database: Database, origin: Origin, nodes: Nodes) -> InputError:
    row, first_row, a, b, swapped = database.first(
        "SELECT p, first_p, a, b, swapped FROM numbered JOIN repeated USING (a, b) "
        "WHERE p > first_p ORDER BY p LIMIT 1"
    )
    ends = [nodes.name(node) for node in ((b, a) if swapped else (a, b))]
    return listed_again(origin, ends, row, first_row)


def listed_again(origin: Origin, ends: Sequence[Any], row: int, first_row: int) -> InputError:
    """Make the error about an edge in two rows of a list."""
    edge, after = f"the edge {ends[0]!r} - {ends[1]!r}", f"after {origin.position(first_row)}"
    problem = f"{origin.name}, {origin.position(row)}: {edge} is listed again, {after}"
    advice = "pass duplicates='sum', duplicates='max' or duplicates='first'"
    return InputError(problem, advice=advice)


def warn_of_mirrored(name: str) -> None:
    """Warn that every edge is listed in both orders, so that sums double all weights."""
    problem = f"{name} lists every edge in both orders with the same weight, and the two are summed"
    advice = "pass duplicates='max' to count each edge once, or 'sum' to keep the sums"
    warn_user(InputWarning(problem, advice=advice))


def _is_mirrored(database: Database) -> bool:
    """Whether every edge is listed equally often in both orders, with the same weights."""
    between = "FROM numbered WHERE a <> b"
    even = "2 * count(*) FILTER (swapped) = count(*)"
    if not database.one(f"SELECT count(*) > 0 AND {even} {between}"):  # fast, and usually enough
        return False
    groups = f"{between} GROUP BY a, b, w HAVING NOT ({even})"
    return database.first(f"SELECT 1 {groups} LIMIT 1") is None
