"""Turn the rows of every graph to their own principal axes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from grfpp.typing import FloatArray


def on_principal_axes(rows: FloatArray, starts: npt.NDArray[np.int64]) -> FloatArray:
    """Rotate the encoding of each graph so that its columns are orthogonal, the longest first.

    The result is the same whatever rotation the encoding came with. The sign of a column is that
    of which its entry of largest size is positive; where two columns are equally long their plane
    is left as it was found, so that there the result is not determined. Graphs stand one below the
    other; `starts` tells where each begins, and where the last one ends.

    Examples
    --------
    >>> rows = np.array([[3.0, 4.0], [0.0, 0.0], [-6.0, -8.0]])
    >>> on_principal_axes(rows, np.array([0, 3])).round(12) + 0.0
    array([[-5.,  0.],
           [ 0.,  0.],
           [10.,  0.]])
    """
    rotated = np.empty_like(rows)
    first = int(starts[0])
    for start, stop in pairwise((starts - first).tolist()):
        block = rows[start:stop]
        # Not by BLAS, whose bits may depend on the number of its threads.
        _, axes = np.linalg.eigh(np.einsum("ni,nj->ij", block, block))
        block = np.einsum("ni,ij->nj", block, axes[:, ::-1])
        largest = block[np.abs(block).argmax(axis=0), np.arange(block.shape[1])]
        rotated[start:stop] = block * np.where(largest < 0, -1.0, 1.0)
    return rotated
