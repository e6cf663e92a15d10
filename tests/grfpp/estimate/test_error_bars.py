"""Error bars hold the truth as often as they say; the error of an estimate is what is measured."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import skew
from small_graphs import GRAPHS, QUICK, karate
from statistics_helpers import copies
from unbiased_cases import WEIGHTS

import grfpp
from grfpp.errors import InputError, InputWarning
from grfpp.estimate.error_bars import (
    HARMLESS,
    LARGE,
    N_REPLICATES,
    entry_error,
    error_bound,
    estimate_error,
    seems_large,
    standard_error,
    widening,
)

KERNEL = grfpp.Diffusion(2.0)
FEW = {"n_walks": 4, "seed": 3, "check_error": False}


def test_the_deviation_of_the_replicates_widened():
    values = np.random.default_rng(0).normal(5, 0.01, (7, 3))
    skewed = 1 + 0.1 * skew(values, axis=0) ** 2
    wanted = widening(7) * skewed * values.std(axis=0, ddof=1)
    assert_allclose(standard_error(lambda x: x, values.mean(axis=0), values), wanted)
    sparse = [sp.csr_array(np.where([1, 0, 1], row, 0)[np.newaxis]) for row in values]
    found = standard_error(lambda x: x, sparse[0], sparse)
    assert sp.issparse(found)
    assert_allclose(found.toarray()[0], wanted * [1, 0, 1])
    assert standard_error(float, 0.1, [0.1] * 5) == 0.0


def test_intervals_are_those_of_students_distribution():
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(20_000, 5))
    held = np.abs(draws[:, 0]) < 1.96 * widening(4) * draws[:, 1:].std(axis=1, ddof=1)
    assert abs(held.mean() - 0.95) < 0.006


def test_intervals_of_what_is_rarely_large():
    """A skewness of 4: without regard to it, the share is 0.91."""
    draws = np.random.default_rng(0).gamma(0.25, size=(17, 20_000))
    std = standard_error(lambda x: x, draws[0], draws[1:])
    assert 0.93 < np.mean(np.abs(draws[0] - 0.25) < 1.96 * std) < 0.97


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("unweighted", {"degree": 1}),
        ("unweighted", {"degree": 2}),
        ("weighted", {"degree": 4, "n_walks": 4}),
        ("weighted", {"degree": 2, "symmetrize": False}),
        ("directed", {"degree": 2}),
        ("unweighted", {"degree": 2, "walks": "independent"}),
        ("directed", {"degree": 1, "walks": "independent", "n_walks": 40}),
        ("weighted", {"degree": 2, "walks": "independent", "symmetrize": True}),
    ],
)
def test_intervals_hold_the_truth_as_often_as_they_say(kind, options):
    """`grfpp_lab.studies.coverage` does this for more, and more often."""
    exact, n_copies = KERNEL.exact(WEIGHTS[kind]), 75
    n = len(exact)
    K = grfpp.sample(copies(WEIGHTS[kind], n_copies), KERNEL, seed=0, check_error=False, **options)
    block = np.tile(np.eye(n), (n_copies, 1))
    value, std = (each.reshape(n_copies, n, n) for each in K.product(block, return_std=True))
    held = np.abs(value - exact) <= 1.96 * std + 1e-13
    assert 0.925 < held.mean() < 0.97
    assert 0.90 < np.einsum("rii->ri", held).mean() < 0.985


def test_intervals_of_deflated_estimates_hold_the_truth():
    W, block = karate(), np.random.default_rng(0).normal(size=(34, 3))
    exact = KERNEL.exact(W)
    held = []
    for seed in range(60):
        K = grfpp.sample(W, KERNEL, n_walks=4, deflate=2, seed=seed, check_error=False)
        value, std = K.product(block, return_std=True)
        held.append(np.abs(value - exact @ block) <= 1.96 * std)
    assert 0.91 < np.mean(held) < 0.98


@pytest.mark.parametrize("name", ["weighted, sym", "directed, None"])
@pytest.mark.parametrize("options", [{}, {"symmetrize": False}, {"degree": 1}, {"n_groups": 5}])
def test_all_ways_to_ask_agree(name, options):
    W = GRAPHS[name]
    K = grfpp.sample(W, KERNEL, **{**FEW, **options})
    n = W.n_nodes
    value, std = K.product(np.eye(n), return_std=True)
    assert std.shape == (n, n) and (std > 0).any() and (std >= 0).all()
    rows = K.rows([2, 0], return_std=True)
    sparse = K.rows([2, 0], sparse=True, return_std=True)
    diagonal, some = K.diagonal(return_std=True), K.diagonal([4, 1], return_std=True)
    entry = K.entry(2, 3, return_std=True)
    for part, matrix in enumerate((value, std)):
        assert_allclose(rows[part], matrix[[2, 0]], atol=1e-12)
        assert_allclose(sparse[part].toarray(), rows[part], atol=1e-12)
        assert_allclose(diagonal[part], np.diag(matrix), atol=1e-12)
        assert_allclose(some[part], np.diag(matrix)[[4, 1]], atol=1e-12)
        assert entry[part] == pytest.approx(matrix[2, 3], abs=1e-12)
    assert isinstance(entry[1], float)
    assert_array_equal(K.T.rows([1], return_std=True)[1], K.T.rows([1], return_std=True)[1])
    assert_allclose(K.T.product(np.eye(n), return_std=True)[1], std.T, atol=1e-12)


def test_replicates_are_those_that_are_walked_on_demand():
    options = {**FEW, "degree": 2}
    kept = grfpp.sample(karate(), KERNEL, n_groups=N_REPLICATES, **options)
    on_demand = grfpp.sample(karate(), KERNEL, **options)
    assert len(kept.replicates) == N_REPLICATES and not on_demand.replicates
    assert_array_equal(kept.toarray(), on_demand.toarray())
    found, wanted = (K.rows([0, 5], return_std=True)[1] for K in (kept, on_demand))
    assert_allclose(found, wanted, rtol=1e-9)


def test_replicates_are_independent():
    K = grfpp.sample(karate(), KERNEL, n_groups=40, walks="independent", **FEW)
    noise = np.array([each.toarray() for each in (K, *K.replicates)]) - KERNEL.exact(karate())
    noise = noise.reshape(41, -1)
    products = noise @ noise.T / np.sqrt(np.outer(*2 * [np.sum(noise**2, axis=1)]))
    assert np.abs(products[np.triu_indices(41, 1)]).max() < 0.4
    assert abs(products[np.triu_indices(41, 1)].mean()) < 0.02


def test_files_keep_replicates_and_the_error(tmp_path):
    K = grfpp.sample(karate(), KERNEL, n_groups=3, deflate=1, **FEW)
    K.save(tmp_path / "k.npz")
    again = grfpp.KernelEstimate.load(tmp_path / "k.npz")
    assert len(again.replicates) == 3
    assert again.meta == K.meta and again.meta["relative_error"] > 0
    for found, wanted in zip(
        again.rows([1], return_std=True), K.rows([1], return_std=True), strict=True
    ):
        assert_array_equal(found, wanted)
    grfpp.sample(karate(), KERNEL, **FEW).save(tmp_path / "k.npz")
    again = grfpp.KernelEstimate.load(tmp_path / "k.npz")  # which has no origin
    with pytest.raises(InputError, match="n_groups=16"):
        again.entry(0, 1, return_std=True)
    with pytest.raises(InputError, match="without its graph"):
        again.measure_error()


def test_rows_of_large_graphs_are_walked_from_near_by(monkeypatch):
    """A row with its error bars does not take walks from everywhere."""
    from grfpp.walks.sampling import PoolWalker

    walked = []
    original = PoolWalker.walk

    def counting(self, rows, *args):
        walked.append(len(rows))
        return original(self, rows, *args)

    W = grfpp.Graph(nx.cycle_graph(20_000)).normalized("sym")
    K = grfpp.sample(W, grfpp.Diffusion(1.0), storage="recompute", seed=0, n_walks=2)
    monkeypatch.setattr(PoolWalker, "walk", counting)
    value, std = K.entry(5, 7, return_std=True)
    assert sum(walked) < 40_000 and abs(value - 0.136) < 0.01 + 3 * std


BARABASI = grfpp.Graph(nx.barabasi_albert_graph(400, 4, seed=0)).normalized("sym")
GRID = grfpp.Graph(nx.grid_2d_graph(18, 18)).normalized("sym")
DIRECTED = grfpp.Graph(
    nx.to_numpy_array(nx.gnp_random_graph(300, 0.02, seed=0, directed=True)), directed=True
).normalized("rw")


def true_errors(K, kernel, W):
    exact = kernel.exact(W)
    difference, off = K.toarray() - exact, ~np.eye(len(exact), dtype=bool)
    return [
        np.linalg.norm(difference[part]) / np.linalg.norm(exact[part])
        for part in (np.ones_like(off), off)
    ]


@pytest.mark.parametrize("W", [BARABASI, GRID, DIRECTED], ids=["scale-free", "grid", "directed"])
@pytest.mark.parametrize("lam", [1.0, 5.0, 20.0])
@pytest.mark.parametrize("walks", ["pooled", "independent"])
def test_the_measured_error_is_that_of_the_estimate(W, lam, walks):
    kernel = grfpp.Diffusion(lam)
    K = grfpp.sample(W, kernel, 2, seed=0, walks=walks, check_error=False)
    found, wanted = estimate_error(K, kernel, W), true_errors(K, kernel, W)
    assert found.relative == pytest.approx(wanted[0], rel=0.12)
    assert found.off_diagonal == pytest.approx(wanted[1], rel=0.12)
    assert 0 < found.relative_std < 0.1 * found.relative
    assert K.meta["relative_error"] == found.relative


def test_the_standard_error_is_that_over_many_probes():
    kernel = grfpp.Diffusion(3.0)
    K = grfpp.sample(BARABASI, kernel, seed=0)
    true, _ = true_errors(K, kernel, BARABASI)
    found = [estimate_error(K, kernel, BARABASI, seed) for seed in range(60)]
    scores = [(each.relative - true) / each.relative_std for each in found]
    assert 0.7 < np.sqrt(np.mean(np.square(scores))) < 1.5


@QUICK
@given(st.sampled_from(sorted(GRAPHS)), st.integers(1, 3))
def test_small_graphs_are_compared_exactly(name, degree):
    W, kernel = GRAPHS[name], grfpp.Diffusion(0.5)
    K = grfpp.sample(W, kernel, degree, n_walks=3, seed=1, on_infinite_variance="ignore")
    found, exact = estimate_error(K, kernel, W), kernel.exact(W)
    difference, off_diagonal = K.toarray() - exact, exact - np.diag(np.diag(exact))
    size = np.linalg.norm(exact)
    assert found.relative * size == pytest.approx(np.linalg.norm(difference), abs=1e-5 * size)
    assert found.relative_std == found.n_probes == 0
    if not off_diagonal.any():
        assert found.off_diagonal == 0


def test_estimates_that_are_all_but_exact():
    """Polynomials are taken more exactly where that matters."""
    W = grfpp.Graph(nx.balanced_tree(2, 7)).normalized("sym")
    kernel = grfpp.Diffusion(1.0)
    K = grfpp.sample(W, kernel, n_walks=40, seed=0)
    true = true_errors(K, kernel, W)[0]
    assert true < 1e-7
    assert estimate_error(K, kernel, W).relative == pytest.approx(true, rel=0.15)


def test_entries():
    kernel = grfpp.Diffusion(1.0)
    K = grfpp.sample(karate(), kernel, seed=0, n_walks=2)
    exact = kernel.exact(karate())
    wanted = np.abs(K.toarray() - exact).max() / exact.max()
    assert entry_error(K, kernel, karate()) == pytest.approx(wanted, rel=1e-3)
    K = grfpp.sample(BARABASI, kernel, seed=0)
    exact = kernel.exact(BARABASI)
    largest = np.abs(K.toarray() - exact).max() / exact.max()
    assert 0.2 * largest < entry_error(K, kernel, BARABASI) <= 1.01 * largest


@pytest.mark.parametrize("lam", [40.0, 100.0])
def test_estimates_of_little_use_warn_and_say_what_helps(lam):
    kernel = grfpp.Diffusion(lam)
    with pytest.warns(InputWarning, match="relative error") as seen:
        K = grfpp.sample(BARABASI, kernel, 1, seed=0)
    assert len(seen) == 1 and seen[0].filename == __file__
    assert "a higher degree" in seen[0].message.advice
    true = true_errors(K, kernel, BARABASI)[0]
    assert true > 0.4
    assert "kernel_operator" in str(seen[0].message)
    better = grfpp.sample(BARABASI, kernel, "auto", seed=0, deflate="auto")  # and that is silent
    assert better.meta["relative_error"] < 0.2


def test_one_probe_finds_large_errors_only():
    kernel = grfpp.Diffusion(1.0)
    assert not seems_large(lambda block: kernel.apply(BARABASI, block), kernel, BARABASI)
    assert seems_large(lambda block: 0 * block, kernel, BARABASI)


def test_errors_of_values_whose_squares_overflow():
    W = grfpp.Graph(nx.random_regular_graph(9, 30, seed=0))  # exp(50 W) has entries of 1e194
    with pytest.warns(InputWarning):
        K = grfpp.sample(W, grfpp.Diffusion(50.0), seed=0)
    assert 0.5 < K.meta["relative_error"] < 10


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # expected where errors are large
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_few_rows_bound_the_error(degree):
    """No estimate that deserves a warning is passed, and small errors are not probed further."""
    graphs = [
        nx.star_graph(300),
        nx.gnp_random_graph(400, 0.005, seed=1),
        nx.powerlaw_cluster_graph(400, 3, 0.5, seed=2),
        nx.grid_2d_graph(20, 20),
    ]
    n_large = n_passed = 0
    for seed, graph in enumerate(graphs):
        W = grfpp.Graph(graph).normalized("sym")
        for time in (1.0, 8.0, 40.0):
            kernel = grfpp.Diffusion(time)
            for n_walks, deflate in ((1, 0), (1, 3), (16, 0)):
                options = {"n_walks": n_walks, "deflate": deflate, "seed": seed}
                K = grfpp.sample(W, kernel, degree, check_error=False, **options)
                true, bound = true_errors(K, kernel, W)[0], error_bound(K.chain, kernel, W)
                assert bound > 0.5 * min(true, LARGE)  # so at least `HARMLESS` where it matters
                n_large, n_passed = n_large + (true > LARGE), n_passed + (bound < HARMLESS)
    assert n_large > 1 and n_passed > 8


def test_the_check_after_sampling_makes_no_product(monkeypatch):
    def fail(*_):
        raise AssertionError

    monkeypatch.setattr("grfpp.estimate.sampling.seems_large", fail)
    monkeypatch.setattr(grfpp.KernelEstimate, "_times", fail)
    for options in ({}, {"degree": 1, "n_walks": 64}, {"dtype": np.float32}):
        grfpp.sample(BARABASI, grfpp.Diffusion(1.0), seed=0, **options)
