"""Vectors of which the direction counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import grfpp
from grfpp.tasks.nodes.directions import angles, cosines, mean_cosine, unit_vectors

REALS = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=REALS))
def test_unit_vectors(vectors):
    units = unit_vectors(vectors)
    lengths = np.linalg.norm(units, axis=1)
    has_direction = vectors.any(axis=1)
    np.testing.assert_allclose(lengths[has_direction], 1)
    assert (lengths[~has_direction] == 0).all()
    # The same direction: what is left after projecting is nothing.
    along = (units * vectors).sum(axis=1, keepdims=True) * units
    np.testing.assert_allclose(along, vectors, atol=1e-9 * np.abs(vectors).max(initial=1))
    found = cosines(vectors, vectors)
    np.testing.assert_allclose(found[has_direction], 1)
    assert np.isnan(found[~has_direction]).all()


def test_cosines_and_angles():
    true = [[1, 0], [1, 0], [1, 0], [0, 2], [0, 0]]
    predicted = [[5, 0], [-2, 0], [1, 1], [0, 0], [1, 0]]
    np.testing.assert_allclose(cosines(predicted, true), [1, -1, 0.5**0.5, 0, np.nan])
    np.testing.assert_allclose(angles(predicted, true), [0, 180, 45, 90, np.nan])
    assert mean_cosine(predicted, true) == pytest.approx(0.5**0.5 / 4)


@pytest.mark.parametrize(
    ("predicted", "true", "message"),
    [
        ([[1, 0]], [[1, 0], [0, 1]], "one shape"),
        ([1, 0], [1, 0], "a vector a row"),
        ([[1, np.nan]], [[1, 0]], "finite"),
        ([["a", "b"]], [[1, 0]], "real numbers"),
    ],
)
def test_bad_vectors_are_refused(predicted, true, message):
    with pytest.raises(grfpp.InputError, match=message):
        cosines(predicted, true)


def test_without_any_direction_there_is_no_mean():
    with pytest.raises(grfpp.InputError, match="nothing to compare"):
        mean_cosine([[1, 0]], [[0, 0]])
