"""What the ways to compute a function of a weight matrix share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from grfpp.errors import InputError
from grfpp.typing import FloatArray

ScalarFunction = Callable[[FloatArray], FloatArray]

MAX_DEGREE = 100_000
"""Highest polynomial degree, that is the most products with ``W``, of any method."""

TOO_LARGE = "the kernel's values on this graph exceed the range of float64; scale the graph down"


class WeightMatrix(Protocol):
    """What is asked of a graph here."""

    @property
    def n_nodes(self) -> int:
        """Number of rows and of columns."""

    @property
    def adjacency(self) -> Any:
        """The matrix, in CSR form."""

    @property
    def is_directed(self) -> bool:
        """Whether it is not symmetric."""

    def spectral_radius(self) -> float:
        """Its spectral radius."""


def finite(values: Any) -> FloatArray:
    """Return the values, or raise `InputError` when some exceed the range of float64."""
    array: FloatArray = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise InputError(TOO_LARGE)
    return array
