"""Parquet and Feather files of any size, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np

from grfpp.errors import InputError
from grfpp.imports.optional import require
from grfpp.io.large.batches import Doubt, EdgeBatch
from grfpp.io.tables.arrow import EdgeColumn, column_names, require_one_kind, zero_byte
from grfpp.io.tables.header import columns_of
from grfpp.io.tables.options import EdgeListOptions
from grfpp.io.text import naming

_ROWS = 1 << 19
_BUFFER = 1 << 20


class ArrowEdges:
    """The edges of a table that is read batch by batch."""

    entry: Literal["line", "row"] = "row"
    reads_numbers = False

    def __init__(
        self, pyarrow: Any, name: str, columns: list[str], batches: Iterator[Any], n_rows: int
    ) -> None:
        self.name, self._pyarrow = name, pyarrow
        self._columns, self._batches = columns, batches
        self._done, self._n_rows = 0, n_rows

    @property
    def doubt(self) -> Doubt | None:
        """Nothing is: columns have names."""
        return None

    def progress(self) -> tuple[int, int]:
        """Rows."""
        return self._done, self._n_rows

    def nothing(self) -> InputError:
        """What to say where there are no edges."""
        return InputError(f"{self.name} holds no edges: it has no rows")

    def batches(self) -> Iterator[EdgeBatch]:
        """The edges."""
        pyarrow = self._pyarrow
        for batch in self._batches:
            table = pyarrow.Table.from_batches([batch]).select(self._columns)
            try:
                table.validate(full=True)
            except pyarrow.ArrowInvalid as error:
                raise InputError(f"{self.name} is a malformed table: {error}") from None
            if table.num_rows:
                yield self._batch(table)
            self._done += table.num_rows

    def _batch(self, table: Any) -> EdgeBatch:
        pyarrow, first = self._pyarrow, self._done
        columns = [
            EdgeColumn(pyarrow, table, place, self.name, first)
            for place in range(table.num_columns)
        ]
        weights = columns[2].weights() if len(columns) == 3 else np.ones(table.num_rows)
        require_one_kind(columns[0], columns[1], self.name)
        is_whole = not columns[0].is_text
        places = np.arange(first, first + table.num_rows)
        source, target = (
            pyarrow.array(each.whole()) if is_whole else self._text(each) for each in columns[:2]
        )
        return EdgeBatch(places, source, target, weights, is_whole)

    def _text(self, column: EdgeColumn) -> Any:
        compute = require("pyarrow.compute", "converting tables")
        text = column.values.cast(self._pyarrow.large_string()).combine_chunks()
        if compute.any(compute.match_substring(text, "\0")).as_py():
            raise zero_byte(self.name)
        return text


@contextmanager
def opened_table(
    file: Path, suffix: str, name: str, options: EdgeListOptions
) -> Iterator[ArrowEdges]:
    """Open a Parquet or Feather file; only the columns that are needed are read."""
    pyarrow = require("pyarrow", f"reading {suffix} files")
    parquet = require("pyarrow.parquet", f"reading {suffix} files")
    options.require_only(("duplicates", "columns"), f"{suffix} files")
    with ExitStack() as stack:
        with _explained(pyarrow, name, suffix):
            stream = stack.enter_context(pyarrow.OSFile(str(file)))
            if suffix == ".parquet":
                source = parquet.ParquetFile(stream, pre_buffer=False, buffer_size=_BUFFER)
                schema, n_rows = source.schema_arrow, source.metadata.num_rows
            else:
                source = pyarrow.ipc.open_file(stream)
                schema, n_rows = source.schema, 0
            with naming(name):
                names = column_names(schema)
                columns = [names[place] for place in columns_of(names, options.columns)]
        batches = _batches(pyarrow, source, columns, name, suffix)
        yield ArrowEdges(pyarrow, name, columns, batches, n_rows)


def _batches(
    pyarrow: Any, source: Any, columns: list[str], name: str, suffix: str
) -> Iterator[Any]:
    with _explained(pyarrow, name, suffix):
        if suffix == ".parquet":
            found = source.iter_batches(_ROWS, columns=columns, use_threads=False)
        else:
            found = map(source.get_batch, range(source.num_record_batches))
    while True:
        # Not about what is done with it: that need not be about this file.
        with _explained(pyarrow, name, suffix):
            batch = next(found, None)
        if batch is None:
            return
        yield batch


@contextmanager
def _explained(pyarrow: Any, name: str, suffix: str) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, KeyError) as error:
        raise InputError(f"{name} is truncated, or not a {suffix} file: {error}") from None
