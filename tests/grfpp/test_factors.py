"""What every factor must do, stored or walked again."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import GRAPHS

from grfpp import Geometric, Graph
from grfpp.factors import Factor, KeptFactor, MeanFactor, StoredFactor, WalkedFactor
from grfpp.walks import WalkPlan, sample_factor, sampler
from grfpp.walks.walker import Walker

NAMES = ["weighted, sym", "directed, None", "loops and isolated, sym", "one node"]


def plan_of(name="weighted, sym", factor=0):
    return WalkPlan.of(GRAPHS[name], 0.6 ** np.arange(60), Geometric(0.2), 8, seed=1, factor=factor)


def stored(plan, dtype):
    return StoredFactor(sample_factor(plan, dtype=dtype))


def mean_of_one(plan, dtype):
    return MeanFactor([stored(plan, dtype), stored(plan, dtype)], [0.25, 0.75])


@pytest.fixture(
    params=[stored, WalkedFactor, KeptFactor, mean_of_one], ids=["stored", "walked", "kept", "mean"]
)
def make(request):
    return request.param


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_factor_is_one_matrix_however_it_is_asked(monkeypatch, make, name, dtype, n_jobs):
    monkeypatch.setattr(sampler, "TASK_STEPS", 100)
    matrix = sample_factor(plan_of(name), dtype=dtype)
    wanted = matrix.toarray()
    factor = make(plan_of(name), np.dtype(dtype))
    n = factor.n_nodes
    assert isinstance(factor, Factor) and n == len(wanted)
    block = np.random.default_rng(0).normal(size=(n, 3))
    assert_allclose(factor.matmat(block, n_jobs), wanted @ block, rtol=1e-6, atol=1e-9)
    assert_allclose(factor.rmatmat(block, n_jobs), wanted.T @ block, rtol=1e-6, atol=1e-9)
    assert_array_equal(factor.to_csr(n_jobs).toarray(), wanted)
    assert_array_equal(factor.transposed_csr(n_jobs).toarray(), wanted.T)
    nodes = np.array([n - 1, 0, n - 1, n // 2])
    assert_array_equal(factor.rows(nodes, n_jobs).toarray(), wanted[nodes])
    assert_array_equal(factor.columns(nodes, n_jobs).toarray(), wanted.T[nodes])
    assert factor.rows(nodes, n_jobs).dtype == factor.columns(nodes, n_jobs).dtype == dtype
    nothing = np.zeros(0, np.int64)
    assert factor.rows(nothing, n_jobs).shape == factor.columns(nothing, n_jobs).shape == (0, n)


def test_walked_entries_stand_in_the_order_of_the_stored_ones():
    plan = plan_of("directed, None")
    walked, kept = WalkedFactor(plan, np.dtype(np.float64)), stored(plan, np.float64)
    nodes = np.array([3, 1, 4])
    for ask in ("rows", "columns"):
        found, wanted = (getattr(factor, ask)(nodes, 2) for factor in (walked, kept))
        for part in ("indptr", "indices", "data"):
            assert_array_equal(getattr(found, part), getattr(wanted, part))


def test_rows_are_walked_from_these_nodes_only(monkeypatch):
    walked = []
    original = Walker.walk

    def counting(self, rows, *args):
        walked.extend(rows.tolist())
        return original(self, rows, *args)

    monkeypatch.setattr(Walker, "walk", counting)
    WalkedFactor(plan_of(), np.dtype(np.float64)).rows(np.array([4, 2]), 1)
    assert walked == [4, 2]


def test_a_stored_factor_is_its_matrix():
    matrix = sample_factor(plan_of())
    factor = StoredFactor(matrix)
    assert factor.n_nodes == 9
    assert factor.to_csr() is matrix


def test_the_transpose_is_made_once():
    factor = stored(plan_of(), np.float64)
    assert factor.transposed_csr() is factor.transposed_csr()
    assert isinstance(factor.transposed_csr(), sp.csr_array)


def test_a_factor_must_say_how_it_multiplies():
    class Half(Factor):
        n_nodes = 3

        def matmat(self, dense, n_jobs):
            return dense

    with pytest.raises(TypeError, match="abstract"):
        Half()


def test_a_mean_has_its_weights():
    factors = [stored(plan_of(factor=number), np.float64) for number in range(3)]
    weights = [0.5, 0.2, 0.3]
    wanted = sum(w * f.to_csr().toarray() for w, f in zip(weights, factors, strict=True))
    assert_allclose(MeanFactor(factors, weights).to_csr().toarray(), wanted)


def test_columns_are_walked_from_where_walks_may_come(monkeypatch):
    walked = []
    original = Walker.walk

    def counting(self, rows, *args):
        walked.extend(rows.tolist())
        return original(self, rows, *args)

    path = Graph(np.diag(np.ones(99), 1), directed=True)
    plan = WalkPlan.of(path, 0.5 ** np.arange(6), Geometric(0.2), 8, seed=1)
    wanted = sample_factor(plan).toarray().T[[50, 9]]
    monkeypatch.setattr(Walker, "walk", counting)
    for make in (WalkedFactor, KeptFactor):
        walked.clear()
        found = make(plan, np.dtype(np.float64)).columns(np.array([50, 9]), 1)
        assert_array_equal(found.toarray(), wanted)
        assert walked == [*range(4, 10), *range(45, 51)]
