"""What functions of a weight matrix share."""

from __future__ import annotations

import math

import numpy as np
import pytest

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels.exponentials import Diffusion
from grfpp.linalg.functions.shared import finite


@pytest.mark.parametrize("weights", [[[0, 1], [1, 0]], [[0, 1], [0.5, 0]]])
def test_values_beyond_float64_are_refused(weights):
    graph = Graph(weights)
    for attempt in (Diffusion(5000).exact, lambda W: Diffusion(5000).apply(W, np.ones(2))):
        with pytest.raises(InputError, match="range of float64"):
            attempt(graph)


def test_finite_values_are_returned():
    np.testing.assert_array_equal(finite([1, 2.5]), [1, 2.5])
    for wrong in (math.inf, math.nan):
        with pytest.raises(InputError, match="range of float64; scale the graph down"):
            finite([1.0, wrong])
