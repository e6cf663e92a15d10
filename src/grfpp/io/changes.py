"""Files with changes of edges (text, Parquet) -> `Changes`, through DuckDB."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from grfpp.errors import InputError, shown
from grfpp.io.files import known_file
from grfpp.io.table_options import columns_of
from grfpp.io.table_sql import Database, quoted
from grfpp.nodes import NodeNames
from grfpp.updates import OPERATIONS, Changes

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet")
#: The column with what is done to an edge.
_OPERATION = "operation"
#: Line of a text that holds its first row: the names of the columns are above it.
_FIRST_LINE = 2


def read_changes(source: str | Path, names: NodeNames) -> Changes:
    """Read a file of changes, whose columns are operation, source, target and weight.

    Operations are ``add``, ``remove`` and ``reweight``. Without a weight, or where it is empty, an
    edge is added with weight 1.
    """
    path, suffix = known_file(source)
    if suffix not in SUFFIXES or path.suffix.lower() not in (suffix, ".gz"):
        problem = f"cannot read {source}: changes are {', '.join(SUFFIXES)} files"
        raise InputError(problem, advice="these may be packed as .gz, but for .parquet")
    is_text = suffix != ".parquet"
    read = (
        "read_csv($path, header = true, all_varchar = true)" if is_text else "read_parquet($path)"
    )
    values = {"path": str(path)}
    with (
        tempfile.TemporaryDirectory(prefix="grfpp-") as folder,
        Database(
            Path(folder), purpose=f"reading {source}", n_bytes=path.stat().st_size
        ) as database,
    ):
        listed = database.run(f"DESCRIBE SELECT * FROM {read}", values).fetchall()
        columns = [row[0] for row in listed]
        operation = next((c for c in columns if c.strip().lower() == _OPERATION), None)
        if operation is None:
            problem = f"{source} has no column {_OPERATION!r}, found {', '.join(columns)}"
            raise InputError(problem, advice=f"it says {', '.join(OPERATIONS)} for each edge")
        others = [column for column in columns if column != operation]
        chosen = [others[at] for at in columns_of(others)]
        parts = [f"trim({quoted(c)}::VARCHAR)" for c in (operation, *chosen)]
        parts += ["NULL"] * (4 - len(parts))
        selected = ", ".join(f"{part} AS {name}" for part, name in zip(parts, "ostw", strict=True))
        database.run(f"CREATE TABLE changes AS SELECT {selected} FROM {read}", values)
        _check(database, f"{source}, {'line' if is_text else 'row'}", _FIRST_LINE * is_text, names)
        weight = "coalesce(try_cast(w AS DOUBLE), 1.0)"
        kind = "VARCHAR" if names.kind == "text" else "BIGINT"
        ends = f"s::{kind} AS s, t::{kind} AS t"
        arrays = database.arrays(f"SELECT lower(o) AS o, {ends}, {weight} AS w FROM changes")
    operations, *rest = arrays
    return Changes.of_columns(names, operations, *rest)


def _check(database: Database, place: str, first: int, names: NodeNames) -> None:
    """Refuse the first row that is no change of an edge."""
    known = ", ".join(f"'{operation}'" for operation in OPERATIONS)
    is_name = "nullif({0}, '') IS NOT NULL"
    if names.kind != "text":
        is_name = "try_cast({0} AS BIGINT) IS NOT NULL"
    good = "try_cast(w AS DOUBLE) > 0 AND isfinite(try_cast(w AS DOUBLE))"
    no_weight = "(lower(o) = 'add' AND nullif(w, '') IS NULL)"
    wrong: dict[str, str] = {
        f"the operation must be {', '.join(OPERATIONS)}": f"coalesce(lower(o) IN ({known}), false)",
        "source must be the name of a node": is_name.format("s"),
        "target must be the name of a node": is_name.format("t"),
        "the weight must be positive and finite": (
            f"lower(o) = 'remove' OR {no_weight} OR coalesce({good}, false)"
        ),
    }
    for (problem, condition), column in zip(wrong.items(), "ostw", strict=True):
        query = (
            f"SELECT rowid, {column} FROM changes WHERE NOT ({condition}) ORDER BY rowid LIMIT 1"
        )
        bad: Any = database.first(query)
        if bad is not None:
            found = "nothing" if bad[1] is None else shown(bad[1])
            raise InputError(f"{place} {bad[0] + first}: {problem}, found {found}")
