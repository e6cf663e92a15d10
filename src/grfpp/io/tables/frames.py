"""Tables of edges (pandas, Polars, Arrow, Parquet, Feather) -> weight matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io.arrays import packages
from grfpp.io.tables.arrow import arrow_file, column_names, edges_of
from grfpp.io.tables.header import columns_of, ends_of
from grfpp.io.tables.options import Column, EdgeListOptions
from grfpp.io.text import naming

SUFFIXES = (".parquet", ".feather", ".arrow")

_MAKERS = {"pandas", "polars", "pyarrow", "modin", "cudf", "dask", "duckdb", "narwhals"}
#: What can be chosen about the edges of a table.
_OPTIONS = ("duplicates", "columns")


@dataclass(frozen=True)
class EdgeFrame:
    """A frame that holds one edge a row, whatever its shape; columns by name or number.

    Without a source and a target they are found by their names.
    """

    frame: Any
    source: Column | None = None
    target: Column | None = None
    weight: Column | None = None

    def columns(self, names: Sequence[Any]) -> tuple[int, ...]:
        """The places of source, target and weight, if there is one."""
        if (self.source is None) != (self.target is None):
            raise InputError("source and target must be given both, or neither")
        if self.source is None or self.target is None:
            if self.weight is None:
                return columns_of(names)
            return columns_of(names, (*ends_of(names), self.weight))
        asked = (self.source, self.target) + (() if self.weight is None else (self.weight,))
        return columns_of(names, EdgeListOptions(columns=asked).columns)


def is_frame(source: Any) -> bool:
    """Tell a frame by what made it, without importing that."""
    if isinstance(source, EdgeFrame):
        return True
    # Of the type: a lazy frame would have to work to answer. An Arrow array has no columns.
    return bool(packages(source) & _MAKERS) and hasattr(type(source), "columns")


def read_frame(
    source: Any, *, directed: bool | None, n_nodes: int | None, options: EdgeListOptions
) -> tuple[Any, Sequence[Any] | None]:
    """Read a frame: of edges, or a square one of pandas whose index is its columns, of weights."""
    plain = options.columns is None and not isinstance(source, EdgeFrame)
    if not isinstance(source, EdgeFrame):
        if plain and _is_matrix(source):
            options.require_only((), "a frame that is a weight matrix")
            return _matrix(source)
        source = EdgeFrame(source)
    options.require_only(_OPTIONS, "frames")
    names, select = _columns(source.frame)
    if plain and names == list(range(len(names))):
        # A square one would be a matrix: what a frame means must not depend on its length.
        raise InputError(
            "the columns of the frame have no names; pass Graph.from_frame(frame, source=0, "
            "target=1) for a list of edges, frame.to_numpy() for a weight matrix"
        )
    chosen = (
        source.columns(names) if options.columns is None else columns_of(names, options.columns)
    )
    table = edges_of(select([names[place] for place in chosen]), "the frame", n_nodes)
    return table.matrix(directed=bool(directed), duplicates=options.duplicates), table.labels


def read_frame_file(
    file: Path,
    name: str,
    suffix: str,
    *,
    directed: bool | None,
    n_nodes: int | None,
    options: EdgeListOptions,
) -> tuple[sp.coo_array, Sequence[Any] | None]:
    """Read the edges of a Parquet or Feather file; only the columns that are needed."""
    options.require_only(_OPTIONS, f"{suffix} files")
    with arrow_file(file, name, suffix) as (names, select):
        with naming(name):
            chosen = columns_of(names, options.columns)
        table = edges_of(select([names[place] for place in chosen]), name, n_nodes)
    return table.matrix(directed=bool(directed), duplicates=options.duplicates), table.labels


def _columns(frame: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """The names of a frame's columns, and what gives some of them as an Arrow table."""
    if "pyarrow" in packages(frame):
        return column_names(frame.schema), frame.select
    from grfpp.imports.optional import require

    if "pandas" in packages(frame) and frame.columns.nlevels > 1:
        raise InputError("the columns of the frame have names of several levels; give each one")
    narwhals = require("narwhals", "reading frames")
    try:
        wrapped = narwhals.from_native(frame)
        if isinstance(wrapped, narwhals.LazyFrame):
            wrapped = wrapped.collect()
        column = narwhals.col  # names need not be text
        return list(wrapped.columns), lambda names: _converted(wrapped, list(map(column, names)))
    except (TypeError, ValueError) as error:
        raise InputError(f"the frame cannot be read: {' '.join(str(error).split())}") from None


def _converted(frame: Any, columns: list[Any]) -> Any:
    from grfpp.imports.optional import require

    require("pyarrow", "reading frames")
    try:
        # Arrow has the index of pandas for a further column.
        return frame.select(columns).to_arrow().select(list(range(len(columns))))
    except Exception as error:  # columns of mixed kinds, each maker in its own words
        told = " ".join(map(str, error.args))
        raise InputError(
            f"the frame cannot be read ({told}); names of nodes must be text or whole numbers, all "
            "of one kind"
        ) from None


def _is_matrix(frame: Any) -> bool:
    """Whether rows and columns of a frame of pandas are called alike."""
    index = getattr(frame, "index", None)
    if "pandas" not in packages(frame) or index is None or frame.shape[0] != frame.shape[1]:
        return False
    # As text: numbers of columns have become text in a frame that was in a file.
    rows, columns = ({str(name) for name in names} for names in (index, frame.columns))
    return rows == columns and len(rows) == len(index) > 0


def _matrix(frame: Any) -> tuple[sp.csr_array, list[Any] | None]:
    place = {str(name): i for i, name in enumerate(frame.columns)}
    frame = frame.iloc[:, [place[str(name)] for name in frame.index]]  # in the order of the rows
    kinds = {getattr(kind, "kind", "O") for kind in frame.dtypes}
    if not kinds <= set("buif"):
        found = ", ".join(sorted({str(kind) for kind in frame.dtypes}))
        raise InputError(f"weights must be real numbers, found a frame of {found}")
    if all(hasattr(kind, "fill_value") for kind in frame.dtypes):
        matrix = sp.csr_array(frame.sparse.to_coo())
    else:
        matrix = sp.csr_array(frame.to_numpy(dtype=np.float64, na_value=np.nan))
    labels = list(frame.index)
    return matrix, None if labels == list(range(len(labels))) else labels
