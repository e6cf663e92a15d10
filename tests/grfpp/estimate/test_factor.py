"""What every factor must do, stored or sampled again."""

import numpy as np
import pytest
from independent_walks import sample
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import GRAPHS, directed, karate, weighted

import grfpp
from grfpp import Diffusion, Geometric, Graph
from grfpp.estimate.batches import LOCAL_BACKEND
from grfpp.estimate.factor import Factor, KeptFactor, StoredFactor, WalkedFactor
from grfpp.walks import WalkPlan, sample_factor, sampling
from grfpp.walks.planning import plan_walks
from grfpp.walks.sampling import Walker

NAMES = ["weighted, sym", "directed, None", "loops and isolated, sym", "one node"]


def plan_of(name="weighted, sym"):
    return WalkPlan.of(GRAPHS[name], 0.6 ** np.arange(60), Geometric(0.2), 8, seed=1)


def stored(plan, dtype):
    return StoredFactor(sample_factor(plan, dtype=dtype))


def mean_of_one(plan, dtype):
    return LOCAL_BACKEND.mean([stored(plan, dtype), stored(plan, dtype)], [0.25, 0.75])


@pytest.fixture(
    params=[stored, WalkedFactor, KeptFactor, mean_of_one], ids=["stored", "walked", "kept", "mean"]
)
def make(request):
    return request.param


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_factor_is_one_matrix_however_it_is_asked(monkeypatch, make, name, dtype, n_jobs):
    monkeypatch.setattr(sampling, "TASK_STEPS", 100)
    wanted = sample_factor(plan_of(name), dtype=dtype).toarray()
    factor = make(plan_of(name), np.dtype(dtype))
    n = factor.n_nodes
    assert isinstance(factor, Factor) and n == len(wanted)
    block = np.random.default_rng(0).normal(size=(n, 3))
    nodes, nothing = np.array([n - 1, 0, n - 1, n // 2]), np.zeros(0, np.int64)
    for transposed, matrix in ((False, wanted), (True, wanted.T)):
        product = factor.matmat(block, n_jobs, transposed=transposed)
        assert_allclose(product, matrix @ block, rtol=1e-6, atol=1e-9)
        assert_array_equal(factor.to_csr(n_jobs, transposed=transposed).toarray(), matrix)
        rows = factor.rows(nodes, n_jobs, transposed=transposed)
        assert_array_equal(rows.toarray(), matrix[nodes])
        assert rows.dtype == dtype
        assert factor.rows(nothing, n_jobs, transposed=transposed).shape == (0, n)


@pytest.fixture
def walked(monkeypatch):
    """The nodes that walks are started from."""
    nodes, original = [], Walker.walk

    def counting(self, rows, *args):
        nodes.extend(rows.tolist())
        return original(self, rows, *args)

    monkeypatch.setattr(Walker, "walk", counting)
    return nodes


def test_rows_are_walked_from_these_nodes_and_columns_from_those_in_reach(walked):
    WalkedFactor(plan_of(), np.dtype(np.float64)).rows(np.array([4, 2]), 1)
    assert walked == [4, 2]
    path = Graph(np.diag(np.ones(99), 1), directed=True)
    plan = WalkPlan.of(path, 0.5 ** np.arange(6), Geometric(0.2), 8, seed=1)
    wanted = sample_factor(plan).toarray().T[[50, 9]]
    for make in (WalkedFactor, KeptFactor):
        walked.clear()
        found = make(plan, np.dtype(np.float64)).rows(np.array([50, 9]), 1, transposed=True)
        assert_array_equal(found.toarray(), wanted)
        assert walked == [*range(4, 10), *range(45, 51)]


SOURCES = {
    "unweighted": karate(),
    "weighted": Graph(weighted()).normalized("sym"),
    "directed": Graph(directed()).normalized("rw", 0.9),
}


def _both(graph, **options):
    return [
        grfpp.sample(graph, Diffusion(1.0), n_walks=8, seed=2, storage=storage, **options)
        for storage in ("memory", "recompute")
    ]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {"degree": 2, "dtype": dtype}) for name in SOURCES for dtype in ("f8", "f4")),
        *(("weighted", {"degree": degree, "symmetrize": True}) for degree in (1, 3)),
        *(("weighted", {"degree": degree, "deflate": 2}) for degree in (1, 3)),
    ],
    ids=str,
)
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_same_bits_as_stored(monkeypatch, tmp_path, name, options, n_jobs):
    def reloaded(K):
        K.save(tmp_path / "k.npz")
        return grfpp.KernelEstimate.load(tmp_path / "k.npz").toarray()

    monkeypatch.setattr(grfpp.walks.sampling, "TASK_STEPS", 300)
    stored, walked = _both(SOURCES[name], n_jobs=n_jobs, **options)
    V = np.random.default_rng(0).normal(size=(stored.n_nodes, 3))
    for query in (
        reloaded,
        lambda K: K @ V,
        lambda K: K.T @ V[:, 0],
        lambda K: K.toarray(),
        lambda K: K.rows([1, 4]),
        lambda K: K.diagonal(),
        lambda K: K.entry(2, 3),
        lambda K: np.stack(K.project(5, seed=0)),
    ):
        assert_array_equal(query(stored), query(walked))


def test_sampling_walks_nothing_yet(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("walked")

    monkeypatch.setattr(grfpp.walks.sampling.Walker, "walk", refuse)
    sample(karate(), Diffusion(1.0), storage="recompute")
    sample(karate(), Diffusion(1.0), storage="recompute", deflate=3)


@pytest.mark.parametrize("name", SOURCES)
def test_full_walks_change_no_number(name):
    short, full = (
        sample(SOURCES[name], Diffusion(1.0), 1, 8, seed=0, full_walks=full)
        for full in (False, True)
    )
    assert_array_equal(short.toarray(), full.toarray())
    options = {"degree": 1, "n_walks": 8, "termination": Geometric(0.01), "walks": "independent"}
    short, full = (
        plan_walks(
            SOURCES[name], Diffusion(1.0), grfpp.WalkOptions.of(**options, full_walks=full)
        ).forward.expected_steps
        for full in (False, True)
    )
    assert short < full == pytest.approx(8 * 99, rel=1e-6)
