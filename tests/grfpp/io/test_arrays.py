"""Array-likes as arrays of real numbers."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from io_helpers import dense

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.arrays import packages, real_numbers

PAIR = np.array([[0.0, 2.0], [2.0, 0.0]])


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint64, np.int64, np.float16, np.float32, np.longdouble]
)
def test_every_real_dtype(dtype):
    np.testing.assert_array_equal(dense(np.array([[0, 1], [1, 0]], dtype=dtype)), PAIR / 2)
    assert Graph(np.eye(2, dtype=dtype)).weights.dtype == np.float64


def test_masked_entries_are_no_edges():
    masked = np.ma.masked_equal(np.array([[-1.0, 3.0], [3.0, -1.0]]), -1.0)
    np.testing.assert_array_equal(dense(masked), [[0, 3], [3, 0]])


def test_packages_of_a_type_and_of_its_bases():
    class Mine(nx.Graph):
        pass

    assert "networkx" in packages(Mine())
    assert "networkx" not in packages([])


def test_objects_that_are_real_numbers():
    values = [1, 2.5, True, np.float32(0.5), Fraction(1, 4)]
    np.testing.assert_array_equal(real_numbers(values, str), [1, 2.5, 1, 0.5, 0.25])
    for wrong in ("1", None, 1j, [1.0]):
        with pytest.raises(InputError, match=r"real numbers, found .* for edge 1"):
            real_numbers([1, wrong], lambda i: f"edge {i}")
    with pytest.raises(InputError, match="too large"):
        real_numbers([10**400], str)
