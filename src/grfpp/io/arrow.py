"""Arrow tables of two or three columns -> edges, weights and the names of nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from grfpp.errors import InputError
from grfpp.io.edge_table import EdgeTable
from grfpp.io.labels import in_order, number_labels, number_whole
from grfpp.memory import require_bytes
from grfpp.typing import AnyInts, FloatArray, IntArray

#: From the columns of a file to a matrix, at least: both ends, the weight, and what is sorted.
_BYTES_PER_ROW = 100


#: What pandas calls the column of such an index.
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")


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
                yield _parquet(pyarrow, parquet, stream, name)
            else:
                yield _feather(pyarrow, stream, name)
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, KeyError) as error:
        raise InputError(f"{name} is truncated, or not a {suffix} file: {error}") from None
    finally:
        pyarrow.default_memory_pool().release_unused()


def _feather(pyarrow: Any, stream: Any, name: str) -> tuple[list[str], Callable[[list[str]], Any]]:
    schema = pyarrow.ipc.open_file(stream).schema

    def read(names: list[str]) -> Any:
        places = sorted(schema.get_field_index(each) for each in names)
        options = pyarrow.ipc.IpcReadOptions(included_fields=places)
        reader = pyarrow.ipc.open_file(stream, options=options)
        batches = []
        for number in range(reader.num_record_batches):
            batches.append(reader.get_batch(number))
            rows = sum(each.num_rows for each in batches)
            require_bytes(_BYTES_PER_ROW * rows, f"{rows} rows of {name}")
        return pyarrow.Table.from_batches(batches, reader.schema).select(names)

    return column_names(schema), read


def _parquet(
    pyarrow: Any, parquet: Any, stream: Any, name: str
) -> tuple[list[str], Callable[[list[str]], Any]]:
    source = parquet.ParquetFile(stream)
    # Not by their bytes: those of equal numbers are next to nothing in the file.
    rows = source.metadata.num_rows
    require_bytes(_BYTES_PER_ROW * rows, f"{rows} rows of {name}")
    schema = source.schema_arrow

    def read(names: list[str]) -> Any:
        # Names of nodes stand there once each, and are not repeated in memory either.
        texts = [each for each in names[:2] if _is_text(pyarrow.types, schema.field(each).type)]
        return parquet.ParquetFile(stream, read_dictionary=texts).read(names)

    return column_names(schema), read


def column_names(schema: Any) -> list[str]:
    """The columns of a table, but for an index of pandas that has no name."""
    return [name for name in schema.names if not _UNNAMED_INDEX.fullmatch(name)]


def edges_of(table: Any, origin: str, n_nodes: int | None) -> EdgeTable:
    """Read a table with columns source, target and perhaps weight."""
    from grfpp.imports.optional import require

    pyarrow = require("pyarrow", "reading frames")
    try:
        table.validate(full=True)  # compiled code trusts its offsets and codes from here on
    except pyarrow.ArrowInvalid as error:
        raise InputError(f"{origin} is a malformed table: {error}") from None
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
    ends, labels = _numbered(pyarrow, source.values, target.values)
    if any("\0" in label for label in labels):
        raise InputError(f"{origin}: names of nodes must not hold zero bytes, which files drop")
    return EdgeTable(ends, weights, len(labels), labels, origin, _row)


def _numbered(pyarrow: Any, source: Any, target: Any) -> tuple[AnyInts, list[str]]:
    """Number names in the order of the edges."""
    if source.type != target.type:
        source, target = (each.cast(pyarrow.large_string()) for each in (source, target))
    joined = pyarrow.chunked_array([*source.chunks, *target.chunks])
    if pyarrow.types.is_dictionary(joined.type):
        joined = joined.unify_dictionaries()
    else:
        joined = joined.dictionary_encode()  # one dictionary for all chunks
    codes = _to_numpy(chunk.indices for chunk in joined.chunks)
    names = joined.chunk(0).dictionary.to_pylist()
    if len(set(names)) < len(names):  # in a dictionary that somebody has made by hand
        codes, names = _merged(codes, names)
    ends, order = in_order(codes.reshape(2, -1))
    return ends, [names[i] for i in order.tolist()]


def _merged(codes: AnyInts, names: list[str]) -> tuple[AnyInts, list[str]]:
    places, labels = number_labels(names)
    return places[codes], labels


def _row(number: int) -> str:
    return f"row {number}"


class _Column:
    """A column without missing values."""

    def __init__(self, pyarrow: Any, table: Any, place: int, origin: str) -> None:
        self._pyarrow, self._origin = pyarrow, origin
        self.name, self.values = table.column_names[place], table.column(place)
        if isinstance(self.values, pyarrow.Array):
            self.values = pyarrow.chunked_array([self.values])
        types, kind = pyarrow.types, self.values.type
        if types.is_dictionary(kind):  # a category
            kind = kind.value_type
            if not _is_text(types, kind) or any(
                chunk.dictionary.null_count for chunk in self.values.chunks
            ):
                self.values = self.values.cast(kind)
        if self.values.null_count:
            missing = self.values.is_null().to_numpy()
            raise self._refusal("is missing", int(np.flatnonzero(missing)[0]))
        self.is_text = _is_text(types, kind)

    def _refusal(self, what: str, row: int) -> InputError:
        return InputError(f"{self._origin}, row {row}: column {self.name!r} {what}")

    def whole(self) -> IntArray:
        kind, types = self.values.type, self._pyarrow.types
        if types.is_floating(kind):  # what pandas makes of whole numbers beside missing ones
            values = _to_numpy(self.values.chunks)
            odd = np.flatnonzero(~(np.isfinite(values) & (values == np.floor(values))))
            if len(odd):
                raise self._refusal(f"holds {values[odd[0]]}, no name of a node", int(odd[0]))
        elif not types.is_integer(kind):
            raise InputError(
                f"{self._origin}: column {self.name!r} holds {kind}; names of nodes must be text "
                "or whole numbers"
            )
        try:
            numbers: IntArray = _to_numpy(self.values.cast(self._pyarrow.int64()).chunks)
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
        values: FloatArray = _to_numpy(self.values.cast(self._pyarrow.float64(), safe=False).chunks)
        bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
        if len(bad):
            what = f"holds {values[bad[0]]}; weights must be finite and not negative"
            raise self._refusal(what, int(bad[0]))
        return values


def _to_numpy(chunks: Iterable[Any]) -> Any:
    """Join chunks of numbers, none of them missing."""
    # Their own method imports pandas, which takes longer than all else.
    return np.concatenate([np.from_dlpack(chunk) for chunk in chunks if len(chunk)])


def _is_text(types: Any, kind: Any) -> bool:
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or (hasattr(types, "is_string_view") and types.is_string_view(kind))
    )
