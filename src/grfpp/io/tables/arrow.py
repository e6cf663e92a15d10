"""Arrow tables of two or three columns -> edges, weights and the names of nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from grfpp.errors import InputError
from grfpp.io.tables.edge_table import EdgeTable
from grfpp.io.tables.labels import distinct_pieces, in_order, number_whole
from grfpp.io.tables.texts import texts_at
from grfpp.io.tables.words import Words
from grfpp.memory import require_bytes
from grfpp.typing import AnyInts, FloatArray, IntArray

#: From the columns of a file to a matrix, at least: both ends, the weight, and what is sorted.
_BYTES_PER_ROW = 100
_BATCH = 1 << 16


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
        # Names that repeat stand there once, and are not repeated in memory either. Each column
        # by itself: what is needed to unpack them is given back before the next.
        columns = []
        for each in names:
            is_name = each in names[:2] and _is_text(pyarrow.types, schema.field(each).type)
            first = _first_of(source, each) if is_name else None
            texts = [each] if first is not None and _repeats(first, rows) else []
            reader = parquet.ParquetFile(stream, read_dictionary=texts, pre_buffer=False)
            columns.append(reader.read([each], use_threads=False).column(0))
            pyarrow.default_memory_pool().release_unused()
        return pyarrow.table(columns, names=names)

    return column_names(schema), read


def _first_of(source: Any, name: str) -> Any:
    """The first rows of a column; none of them where there are none."""
    batches = source.iter_batches(_BATCH, columns=[name], use_threads=False)
    return next((batch.column(0) for batch in batches), None)


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
    columns = [EdgeColumn(pyarrow, table, place, origin) for place in range(table.num_columns)]
    source, target = columns[:2]
    weights = columns[2].weights() if len(columns) == 3 else np.ones(table.num_rows)
    require_one_kind(source, target, origin)
    if not source.is_text:
        whole = np.stack([source.whole(), target.whole()])
        ends, n, numbers = number_whole(whole, origin, n_nodes)
        return EdgeTable(ends, weights, n, numbers, origin, _row)
    names = [source.values, target.values]
    del table, columns, source, target  # there will be copies of what is needed
    numbered = _numbered(pyarrow, names)
    if numbered is None:
        raise zero_byte(origin)
    ends, labels = numbered
    return EdgeTable(ends, weights, len(labels), labels, origin, _row)


def require_one_kind(source: EdgeColumn, target: EdgeColumn, origin: str) -> None:
    """Refuse columns of which one holds text and the other does not."""
    if source.is_text != target.is_text:
        kinds = ["text" if each.is_text else each.values.type for each in (source, target)]
        raise InputError(
            f"{origin}: column {source.name!r} holds {kinds[0]}, column {target.name!r} "
            f"{kinds[1]}; make both text, or both whole numbers"
        )


def zero_byte(origin: str) -> InputError:
    """What to say of names with zero bytes."""
    return InputError(f"{origin}: names of nodes must not hold zero bytes, which files drop")


def _numbered(pyarrow: Any, columns: list[Any]) -> tuple[AnyInts, Sequence[str]] | None:
    """Number names in the order of the edges, source before target; ``None`` for zero bytes.

    Takes the columns of source and target out of the list, to let go of them in time.
    """
    if columns[0].type != columns[1].type:
        columns[:] = [each.cast(pyarrow.large_string()) for each in columns]
    joined = pyarrow.chunked_array([*columns[0].chunks, *columns[1].chunks])
    columns.clear()
    is_dictionary = pyarrow.types.is_dictionary(joined.type)
    if not is_dictionary and _repeats(joined, len(joined)):
        joined, is_dictionary = joined.dictionary_encode(), True  # one for all chunks
    elif is_dictionary and sum(len(each.dictionary) for each in joined.chunks) > len(joined):
        joined = joined.unify_dictionaries()
    codes = None
    if is_dictionary:
        buffer, starts, lengths, codes = _dictionaries(pyarrow, joined)
    else:
        buffer, starts, lengths = _pieces(pyarrow, joined.chunks)
        starts, lengths = (each.reshape(2, -1).T.ravel() for each in (starts, lengths))
    del joined
    pyarrow.default_memory_pool().release_unused()
    numbers, used = distinct_pieces(Words(buffer), buffer, starts, lengths)
    if codes is None:
        ends = numbers.reshape(-1, 2).T
    else:
        ends, order = in_order(numbers[codes].reshape(2, -1))
        used = used[order]
    starts, lengths = starts[used], lengths[used]
    del numbers, used
    labels = texts_at(buffer, starts, lengths)
    return None if b"\0" in buffer and any("\0" in label for label in labels) else (ends, labels)


def _dictionaries(pyarrow: Any, joined: Any) -> tuple[bytes, AnyInts, AnyInts, AnyInts]:
    """Names of all dictionaries as `_pieces`, and which of them stand at the ends of edges.

    Names may be there more than once: every chunk may have a dictionary of its own.
    """
    dictionaries: list[Any] = []
    codes: list[AnyInts] = []
    n_names = 0
    for chunk in joined.chunks:
        if not len(chunk):
            continue
        if not dictionaries or not chunk.dictionary.equals(dictionaries[-1]):
            n_names += len(dictionaries[-1]) if dictionaries else 0
            dictionaries.append(chunk.dictionary)
        codes.append(np.from_dlpack(chunk.indices).astype(np.int32) + np.int32(n_names))
    return *_pieces(pyarrow, dictionaries), np.concatenate(codes)


def _pieces(pyarrow: Any, arrays: Sequence[Any]) -> tuple[bytes, AnyInts, AnyInts]:
    """The texts of some arrays in one buffer; where each begins, and its length in bytes."""
    texts: list[memoryview] = []
    lengths: list[AnyInts] = []
    for array in arrays:
        is_short = pyarrow.types.is_string(array.type)
        names = array if is_short else array.cast(pyarrow.large_string())
        kind = np.int32 if is_short else np.int64
        _, offsets, text = names.buffers()
        if len(names):
            ends = np.frombuffer(offsets, kind)[names.offset :][: len(names) + 1]
            texts.append(memoryview(text or b"")[int(ends[0]) : int(ends[-1])])
            lengths.append(np.diff(ends).astype(np.int32))
    size = np.concatenate(lengths)
    n_bytes = sum(map(len, texts))
    starts: AnyInts = np.cumsum(size, dtype=np.int32 if n_bytes < 1 << 31 else np.int64)
    starts -= size
    return b"".join(texts), starts, size


def _repeats(names: Any, n_rows: int) -> bool:
    """Whether names are listed again and again; a dictionary of all different ones is large.

    Of so many names drawn at random, ``m^2 / 2c`` are different if among ``m`` of them ``c`` are
    repeated. That should be below half of them.
    """
    first = names.slice(0, _BATCH)
    return (len(first) - len(first.unique())) * n_rows > len(first) ** 2


def _row(number: int) -> str:
    return f"row {number}"


class EdgeColumn:
    """A column without missing values.

    Its table may be a part of another, from `first_row` on.
    """

    def __init__(
        self, pyarrow: Any, table: Any, place: int, origin: str, first_row: int = 0
    ) -> None:
        self._pyarrow, self._origin, self._first_row = pyarrow, origin, first_row
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
        place = f"row {self._first_row + row}"
        return InputError(f"{self._origin}, {place}: column {self.name!r} {what}")

    def whole(self) -> IntArray:
        """Its values as whole numbers."""
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
        """Its values as weights."""
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
