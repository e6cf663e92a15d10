"""The one test case that every linear operator of grfpp must pass."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal


class LinearOperatorCase:
    """Inherit, override the two fixtures, and the class of tests is complete.

    `operator` gives the operator, `expected` the same matrix as a dense array that was computed
    some other way.
    """

    rtol = 1e-10

    @pytest.fixture
    def operator(self):
        raise NotImplementedError

    @pytest.fixture
    def expected(self):
        raise NotImplementedError

    @pytest.fixture
    def rng(self):
        return np.random.default_rng(20240607)

    def assert_close(self, found, wanted):
        wanted = np.asarray(wanted)
        assert found.shape == wanted.shape
        scale = np.abs(wanted).max(initial=0.0)
        assert_allclose(found, wanted, rtol=self.rtol, atol=self.rtol * scale)

    def test_shape_and_dtype(self, operator, expected):
        assert operator.shape == expected.shape
        assert operator.T.shape == operator.H.shape == expected.T.shape
        assert operator.dtype == operator.T.dtype == operator.H.dtype == np.float64

    @pytest.mark.parametrize("form", [(), (1,), (2,), (7,)])
    @pytest.mark.parametrize("is_complex", [False, True])
    def test_products(self, operator, expected, rng, form, is_complex):
        """With vectors and with blocks, from both sides, of the operator and its transposes."""
        x, y = (rng.normal(size=(n, *form)) for n in reversed(expected.shape))
        if is_complex:
            x, y = (each + 1j * rng.normal(size=each.shape) for each in (x, y))
        self.assert_close(operator @ x, expected @ x)
        self.assert_close(y.T @ operator, y.T @ expected)
        multiply, backwards = ("matmat", "rmatmat") if len(form) else ("matvec", "rmatvec")
        self.assert_close(getattr(operator, multiply)(x), expected @ x)
        self.assert_close(getattr(operator, backwards)(y), expected.T @ y)
        for turned in (operator.T, operator.H):
            self.assert_close(turned @ y, expected.T @ y)
            self.assert_close(getattr(turned, backwards)(x), expected @ x)
        self.assert_close(operator.T.T @ x, expected @ x)

    def test_vectors_as_columns(self, operator, expected, rng):
        x, y = (rng.normal(size=(n, 1)) for n in reversed(expected.shape))
        self.assert_close(operator.matvec(x), expected @ x)
        self.assert_close(operator.rmatvec(y), expected.T @ y)

    @pytest.mark.parametrize("number_type", [np.float32, np.int64, np.int8, np.uint16, bool])
    def test_other_number_types(self, operator, expected, rng, number_type):
        x = rng.integers(0, 2, size=(expected.shape[1], 3)).astype(number_type)
        result = operator @ x
        assert result.dtype == np.float64
        self.assert_close(result, expected @ x.astype(np.float64))
        self.assert_close(operator @ x[:, 0], expected @ x[:, 0].astype(np.float64))

    def test_input_of_any_memory_layout(self, operator, expected, rng):
        n = expected.shape[1]
        wide = rng.normal(size=(2 * n, 10))
        views = [wide[::2, ::3], wide[n - 1 :: -1, 4:1:-1], np.asfortranarray(wide[:n])]
        views += [rng.normal(size=(4, n)).T, np.broadcast_to(wide[:n, :1], (n, 3))]
        for x in views:
            self.assert_close(operator @ x, expected @ x)
            self.assert_close(operator @ x[:, 0], expected @ x[:, 0])

    def test_input_is_not_changed(self, operator, rng):
        x = rng.normal(size=(operator.shape[1], 3))
        before = x.copy()
        x.flags.writeable = False
        result = operator @ x
        assert_array_equal(x, before)
        assert not np.shares_memory(result, x)

    def test_empty_block(self, operator):
        assert (operator @ np.zeros((operator.shape[1], 0))).shape == (operator.shape[0], 0)
        assert operator.rmatmat(np.zeros((operator.shape[0], 0))).shape == (operator.shape[1], 0)

    def test_wrong_shapes_are_refused(self, operator):
        n = operator.shape[1]
        for wrong in ((n + 1,), (n + 1, 2), (n, 2, 2), ()):
            with pytest.raises(ValueError):
                operator @ np.zeros(wrong)
        with pytest.raises(ValueError):
            operator.rmatvec(np.zeros(operator.shape[0] + 1))

    def test_sums_and_multiples(self, operator, expected, rng):
        x = rng.normal(size=(expected.shape[1], 2))
        for made, factor in (
            *((operator + operator, 2), (2 * operator, 2), (operator * 2, 2), (-operator, -1)),
            (operator - 3 * operator, -2),
        ):
            self.assert_close(made @ x, factor * expected @ x)

    def test_composition(self, operator, expected, rng):
        x = rng.normal(size=(expected.shape[1], 2))
        y = rng.normal(size=(expected.shape[0], 2))
        self.assert_close((operator.T @ operator) @ x, expected.T @ (expected @ x))
        self.assert_close((operator @ operator.T).rmatmat(y), expected @ (expected.T @ y))
        if expected.shape[0] == expected.shape[1]:
            self.assert_close((operator @ operator) @ x, expected @ (expected @ x))
            self.assert_close((operator**2) @ x, expected @ (expected @ x))

    def test_toarray(self, operator, expected):
        self.assert_close(operator @ np.eye(expected.shape[1]), expected)
        if hasattr(operator, "toarray"):
            self.assert_close(operator.toarray(), expected)
            self.assert_close(operator.T.toarray(), expected.T)

    def test_same_bits_every_time(self, operator, rng):
        x = rng.normal(size=(operator.shape[1], 3))
        assert_array_equal(operator @ x, operator @ x)
