"""What can be refused before any graph is seen, where weights will be normalised symmetrically."""

from __future__ import annotations

import numpy as np

from grfpp.errors import InfiniteVarianceError
from grfpp.kernels import Kernel
from grfpp.options import WalkOptions
from grfpp.termination import Matched
from grfpp.walks.lengths import LengthTable
from grfpp.walks.truncation import check_series_truncation, modulation_table
from grfpp.walks.variance import (
    converges,
    infinite_variance,
    sum_is_finite,
    variance_terms,
)


def check_normalized(kernel: Kernel, options: WalkOptions, scale: float) -> None:
    """Refuse what works on no graph at all whose weights are ``scale · D^-1/2 A D^-1/2``.

    The spectral radius of these is `scale`, unless they have no edge. Squares of loads grow by its
    square at least, because they do not grow more slowly than the square of the mean.
    """
    degree, law = options.stitching_degree, options.termination
    kernel.check_radius(scale)
    kernel.check_radius(scale, degree)
    if isinstance(law, Matched):
        return  # made to suit
    modulation = modulation_table(kernel, degree, law)
    lengths = LengthTable.of(law, len(modulation) - 1)
    modulation, n = modulation[: lengths.max_length + 1], lengths.max_length
    if law.max_length is None and options.on_infinite_variance == "raise":
        growth = np.array([0.0, 2 * np.log(scale)])
        logs = variance_terms(modulation, lengths.survival, growth)
        if not (converges(logs) or sum_is_finite(kernel, degree, n, growth[-1])):
            problem, remedies = infinite_variance(kernel, degree, law, logs, growth[-1])
            raise InfiniteVarianceError(problem, **remedies)
    if not options.truncate:
        check_series_truncation(kernel, degree, modulation, n, scale, lambda: scale)
