"""Arrays in an ``.npz`` file that is written whole or not at all and holds no pickles."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from grfpp.errors import InputError

_META = "meta"


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only when the block ends well."""
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"cannot write {target}: the folder {target.parent} does not exist")
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def save_arrays(
    path: str | Path, kind: str, arrays: Mapping[str, Any], meta: Mapping[str, Any] | None = None
) -> None:
    """Write named arrays and JSON-able `meta`; `kind` says what the file holds."""
    header = json.dumps({"format": kind, **(meta or {})})
    with atomic_write(path) as stream:
        np.savez(stream, **{_META: np.asarray(header), **arrays})


def load_arrays(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what `save_arrays` wrote: the arrays and the meta data."""
    with opened_arrays(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    try:
        meta = json.loads(str(arrays.pop(_META)))
        found = meta["format"]
    except (KeyError, ValueError, TypeError, RecursionError):
        raise InputError(f"{path} was not written by grfpp: it has no header") from None
    if found != kind:
        raise InputError(f"{path} holds {found!r}, not {kind!r}")
    return arrays, meta


@contextmanager
def opened_arrays(path: str | Path) -> Iterator[Any]:
    """Open an ``.npz`` file; whatever is wrong with it, now or when it is read, is one error."""
    try:
        # Opened here, since numpy does not close a file that it cannot read.
        with Path(path).open("rb") as stream:
            archive = np.load(stream, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("it holds a single array")
            with archive:
                yield archive
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except InputError:
        raise
    except Exception as error:  # zip, zlib, numpy and struct each have their own
        raise InputError(
            f"{path} is not a whole .npz file without pickles ({error or type(error).__name__})"
        ) from None
