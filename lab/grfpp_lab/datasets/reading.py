"""One kind of error for whatever is wrong with the file of a data set."""

import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grfpp.errors import InputError

_ERRORS = (OSError, EOFError, LookupError, ValueError, TypeError, ArithmeticError, zlib.error)


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Turn what damaged files raise into an `InputError` that names the file."""
    try:
        yield
    except (*_ERRORS, zipfile.BadZipFile, tarfile.TarError) as error:
        raise InputError(f"cannot read {path}: {error or type(error).__name__}") from None
