import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from operator_case import LinearOperatorCase
from scipy.sparse.linalg import LinearOperator
from small_graphs import GRAPHS

from grfpp import Geometric
from grfpp.factors import Factor, StoredFactor
from grfpp.walks import WalkPlan, sample_factor


def walked(name="weighted, sym", factor=0, dtype=np.float64):
    plan = WalkPlan.of(GRAPHS[name], 0.6 ** np.arange(60), Geometric(0.2), 8, seed=1, factor=factor)
    return sample_factor(plan, dtype=dtype)


class FactorOperator(LinearOperator):
    """A product of factors, each plain or transposed, as an operator."""

    def __init__(self, *steps):
        self.steps = steps
        n = steps[0][0].n_nodes
        super().__init__(np.dtype(np.float64), (n, n))

    def _matmat(self, dense):
        if np.iscomplexobj(dense):
            return self._matmat(dense.real) + 1j * self._matmat(dense.imag)
        block = np.ascontiguousarray(dense, dtype=np.float64)
        for factor, transposed in reversed(self.steps):
            block = (factor.rmatmat if transposed else factor.matmat)(block, 2)
        return block

    def _matvec(self, vector):
        return self._matmat(vector.reshape(-1, 1))

    def _adjoint(self):
        return FactorOperator(
            *((factor, not transposed) for factor, transposed in self.steps[::-1])
        )

    _transpose = _adjoint

    def _rmatmat(self, dense):
        return self._adjoint()._matmat(dense)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
class TestOneFactor(LinearOperatorCase):
    @pytest.fixture
    def operator(self, dtype):
        return FactorOperator((StoredFactor(walked(dtype=dtype)), False))

    @pytest.fixture
    def expected(self, dtype):
        return walked(dtype=dtype).toarray().astype(np.float64)


@pytest.mark.parametrize("name", ["directed, None", "loops and isolated, sym", "one node"])
class TestPairOfFactors(LinearOperatorCase):
    @pytest.fixture
    def operator(self, name):
        first, second = (StoredFactor(walked(name, number)) for number in (0, 1))
        return FactorOperator((first, False), (second, True))

    @pytest.fixture
    def expected(self, name):
        return walked(name, 0).toarray() @ walked(name, 1).toarray().T


def test_a_stored_factor_is_its_matrix():
    matrix = walked()
    factor = StoredFactor(matrix)
    assert isinstance(factor, Factor)
    assert factor.n_nodes == 9
    assert factor.to_csr() is matrix
    assert_array_equal(factor.transposed_csr().toarray(), matrix.toarray().T)


def test_the_transpose_is_made_once():
    factor = StoredFactor(walked())
    assert factor.transposed_csr() is factor.transposed_csr()
    assert isinstance(factor.transposed_csr(), sp.csr_array)


def test_products_agree_with_the_sparse_forms():
    factor = StoredFactor(walked("directed, None"))
    block = np.random.default_rng(0).normal(size=(10, 3))
    assert_allclose(factor.matmat(block, 1), factor.to_csr() @ block, rtol=1e-13)
    assert_allclose(factor.rmatmat(block, 1), factor.transposed_csr() @ block, rtol=1e-13)


def test_a_factor_must_say_how_it_multiplies():
    class Half(Factor):
        n_nodes = 3

        def matmat(self, dense, n_jobs):
            return dense

    with pytest.raises(TypeError, match="abstract"):
        Half()
