"""Arrow tables of two or three columns -> edges, weights and the names of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from grfpp.errors import InputError
from grfpp.io.edge_table import EdgeTable
from grfpp.io.labels import in_order, number_whole
from grfpp.memory import require_bytes
from grfpp.typing import FloatArray, IntArray


@contextmanager
def arrow_file(
    file: Path, name: str, suffix: str
) -> Iterator[tuple[list[str], Callable[[list[str]], Any]]]:
    """Open a Parquet or Feather file: the names of its columns, and what reads some of them."""
    from grfpp.imports.optional import require

    pyarrow = require("pyarrow", f"reading {suffix} files")
    parquet = require("pyarrow.parquet", f"reading {suffix} files")
    try:
        with pyarrow.OSFile(str(file)) as stream:
            if suffix == ".parquet":
                source = parquet.ParquetFile(stream)
                groups = map(source.metadata.row_group, range(source.metadata.num_row_groups))
                require_bytes(sum(each.total_byte_size for each in groups), f"{name} unpacked")
                yield list(source.schema_arrow.names), source.read
            else:
                table = pyarrow.ipc.open_file(stream).read_all()
                yield list(table.schema.names), table.select
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, KeyError) as error:
        raise InputError(f"{name} is truncated, or not a {suffix} file: {error}") from None


def edges_of(table: Any, origin: str, n_nodes: int | None) -> EdgeTable:
    """Read a table with columns source, target and perhaps weight."""
    from grfpp.imports.optional import require

    pyarrow = require("pyarrow", "reading frames")
    if table.num_rows == 0:
        raise InputError(f"{origin} holds no edges: it has no rows")
    columns = [_Column(pyarrow, table, place, origin) for place in range(table.num_columns)]
    source, target = columns[:2]
    weights = columns[2].weights() if len(columns) == 3 else np.ones(table.num_rows)
    if source.is_text != target.is_text:
        raise InputError(
            f"{origin}: column {source.name!r} holds {source.values.type}, column {target.name!r} "
            f"{target.values.type}; make both text, or both whole numbers"
        )
    if not source.is_text:
        whole = np.stack([source.whole(), target.whole()])
        ends, n, numbers = number_whole(whole, origin, n_nodes)
        return EdgeTable(ends, weights, n, numbers, origin, _row)
    names = pyarrow.chunked_array([*source.texts().chunks, *target.texts().chunks])
    coded = names.dictionary_encode().combine_chunks()
    if isinstance(coded, pyarrow.ChunkedArray):  # as older versions give it
        coded = coded.unify_dictionaries().chunk(0)
    ends, order = in_order(coded.indices.to_numpy(zero_copy_only=False).reshape(2, -1))
    labels = coded.dictionary.take(pyarrow.array(order)).to_pylist()
    return EdgeTable(ends, weights, len(labels), labels, origin, _row)


def _row(number: int) -> str:
    return f"row {number}"


class _Column:
    """A column without missing values."""

    def __init__(self, pyarrow: Any, table: Any, place: int, origin: str) -> None:
        self._pyarrow, self._origin = pyarrow, origin
        self.name, self.values = table.column_names[place], table.column(place)
        if isinstance(self.values, pyarrow.Array):
            self.values = pyarrow.chunked_array([self.values])
        types = pyarrow.types
        if types.is_dictionary(self.values.type):  # a category
            self.values = self.values.cast(self.values.type.value_type)
        if self.values.null_count:
            missing = self.values.is_null().to_numpy(zero_copy_only=False)
            raise self._refusal("is missing", np.flatnonzero(missing)[0])
        kind = self.values.type
        self.is_text = types.is_string(kind) or types.is_large_string(kind) or (
            hasattr(types, "is_string_view") and types.is_string_view(kind)
        )  # fmt: skip

    def _refusal(self, what: str, row: int) -> InputError:
        return InputError(f"{self._origin}, row {row}: column {self.name!r} {what}")

    def texts(self) -> Any:
        return self.values.cast(self._pyarrow.large_string())

    def whole(self) -> IntArray:
        kind, types = self.values.type, self._pyarrow.types
        if types.is_floating(kind):  # what pandas makes of whole numbers beside missing ones
            values = self.values.to_numpy()
            odd = np.flatnonzero(~(np.isfinite(values) & (values == np.floor(values))))
            if len(odd):
                raise self._refusal(f"holds {values[odd[0]]}, no name of a node", int(odd[0]))
        elif not types.is_integer(kind):
            raise InputError(
                f"{self._origin}: column {self.name!r} holds {kind}; names of nodes must be text "
                "or whole numbers"
            )
        try:
            numbers: IntArray = self.values.cast(self._pyarrow.int64()).to_numpy()
        except self._pyarrow.ArrowInvalid as error:
            raise InputError(f"{self._origin}: column {self.name!r}: {error}") from None
        return numbers

    def weights(self) -> FloatArray:
        kind, types = self.values.type, self._pyarrow.types
        if not (
            types.is_integer(kind)
            or types.is_floating(kind)
            or types.is_decimal(kind)
            or types.is_boolean(kind)
        ):
            raise InputError(
                f"{self._origin}: column {self.name!r} holds {kind}; weights must be real numbers "
                "(give the columns of source and target alone if it is no weight)"
            )
        values: FloatArray
        values = self.values.cast(self._pyarrow.float64(), safe=False).to_numpy()
        bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
        if len(bad):
            what = f"holds {values[bad[0]]}; weights must be finite and not negative"
            raise self._refusal(what, int(bad[0]))
        return values
