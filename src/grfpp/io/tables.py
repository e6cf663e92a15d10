"""Edge lists (text, Parquet, Feather, data frames, tuples) -> weight matrices, through DuckDB.

Every reader fills the table ``listed`` of a private database; `grfpp.io.table_sql` does the rest.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp._imports import require
from grfpp._memory import require_bytes
from grfpp.errors import InputError, shown
from grfpp.io import table_options
from grfpp.io import table_sql as sql
from grfpp.io.matrices import arcs, packages, real_numbers, undirected
from grfpp.io.packed import check_size, size_limit
from grfpp.io.table_options import Column, EdgeListOptions, ListFile, ListRequest
from grfpp.io.table_sql import Database, Origin
from grfpp.io.table_text import TEXT_SUFFIXES, Report, copy_text
from grfpp.io.text import errors_about, input_errors

BINARY_SUFFIXES = (".parquet", ".feather", ".arrow")
SUFFIXES = (*TEXT_SUFFIXES, *BINARY_SUFFIXES)

#: Smallest memory of a row: both ends and the weight in a table, numbered, sorted, in the matrix.
_BYTES_PER_ROW = 100
#: Packages with data frames.
_FRAME_PACKAGES = {"pandas", "polars", "pyarrow", "duckdb"}
_FRAME_OPTIONS = ("duplicates", "columns")
#: Names that pandas gives columns of an index without a name.
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
#: The name of a list of tuples in messages.
_TUPLES = Origin("the list of edges", lambda row: f"number {row}")
#: Numeric types of DuckDB.
_NUMBERS = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$|FLOAT$|DOUBLE$|BOOLEAN$|DECIMAL")

MatrixAndLabels = tuple[Any, Sequence[Any] | None]
#: Fills the table ``listed``, and returns whether all nodes are whole numbers.
Loader = Callable[[Database], bool]


def read_list_file(file: ListFile, request: ListRequest) -> MatrixAndLabels:
    """Read an edge list from a file: its weight matrix, and the names of its nodes."""
    n_bytes = file.path.stat().st_size
    if file.suffix in TEXT_SUFFIXES:
        check_size(n_bytes, file.name)
    with tempfile.TemporaryDirectory(prefix="grfpp-") as folder:
        origin, load = open_list(file, request.options, Path(folder), in_memory=True)
        return _matrix(origin, load, Path(folder), request, n_bytes)


def open_list(
    file: ListFile,
    options: EdgeListOptions,
    folder: Path,
    *,
    in_memory: bool = False,
    report: Report = lambda done, total: None,
) -> tuple[Origin, Loader]:
    """Open an edge list: its name in messages, and a function that loads it into a database.

    Parameters
    ----------
    folder
        Folder for temporary files.
    in_memory
        Whether the list must fit into memory.
    report
        Called with the number of bytes of a text that were read, and that of all.
    """
    if file.suffix in BINARY_SUFFIXES:
        options.require_only(_FRAME_OPTIONS, f"{file.suffix} files")
        read = _load_parquet if file.suffix == ".parquet" else _load_feather
        origin = Origin(file.name, lambda row: f"row {row}")
        return origin, lambda database: read(database, file, options, in_memory)
    limit = size_limit() if in_memory else None
    text = copy_text(file, options, folder, limit=limit, report=report)
    if in_memory:
        require_bytes(_BYTES_PER_ROW * text.n_lines, f"reading {file.name}")
    return text.origin, text.load


def _matrix(
    origin: Origin, load: Loader, folder: Path, request: ListRequest, n_bytes: int | None = None
) -> MatrixAndLabels:
    """Load a list into a database, number its nodes, merge repeated edges, and make the matrix."""
    with Database(folder, purpose=f"reading {origin.name}", n_bytes=n_bytes) as database:
        nodes = sql.number_nodes(database, origin, request, is_whole=load(database))
        labels = nodes.labels()
        sql.merge_edges(database, origin, request, nodes)
        rows, columns, weights = database.arrays("SELECT a, b, w FROM merged")
    made = arcs if request.directed else undirected
    return made(rows, columns, weights, nodes.n_nodes), labels


def edge_columns(
    frame: Any, source: Column | None, target: Column | None, weight: Column | None
) -> tuple[Any, tuple[Column, ...]]:
    """A frame with one edge per row, and its columns of source, target and weight, if any.

    Without a source and a target they are inferred from the names of the columns.
    """
    if (source is None) != (target is None):
        raise InputError("must be given both, or neither", argument="source and target")
    table, names = _with_names(frame)
    if source is None and weight is None:
        return table, table_options.columns_of(names)
    ends: Any = table_options.ends_of(names) if source is None else (source, target)
    return table, ends if weight is None else (*ends, weight)


def is_frame(source: Any) -> bool:
    """Recognise a data frame by the package of its type, without importing that."""
    # Of the type: a lazy frame would have to compute its columns. An Arrow array has none.
    return bool(packages(source) & _FRAME_PACKAGES) and hasattr(type(source), "columns")


def read_frame(source: Any, request: ListRequest) -> MatrixAndLabels:
    """Read a frame of edges, or a weight matrix: a frame of pandas whose index is its columns."""
    options = request.options
    if options.columns is None and _is_matrix(source):
        options.require_only((), "a frame that is a weight matrix")
        return _matrix_of_frame(source)
    options.require_only(_FRAME_OPTIONS, "frames")
    frame, names = _with_names(source)
    if options.columns is None and names == list(range(len(names))):
        # A square one would be a matrix: the meaning of a frame must not depend on its length.
        advice = "pass Graph.from_frame(frame, 0, 1) for edges, frame.to_numpy() for a matrix"
        raise InputError("the columns of the frame have no names", advice=advice)
    chosen = table_options.columns_of(names, options.columns)
    names = [names[i] for i in chosen]
    origin = Origin("the frame", lambda row: f"row {row}")

    def load(database: Database) -> bool:
        columns = [f"c{i}" for i in range(len(names))]
        table = _arrow_columns(frame, chosen).rename_columns(columns)
        database.register("frame", _validated(table, origin.name))
        return _load_columns(database, "frame", {}, columns, origin.name, names)

    with tempfile.TemporaryDirectory(prefix="grfpp-") as folder:
        return _matrix(origin, load, Path(folder), request)


def _with_names(frame: Any) -> tuple[Any, list[Any]]:
    """A frame of pandas as it is, another as an Arrow table, and the names of its columns."""
    pyarrow = require("pyarrow", "reading frames")
    if "pandas" in packages(frame):
        if frame.columns.nlevels > 1:
            problem = f"the columns of the frame have names of {frame.columns.nlevels} levels"
            raise InputError(problem, advice="give them names of one level")
        return frame, list(frame.columns)
    table = frame.collect() if hasattr(frame, "collect") else frame
    if not isinstance(table, pyarrow.Table):  # of another library, by Arrow's interface
        table = pyarrow.table(table)
    return table, _named_columns(table.schema.names)


def _arrow_columns(frame: Any, chosen: Sequence[int]) -> Any:
    """Some columns of a frame of pandas, without its index, or of an Arrow table."""
    pyarrow = require("pyarrow", "reading frames")
    if isinstance(frame, pyarrow.Table):
        return frame.select(list(chosen))
    problem = "the frame cannot be read (names of nodes must be all text or all numbers)"
    with input_errors(problem, pyarrow.ArrowException, ValueError, TypeError):
        return pyarrow.Table.from_pandas(frame.iloc[:, list(chosen)], preserve_index=False)


def _validated(table: Any, name: str) -> Any:
    """Check the offsets and codes of Arrow data, on which compiled code relies."""
    with input_errors(f"{name} is a malformed table"):
        table.validate(full=True)
    return table


def _is_matrix(frame: Any) -> bool:
    """Whether rows and columns of a frame of pandas have the same names."""
    index = getattr(frame, "index", None)
    if "pandas" not in packages(frame) or index is None or frame.shape[0] != frame.shape[1]:
        return False
    # As text: files turn column names that are numbers into text.
    rows, columns = ({str(name) for name in names} for names in (index, frame.columns))
    return rows == columns and len(rows) == len(index) > 0


def _matrix_of_frame(frame: Any) -> tuple[sp.csr_array, list[Any] | None]:
    position = {str(name): i for i, name in enumerate(frame.columns)}
    frame = frame.iloc[:, [position[str(name)] for name in frame.index]]  # in the order of rows
    if not {getattr(dtype, "kind", "O") for dtype in frame.dtypes} <= set("buif"):
        types = ", ".join(sorted({str(dtype) for dtype in frame.dtypes}))
        raise InputError(f"weights must be real numbers, found a frame of {types}")
    if all(hasattr(dtype, "fill_value") for dtype in frame.dtypes):
        matrix = sp.csr_array(frame.sparse.to_coo())
    else:
        matrix = sp.csr_array(frame.to_numpy(dtype=np.float64, na_value=np.nan))
    labels = list(frame.index)
    return matrix, None if labels == list(range(len(labels))) else labels


def is_edge_tuples(source: Any) -> bool:
    """Whether a source is a list of edges: a list of tuples is never a matrix."""
    return isinstance(source, list) and any(isinstance(edge, tuple) for edge in source)


def read_edge_tuples(edges: Sequence[Any], request: ListRequest) -> MatrixAndLabels:
    """Read a list of tuples ``(u, v)`` or ``(u, v, weight)``.

    Without a database: opening one takes 50 ms, as long as reading 50,000 edges here.
    """
    directed, n_nodes, options = request
    options.require_only(("duplicates",), "lists of edges")
    for edge in edges:
        if not isinstance(edge, tuple) or not 2 <= len(edge) == len(edges[0]) <= 3:
            problem = f"edges must be all (u, v) or all (u, v, weight), found {shown(edge)}"
            advice = "pass a weight matrix as a list of lists or as an array"
            raise InputError(problem, advice=advice)
    listed = [edge[2] if len(edge) == 3 else 1.0 for edge in edges]
    weights = real_numbers(listed, lambda i: f"the edge {edges[i][:2]!r}")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise InputError(f"weights must be finite and not negative, found {edges[bad[0]]!r}")
    names = [end for edge in edges for end in edge[:2]]
    index = _tuple_nodes(names, n_nodes)
    is_plain = all(name == i for name, i in index.items())
    n = n_nodes if is_plain and n_nodes is not None else len(index)
    u, v = np.array([index[name] for name in names], np.int64).reshape(-1, 2).T
    keys = u * n + v if directed else np.minimum(u, v) * n + np.maximum(u, v)
    merged, first, group = np.unique(keys, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[group] < np.arange(len(edges)))
    if options.duplicates == "error" and len(again):
        row = int(again[0])
        raise sql.listed_again(_TUPLES, edges[row][:2], row, int(first[group[row]]))
    values = weights[first]
    if options.duplicates == "max":
        np.maximum.at(values, group, weights)
    elif options.duplicates != "first":
        values = np.bincount(group, weights).astype(np.float64)  # in the order of the list
    direction = np.sign(v - u)
    if options.duplicates is None and not directed and direction.any() and not direction.sum():
        _, edge_class = np.unique([group, weights], axis=1, return_inverse=True)
        if not np.bincount(edge_class.reshape(-1), direction).any():
            sql.warn_of_mirrored(_TUPLES.name)
    matrix = (arcs if directed else undirected)(*np.divmod(merged, n), values, n)
    return matrix, None if is_plain else list(index)


def _tuple_nodes(ends: list[Any], n_nodes: int | None) -> dict[Any, int]:
    """The nodes at the ends of edges and their indices, as of `number_nodes`."""
    if all(isinstance(end, str) for end in ends):
        return {name: i for i, name in enumerate(dict.fromkeys(ends))}
    for end in ends:
        if isinstance(end, bool | np.bool_) or not isinstance(end, int | np.integer):
            raise InputError(f"nodes must be all text or all whole numbers, found {end!r}")
    least, largest = int(min(ends)), int(max(ends))
    if max(-least, largest) >= 1 << 63:
        raise InputError("nodes must be integers of 64 bits", advice="pass them as text")
    if n_nodes is None:
        return {number: i for i, number in enumerate(sorted(set(map(int, ends))))}
    if least < 0 or largest >= n_nodes:
        raise sql.outside(_TUPLES.name, least, largest, n_nodes)
    return {number: number for number in set(map(int, ends))}


def _load_parquet(
    database: Database, file: ListFile, options: EdgeListOptions, in_memory: bool
) -> bool:
    path = {"path": str(file.path)}
    with errors_about(f"{file.name} is truncated, or not a .parquet file"):
        rows = database.run("DESCRIBE SELECT * FROM read_parquet($path)", path).fetchall()
    if in_memory:  # by rows, since equal numbers are compressed in the file
        n_rows = database.one("SELECT num_rows FROM parquet_file_metadata($path)", path)
        require_bytes(_BYTES_PER_ROW * n_rows, f"{n_rows} rows of {file.name}")
    names = _chosen([row[0] for row in rows], file, options)
    return _load_columns(database, "read_parquet($path)", path, names, file.name)


def _load_feather(
    database: Database, file: ListFile, options: EdgeListOptions, in_memory: bool
) -> bool:
    pyarrow = require("pyarrow", "reading Feather files")
    problem = f"{file.name} is truncated, or not a {file.suffix} file"
    with input_errors(problem), pyarrow.OSFile(str(file.path)) as stream:
        reader = pyarrow.ipc.open_file(stream)
        names = _chosen(reader.schema.names, file, options)
        schema = pyarrow.schema([reader.schema.field(name) for name in names])

        def batches() -> Iterator[Any]:
            for i in range(reader.num_record_batches):
                yield _validated(reader.get_batch(i).select(names), file.name)

        # Checks all batches first: an error within a scan would lose its class.
        n_rows = sum(batch.num_rows for batch in batches())
        if in_memory:
            require_bytes(_BYTES_PER_ROW * n_rows, f"{n_rows} rows of {file.name}")
        database.register("frame", pyarrow.RecordBatchReader.from_batches(schema, batches()))
        return _load_columns(database, "frame", {}, names, file.name)


def _chosen(names: Sequence[str], file: ListFile, options: EdgeListOptions) -> list[str]:
    """The names of the columns of source, target and weight, if there is one."""
    names = _named_columns(names)
    with errors_about(file.name):
        return [names[i] for i in table_options.columns_of(names, options.columns)]


def _named_columns(names: Sequence[str]) -> list[str]:
    """Column names without those that pandas generates for an index."""
    return [name for name in names if not _UNNAMED_INDEX.fullmatch(name)]


def _load_columns(
    database: Database,
    table: str,
    values: dict[str, Any],
    columns: Sequence[str],
    origin: str,
    names: Sequence[Any] | None = None,
) -> bool:
    """Fill ``listed`` with columns of a table; return whether nodes are whole numbers.

    `names` are the names of the columns in messages.
    """
    names = names or columns
    selected = ", ".join(map(sql.quoted, columns))
    described = database.run(f"DESCRIBE SELECT {selected} FROM {table}", values).fetchall()
    types = [row[1] for row in described]
    parts = [_end(sql.quoted(columns[i]), types[i]) for i in (0, 1)]
    is_text = [kind == "VARCHAR" for kind in types[:2]]
    if None in parts or is_text[0] != is_text[1]:
        problem = f"columns {names[0]!r} and {names[1]!r} hold {types[0]} and {types[1]}"
        raise InputError(f"{origin}: {problem}; nodes are all text, or all whole numbers")
    if len(types) == 3 and not _NUMBERS.match(types[2]):
        advice = "pass only the columns of source and target if it is not the weight"
        problem = f"{origin}: column {names[2]!r} holds {types[2]}; weights must be real numbers"
        raise InputError(problem, advice=advice)
    weight = f"{sql.quoted(columns[2])}::DOUBLE" if len(columns) == 3 else "1.0::DOUBLE"
    selected = f"{parts[0]} AS s, {parts[1]} AS t, {weight} AS w"
    database.run(f"CREATE TABLE listed AS SELECT {selected} FROM {table}", values)
    if not database.one("SELECT count(*) FROM listed"):
        raise InputError(f"{origin} holds no edges: it has no rows")
    if (row := sql.bad_row(database)) is not None:
        number, *values_of_row = row
        column = next((i for i, value in enumerate(values_of_row) if value is None), 2)
        form = "finite and not negative" if column == 2 else "a whole number or text"
        problem = f"column {names[column]!r} must be {form}, found {values_of_row[column]}"
        raise InputError(f"{origin}, row {number}: {problem}")
    return not is_text[0]


def _end(column: str, kind: str) -> str | None:
    """SQL for the names in a column, as text or BIGINT; ``None`` for other types."""
    if kind == "VARCHAR":
        return column
    if kind in ("FLOAT", "DOUBLE"):  # the type of integers with missing values in pandas
        return f"CASE WHEN {column} = floor({column}) THEN try_cast({column} AS BIGINT) END"
    is_whole = _NUMBERS.match(kind) and kind != "BOOLEAN" and not kind.startswith("DEC")
    return f"try_cast({column} AS BIGINT)" if is_whole else None
