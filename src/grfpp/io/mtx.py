"""Matrix Market files, parsed by scipy."""

from __future__ import annotations

import io
import re
from typing import Any

import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io.sizes import check_node_count
from grfpp.io.text import at_line

_PLACE = re.compile(r"^Line (\d+): ")


def read_mtx(data: bytes, name: str) -> Any:
    """Read a Matrix Market file; its header says whether the matrix is symmetric."""
    from scipy.io import mminfo, mmread

    try:
        n_rows, n_columns, entries, layout, *_ = mminfo(io.BytesIO(data))
    except Exception as error:  # ValueError, OverflowError, and what its C++ core may raise
        raise _explained(error, name) from None
    check_node_count(max(n_rows, n_columns), f"the header of {name}")
    # The shortest entries are "1 1" and "1", and a line end: fewer bytes cannot hold them all. To
    # know that first keeps a wrong header from claiming all memory.
    expected = entries * (4 if layout == "coordinate" else 2) - 1
    if layout == "array" and n_rows == n_columns:
        expected //= 2  # a symmetric one lists half of them
    if expected > len(data):
        raise InputError(
            f"{name} is truncated: the header announces {entries:,} entries, and the file is only "
            f"{len(data):,} bytes long"
        )
    try:
        matrix = mmread(io.BytesIO(data))
    except Exception as error:
        raise _explained(error, name) from None
    return matrix if sp.issparse(matrix) else sp.coo_array(matrix)


def _explained(error: Exception, name: str) -> InputError:
    message = str(error) or type(error).__name__
    place = _PLACE.match(message)
    if place:
        return at_line(name, int(place[1]), f"not Matrix Market: {message[place.end() :]}")
    return InputError(f"{name} is not a Matrix Market file, or truncated: {message}")
