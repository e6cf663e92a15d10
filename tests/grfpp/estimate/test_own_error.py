import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import GRAPHS, QUICK, karate

import grfpp
from grfpp.errors import InputError, InputWarning
from grfpp.estimate.own_error import entry_error, own_error, seems_large

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
def test_the_error_of_this_very_estimate(W, lam, walks):
    kernel = grfpp.Diffusion(lam)
    K = grfpp.sample(W, kernel, 2, seed=0, walks=walks, check_error=False)
    found, wanted = own_error(K, kernel, W), true_errors(K, kernel, W)
    assert found.relative == pytest.approx(wanted[0], rel=0.12)
    assert found.off_diagonal == pytest.approx(wanted[1], rel=0.12)
    assert 0 < found.relative_std < 0.1 * found.relative
    assert K.meta["relative_error"] == found.relative


def test_the_standard_error_is_that_over_many_probes():
    kernel = grfpp.Diffusion(3.0)
    K = grfpp.sample(BARABASI, kernel, seed=0)
    (true, _), found = (
        true_errors(K, kernel, BARABASI),
        [own_error(K, kernel, BARABASI, seed) for seed in range(60)],
    )
    scores = [(each.relative - true) / each.relative_std for each in found]
    assert 0.7 < np.sqrt(np.mean(np.square(scores))) < 1.5


@QUICK
@given(st.sampled_from(sorted(GRAPHS)), st.integers(1, 3))
def test_small_graphs_are_compared_exactly(name, degree):
    W, kernel = GRAPHS[name], grfpp.Diffusion(0.5)
    K = grfpp.sample(W, kernel, degree, n_walks=3, seed=1, on_infinite_variance="ignore")
    found, exact = own_error(K, kernel, W), kernel.exact(W)
    difference, beside = K.toarray() - exact, exact - np.diag(np.diag(exact))
    size = np.linalg.norm(exact)
    assert found.relative * size == pytest.approx(np.linalg.norm(difference), abs=1e-5 * size)
    assert found.relative_std == found.n_probes == 0
    if not beside.any():
        assert found.off_diagonal == 0


def test_estimates_that_are_all_but_exact():
    """Polynomials are taken more exactly where that matters."""
    W = grfpp.Graph(nx.balanced_tree(2, 7)).normalized("sym")
    kernel = grfpp.Diffusion(1.0)
    K = grfpp.sample(W, kernel, n_walks=40, seed=0)
    true = true_errors(K, kernel, W)[0]
    assert true < 1e-7
    assert own_error(K, kernel, W).relative == pytest.approx(true, rel=0.15)


def test_a_graph_without_edges():
    W, kernel = grfpp.Graph(np.zeros((200, 200))), grfpp.Diffusion(1.0)
    found = own_error(grfpp.sample(W, kernel, seed=0), kernel, W)
    assert found.relative < 1e-12 and found.off_diagonal == 0


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


@pytest.mark.parametrize(("lam", "degree"), [(40.0, 1), (100.0, 1)])
def test_estimates_of_little_use_warn_and_say_what_helps(lam, degree):
    kernel = grfpp.Diffusion(lam)
    with pytest.warns(InputWarning, match=r"is off by .* take a higher degree than 1") as seen:
        K = grfpp.sample(BARABASI, kernel, degree, seed=0)
    assert len(seen) == 1 and seen[0].filename == __file__
    true = true_errors(K, kernel, BARABASI)[0]
    assert f"off by {true:.1g}"[:-1] in str(seen[0].message) or true > 0.5
    assert "kernel_operator" in str(seen[0].message)
    better = grfpp.sample(BARABASI, kernel, "auto", seed=0, deflate="auto")  # and that is silent
    assert better.meta["relative_error"] < 0.2


def test_a_first_look_sees_what_is_large_and_not_what_is_small():
    kernel = grfpp.Diffusion(1.0)
    assert not seems_large(lambda block: kernel.apply(BARABASI, block), kernel, BARABASI)
    assert seems_large(lambda block: 0 * block, kernel, BARABASI)


def test_estimates_of_unknown_origin(tmp_path):
    K = grfpp.sample(karate(), grfpp.Diffusion(1.0), seed=0)
    K.save(tmp_path / "k.npz")
    again = grfpp.KernelEstimate.load(tmp_path / "k.npz")
    with pytest.raises(InputError, match="nobody knows its graph"):
        again.measure_error()
