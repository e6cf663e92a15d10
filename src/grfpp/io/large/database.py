"""DuckDB with a bound on its memory, which sorts, joins and counts what lies in Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.imports.optional import require

#: Rows that are handed over at a time.
_ROWS = 1 << 20
_FULL = ("no space left", "disk quota", "file too large", "max_temp_directory_size", "disk is full")


class Database:
    """Tables in a folder, each a Parquet file, and queries over them.

    Parameters
    ----------
    folder
        For the tables and for what does not fit into memory while a query runs.
    target
        What is being written, for messages.
    memory
        Bytes that DuckDB may take.
    n_threads
        Threads that it may use.
    """

    def __init__(self, folder: Path, target: str, memory: int, n_threads: int) -> None:
        duckdb = require("duckdb", "converting edge lists")
        self._pyarrow = require("pyarrow", "converting edge lists")
        self._parquet = require("pyarrow.parquet", "converting edge lists")
        self._errors, self._target = duckdb.Error, target
        self._folder, self._memory = folder, memory
        (folder / "spilled").mkdir(parents=True)
        settings = {
            "memory_limit": f"{memory // 1000}KB",
            "threads": n_threads,
            "temp_directory": str(folder / "spilled"),
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        with self._explained():
            self._connection = duckdb.connect(":memory:", config=settings)
            self._connection.execute("SET enable_progress_bar = false")

    def close(self) -> None:
        """End it."""
        self._connection.close()

    def path(self, table: str) -> Path:
        """The file of a table."""
        return self._folder / f"{table}.parquet"

    def has(self, table: str) -> bool:
        """Whether there is such a table."""
        return self.path(table).exists()

    def drop(self, *tables: str) -> None:
        """Remove tables that are needed no more."""
        for table in tables:
            self.path(table).unlink(missing_ok=True)

    @contextmanager
    def writer(self, table: str, schema: Mapping[str, str]) -> Iterator[TableWriter]:
        """Write a table from arrays, batch by batch; columns by the names of Arrow's types."""
        types = [(name, getattr(self._pyarrow, kind)()) for name, kind in schema.items()]
        arrow_schema = self._pyarrow.schema(types)
        stream = self._parquet.ParquetWriter(
            str(self.path(table)), arrow_schema, compression="lz4", use_dictionary=["w"]
        )
        with stream:
            yield TableWriter(self._pyarrow, arrow_schema, stream)

    def scan(self, table: str) -> str:
        """A table as queries name it."""
        return f"read_parquet({quoted(str(self.path(table)))})"

    def make(self, table: str, query: str) -> None:
        """Write what a query finds, in no particular order."""
        with self._explained():
            self._connection.execute(
                f"COPY ({query}) TO {quoted(str(self.path(table)))} "
                "(FORMAT parquet, COMPRESSION lz4)"
            )

    def one(self, query: str) -> tuple[Any, ...] | None:
        """The first of the few rows that a query finds."""
        with self._explained():
            found: list[tuple[Any, ...]] = self._connection.execute(query).fetchall()
        return found[0] if found else None

    def batches(self, query: str) -> Iterator[Any]:
        """What a query finds, in its order, as record batches of Arrow."""
        with self._explained():
            reader = iter(self._connection.sql(query).to_arrow_reader(_ROWS))
        while True:
            with self._explained():
                batch = next(reader, None)
            if batch is None:
                return
            if batch.num_rows:
                yield batch

    def read(self, table: str, columns: Sequence[str]) -> Iterator[Any]:
        """A table that was written here, in the order in which it was written."""
        with self._parquet.ParquetFile(str(self.path(table)), pre_buffer=False) as source:
            for batch in source.iter_batches(_ROWS, columns=list(columns)):
                yield batch.select(list(columns))

    def large_text(self, texts: Any) -> Any:
        """An array of text whose offsets have 64 bits."""
        return texts.cast(self._pyarrow.large_string())

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (self._errors, OSError) as error:
            text = " ".join(str(error).split())
            if any(each in text.lower() for each in _FULL):
                raise InputError(
                    f"cannot write {self._target}: No space left on device ({text[:200]})"
                ) from None
            if "Out of Memory" in text or "OutOfMemory" in type(error).__name__:
                raise InputError(
                    f"converting to {self._target} needs more than {self._memory} bytes of memory "
                    f"({text[:200]})",
                    option=("memory", f"{2 * self._memory // 10**6}MB"),
                ) from None
            raise InputError(f"cannot write {self._target}: {text[:400]}") from None


class TableWriter:
    """A Parquet file that is being written."""

    def __init__(self, pyarrow: Any, schema: Any, stream: Any) -> None:
        self._pyarrow, self._schema, self._stream = pyarrow, schema, stream

    def append(self, *columns: Any) -> None:
        """Write rows: numpy arrays, or arrays of Arrow."""
        arrays = [
            each if isinstance(each, self._pyarrow.Array) else self._pyarrow.array(each)
            for each in columns
        ]
        self._stream.write_table(self._pyarrow.Table.from_arrays(arrays, schema=self._schema))


def arrays_of(batch: Any) -> list[npt.NDArray[Any]]:
    """The columns of a batch of numbers, without copying them."""
    return [np.from_dlpack(each) for each in batch.columns]


def quoted(text: str) -> str:
    """A text as SQL writes it.

    Examples
    --------
    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def default_memory() -> int:
    """Bytes for DuckDB where nobody says: 1.5 GB, or less where there is little."""
    from grfpp.memory import available_bytes

    return max(64 * 10**6, min(1500 * 10**6, available_bytes() // 3))


def default_threads() -> int:
    """Threads of this process."""
    return os.cpu_count() or 1
