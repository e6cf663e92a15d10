"""Map a file of numbers into memory."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def mapped_array(path: Path, dtype: npt.DTypeLike, *, read_ahead: bool) -> npt.NDArray[Any]:
    """The numbers in a file that is not empty, read-only, each read when it is looked at.

    Parameters
    ----------
    read_ahead
        Let the system read what lies beside that as well, which soon brings all of a graph into
        memory. One that does not fit would be read again and again instead: 128 kB for every edge
        that a pool follows.
    """
    mapped = np.memmap(path, dtype, "r")
    if not read_ahead and isinstance(mapped.base, mmap.mmap) and hasattr(mmap, "MADV_RANDOM"):
        mapped.base.madvise(mmap.MADV_RANDOM)
    return np.asarray(mapped)
