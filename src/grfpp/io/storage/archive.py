"""Arrays in an ``.npz`` file that is written whole or not at all and holds no pickles."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from grfpp.errors import InputError
from grfpp.io.storage.atomic import atomic_write
from grfpp.io.storage.stored_arrays import StoredArrays, opened_arrays

_META = "meta"


def save_arrays(
    path: str | Path, kind: str, arrays: Mapping[str, Any], meta: Mapping[str, Any] | None = None
) -> None:
    """Write named arrays and JSON-able `meta`; `kind` says what the file holds."""
    header = json.dumps({"format": kind, **(meta or {})})
    with atomic_write(path) as stream:
        np.savez(stream, **{_META: np.asarray(header), **arrays})


@contextmanager
def opened_kind(path: str | Path, kind: str) -> Iterator[tuple[StoredArrays, dict[str, Any]]]:
    """Open what `save_arrays` wrote: the arrays, unpacked one by one, and the meta data."""
    with opened_arrays(path) as arrays:
        try:
            meta = json.loads(str(arrays[_META]))
            found = meta["format"]
        except (KeyError, ValueError, TypeError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{path} was not written by grfpp: it has no header") from None
        if found != kind:
            raise InputError(f"{path} holds {str(found)[:80]!r}, not {kind!r}")
        yield arrays, meta
