"""Both directions get one weight, against dense algebra."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.linalg.symmetrize import symmetrized

SQUARES = st.integers(1, 6).flatmap(
    lambda n: hnp.arrays(float, (n, n), elements=st.sampled_from([0.0, 0.1, 0.7, 1.0, 3.5]))
)
DENSE = {
    "max": np.maximum,
    "mutual": np.minimum,
    "mean": lambda a, b: (a + b) / 2,
    "sum": lambda a, b: a + b - np.diag(np.diag(a)),
}


@settings(max_examples=50, deadline=None)
@given(SQUARES, st.sampled_from(list(DENSE)))
def test_against_dense_algebra(matrix, how):
    found = symmetrized(sp.csr_array(matrix), how)
    dense = found.toarray()
    np.testing.assert_allclose(dense, DENSE[how](matrix, matrix.T), rtol=1e-15)
    assert (dense == dense.T).all()
    assert found.has_canonical_format and (found.data > 0).all()


def test_refused():
    arcs = sp.csr_array([[0, 1e308], [1e308, 0]])
    assert symmetrized(arcs, "mean").max() == 1e308
    with pytest.raises(InputError, match="'mean'"):
        symmetrized(arcs, "sum")
    with pytest.raises(InputError, match="symmetrize must be 'max', 'mean', 'sum' or 'mutual'"):
        symmetrized(arcs, "min")


def test_rounding_in_single_precision_makes_no_direction():
    rng = np.random.default_rng(0)
    weights = rng.random((6, 6)).astype(np.float32)
    weights = (weights + weights.T) / 2
    other = weights.copy()
    other[0, 1] = np.nextafter(other[0, 1], np.float32(2))
    assert (other != other.T).any()
    for source in (other, other.astype(float)):
        assert not Graph(source).is_directed
        assert not Graph(source, directed=False).is_directed
    double = weights.astype(float) + 1e-9 * rng.random((6, 6))
    assert Graph(double).is_directed  # such differences are meant in double precision
    assert Graph([[0, 10_000_001], [10_000_002, 0]]).is_directed  # and of whole numbers
