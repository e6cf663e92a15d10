import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from refusal_case import bad_values, refused
from small_graphs import GRAPHS, karate
from statistics_helpers import copies
from unbiased_cases import KERNELS, WEIGHTS

import grfpp
from grfpp import Graph, InputError, LocalKernel
from grfpp.local import local_rows, local_top_k

HEAT = grfpp.Diffusion(1.0)
#: Masses of all steps share one pool where coefficients are geometric.
GEOMETRIC = [grfpp.PersonalizedPageRank(0.2), grfpp.InversePower(1)]


def signed(rows, n, seed=0):
    """Sums of each copy's rows with random signs on both sides: every entry counts."""
    n_copies = rows.shape[0] // n
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (2, n, 24))
    right = rows @ np.tile(signs[1], (n_copies, 1))
    return np.einsum("cis,is->cs", right.reshape(n_copies, n, 24), signs[0]), signs


def z_scores(found, signs, exact):
    truth = np.einsum("is,ij,js->s", signs[0], exact, signs[1])
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    return (found.mean(axis=0) - truth) / np.maximum(error, 1e-13 * np.abs(exact).sum())


@pytest.mark.parametrize("budget", [2.5, 12, 60])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("kernel", [*KERNELS, *GEOMETRIC], ids=repr)
@pytest.mark.filterwarnings("ignore::grfpp.errors.InputWarning")
def test_rows_are_unbiased(kind, kernel, budget):
    weights, n_copies = WEIGHTS[kind], 400
    exact = kernel.exact(Graph(weights))
    near = LocalKernel(copies(weights, n_copies), kernel, budget=budget, seed=1)
    rows = near.rows(np.arange(len(weights) * n_copies))
    z = z_scores(*signed(rows, len(weights)), exact)
    # 24 sums that are not independent: three times what they have on average is no chance.
    assert np.sqrt(np.mean(z**2)) < 1.7 and np.abs(z).max() < 4.5


@pytest.mark.parametrize("kind", ["unweighted", "weighted", "directed"])
@pytest.mark.parametrize("kernel", [grfpp.Diffusion(2.0), grfpp.InversePower(1)], ids=repr)
def test_entries_between_two_sides_are_unbiased(kind, kernel):
    weights = WEIGHTS[kind]
    some = np.arange(12)
    exact = kernel.exact(Graph(weights))[:12, :12]
    W = Graph(weights)
    found = np.array([LocalKernel(W, kernel, budget=30, seed=i).block(some) for i in range(250)])
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    varies = error > 1e-9
    z = (found.mean(axis=0) - exact)[varies] / error[varies]
    assert_allclose(found.mean(axis=0)[~varies], exact[~varies], atol=1e-6)
    assert np.sqrt(np.mean(z**2)) < 1.3


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.filterwarnings("ignore::grfpp.errors.InputWarning")
def test_large_budgets_are_exact(name):
    W = GRAPHS[name]
    exact = HEAT.exact(W)
    near = LocalKernel(W, HEAT, budget=1e6)
    assert_allclose(near.rows(np.arange(W.n_nodes)).toarray(), exact, atol=1e-12)
    some = np.arange(min(2, W.n_nodes))
    assert_allclose(near.block(some), exact[:2, :2], atol=1e-12)
    assert_allclose(near.entry(0, some[-1]), exact[0, some[-1]], atol=1e-12)


def test_the_nearest_nodes_are_those_of_the_exact_row():
    W = karate()
    exact = HEAT.exact(W)
    nodes, values = LocalKernel(W, HEAT, budget=1e6).top_k(np.arange(34), 5)
    for node in range(34):
        assert_allclose(values[node], np.sort(exact[node])[::-1][:5], atol=1e-12)
        assert_allclose(exact[node, nodes[node]], values[node], atol=1e-12)
    others, _ = LocalKernel(W, HEAT, budget=1e6).top_k(7, 3, include_self=False)
    assert others.shape == (3,) and 7 not in others
    W = Graph([(0, 1), (2, 3)]).normalized("sym")  # of which fewer are reached
    nodes, values = LocalKernel(W, HEAT).top_k(0, 4)
    assert sorted(nodes[:2]) == [0, 1] and nodes[2:].tolist() == [-1, -1]
    assert values[2:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("kernel", [HEAT, grfpp.InversePower(1)], ids=repr)
@pytest.mark.parametrize("kind", ["unweighted", "weighted", "directed"])
def test_the_same_bits_for_any_threads_and_any_company(kernel, kind):
    W = Graph(WEIGHTS[kind])
    one, two = (LocalKernel(W, kernel, budget=20, seed=3, n_jobs=n_jobs) for n_jobs in (1, 2))
    whole = one.rows(np.arange(34)).toarray()
    assert_array_equal(whole, two.rows(np.arange(34)).toarray())
    assert_array_equal(whole[[20, 4]], one.rows([20, 4]).toarray())
    assert_array_equal(whole[7], one.rows(7).toarray().ravel())
    again = pickle.loads(pickle.dumps(one.plan))
    assert_array_equal(whole[3:5], local_rows(again, np.array([3, 4])).toarray())
    for a, b in zip(local_top_k(again, np.array([5]), 4), two.top_k([5], 4), strict=True):
        assert_array_equal(a, b)
    other = LocalKernel(W, kernel, budget=20, seed=4).rows(np.arange(34)).toarray()
    assert not np.array_equal(whole, other)


def test_sixteen_threads_get_the_answers_of_one():
    W = Graph(nx.barabasi_albert_graph(2000, 4, seed=1)).normalized("rw")
    near = LocalKernel(W, grfpp.PersonalizedPageRank(0.15), budget=500, seed=3, n_jobs=1)
    nodes = np.random.default_rng(0).integers(0, 2000, 800)
    expected = near.top_k(nodes, 10)
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda node: near.top_k(int(node), 10), nodes))
    for part, values in enumerate(expected):
        assert_array_equal([answer[part] for answer in answers], values)


@pytest.mark.parametrize("kind", ["unweighted", "weighted", "directed"])
def test_error_bars_hold_the_truth_as_often_as_they_say(kind):
    weights, n_copies = WEIGHTS[kind], 60
    kernel, n = grfpp.Diffusion(2.0), 34
    exact = kernel.exact(Graph(weights))
    near = LocalKernel(copies(weights, n_copies), kernel, budget=100, seed=2)
    rows, std = near.rows(np.arange(n * n_copies), return_std=True)
    held = []
    for copy in range(n_copies):
        part = slice(copy * n, copy * n + n)
        value, bar = rows[part, part].toarray(), std[part, part].toarray()
        held.append(np.abs(value - exact) <= 1.96 * bar + 1e-12)
    # What pools hardly ever reach has mostly never been seen by sixteen of them.
    large = exact > 1e-2 * exact.max(axis=1, keepdims=True)
    # The bars of entries that few pools reach are wider than they need be.
    assert 0.92 < np.mean(np.array(held)[:, large]) < 0.985
    nodes, values, bars = near.top_k(np.arange(n * n_copies), 3, return_std=True)
    truth = exact[np.arange(n * n_copies)[:, None] % n, nodes % n]
    assert np.mean(np.abs(values - truth) <= 1.96 * bars + 1e-12) > 0.9


def test_a_tolerance_is_kept():
    W = Graph(WEIGHTS["weighted"])
    exact = grfpp.Diffusion(3.0).exact(W)
    near = LocalKernel(W, grfpp.Diffusion(3.0), tol=0.02)
    errors = near.rows(np.arange(34)).toarray() - exact
    share = np.linalg.norm(errors, axis=1) / np.linalg.norm(exact, axis=1)
    assert np.sqrt(np.mean(share**2)) < 0.03
    assert near.budget > LocalKernel(W, grfpp.Diffusion(3.0), tol=0.2).budget


def test_nodes_by_name_and_kernels_as_text():
    assert LocalKernel(karate(), "diffusion:2", seed=0).kernel == grfpp.Diffusion(2.0)
    W = Graph([("ann", "bob"), ("bob", "cy")]).normalized("sym")
    near = LocalKernel(W, HEAT)
    assert near.entry("ann", "cy") == pytest.approx(HEAT.exact(W)[0, 2])
    assert near.rows(["bob"]).shape == (1, 3)
    with pytest.raises(InputError, match="dan"):
        near.rows("dan")


NEAR = LocalKernel(karate(), HEAT)
test_bad_options = bad_values(
    partial(LocalKernel, karate(), HEAT),
    **{"tol": [0, -1.0, 1, 2], "budget": [0, "many"], "seed": -1, "n_jobs": 0},
)
test_bad_questions = refused(
    tol=partial(LocalKernel, karate(), HEAT, tol=0.1, budget=5),
    nodes=[partial(NEAR.rows, bad) for bad in (34, -1, [0, 99], 0.5)],
    k=partial(NEAR.top_k, 0, 0),
)


def test_other_refusals():
    with pytest.raises(InputError, match="block"):
        NEAR.entry([0, 1], 2)
    with pytest.raises(InputError, match="kernel"):
        LocalKernel(karate(), "warmth")
    with pytest.raises(InputError, match="converges"):
        LocalKernel(karate(), grfpp.InversePower(1))


def test_neighbours_of_all_nodes(tmp_path):
    W = karate()
    near = LocalKernel(W, HEAT, budget=1e6)
    graph = near.neighbors_graph(3)
    assert sp.issparse(graph) and graph.shape == (34, 34)
    assert np.diff(graph.indptr).tolist() == [3] * 34 and not graph.diagonal().any()
    nodes, values = near.top_k(np.arange(34), 3, include_self=False)
    assert_allclose(np.sort(graph.data.reshape(34, 3)), np.sort(values))
    assert_array_equal(np.sort(graph.indices.reshape(34, 3)), np.sort(nodes))
    written = near.neighbors_graph(3, output=tmp_path / "near.grf")
    assert_allclose(written.adjacency.toarray(), graph.toarray())
    every = LocalKernel(W, HEAT)
    whole = every.neighbors_graph(10**12, include_self=True)  # more than there are
    assert whole.nnz == every.rows(np.arange(34)).nnz


def test_graphs_on_disk_give_the_same_bits(tmp_path):
    W = Graph(WEIGHTS["weighted"])
    W.save(tmp_path / "w.grf")
    found, wanted = (
        LocalKernel(each, HEAT, budget=15).rows(np.arange(34)).toarray()
        for each in (Graph.open(tmp_path / "w.grf"), W)
    )
    assert_array_equal(found, wanted)


@pytest.mark.parametrize("how", ["replaced", "altered", "cut", "removed"])
def test_a_graph_on_disk_that_has_changed_is_refused(tmp_path, how):
    path = tmp_path / "karate.grf"
    Graph(nx.karate_club_graph()).save(path)
    near = LocalKernel(Graph.open(path).normalized("sym"), HEAT)
    assert near.entry(0, 1) > 0
    edges = path / "indices.bin"
    if how == "replaced":
        Graph(np.ones((34, 34))).save(path)
    elif how == "altered":
        content = edges.read_bytes()
        edges.write_bytes(b"\xff" * len(content))
    elif how == "cut":
        edges.write_bytes(edges.read_bytes()[:-4])
    else:
        edges.unlink()
    for ask in (
        lambda: near.rows([3]),
        lambda: near.top_k(3),
        lambda: near.top_k([3, 4], 3, return_std=True),
        lambda: near.entry(0, 1),
        lambda: near.block([0, 1], [5]),
        lambda: near.neighbors_graph(2),
        lambda: near.neighbors_graph(2, tmp_path / "near.grf"),
    ):
        with pytest.raises(InputError, match=r"karate.grf has changed since it was opened"):
            ask()
    assert not any(each.name.startswith(".near") for each in tmp_path.iterdir())


def test_neighbours_of_all_nodes_with_error_bars():
    W = Graph(nx.barabasi_albert_graph(60, 3, seed=1)).normalized("sym")
    near = LocalKernel(W, grfpp.Diffusion(2.0), budget=30, seed=3)
    matrix, errors = near.neighbors_graph(4, return_std=True)
    assert_array_equal(matrix.toarray(), near.neighbors_graph(4).toarray())
    nodes, values, std = near.top_k(7, 4, return_std=True, include_self=False)
    assert_array_equal(matrix.toarray()[7, nodes], values)
    assert_array_equal(errors.toarray()[7, nodes], std)
    assert (errors.data > 0).any()
    assert_array_equal(errors.indices, matrix.indices)
    with pytest.raises(InputError, match=r"^return_std is not available"):
        near.neighbors_graph(4, "x.grf", return_std=True)


def test_a_geometric_series_that_ends_is_not_summed_to_infinity():
    W = Graph(nx.karate_club_graph()).normalized("sym")
    kernel = grfpp.TaylorKernel([1, 0.9, 0.81])
    row = LocalKernel(W, kernel, seed=0).rows([0]).toarray()
    assert_allclose(row[0], kernel.exact(W)[0], atol=1e-3)


@pytest.mark.parametrize("name", ["sym", "rw", None])
@pytest.mark.parametrize(
    "kernel",
    [
        grfpp.TaylorKernel([1.0, 0.5, -0.25, 0.125]),
        grfpp.RegularizedLaplacian(2, 0.5),
        grfpp.InversePower(2, 2),
    ],
)
def test_graphs_without_cycles_have_all_kernels(name, kernel):
    """Their spectral radius is zero, and every walk ends: sampled, exact and local answers."""
    rng = np.random.default_rng(0)
    A = np.tril(rng.random((30, 30)) * (rng.random((30, 30)) < 0.2), -1)
    W = grfpp.Graph(A).normalized(name)
    exact = kernel.exact(W)
    for K in (grfpp.sample(W, kernel, seed=0), grfpp.kernel_operator(W, kernel, method="walks")):
        assert np.linalg.norm(K @ np.eye(30) - exact) < 0.05 * np.linalg.norm(exact)
    local = LocalKernel(W, kernel)
    np.testing.assert_allclose(local.rows(range(30)).toarray(), exact, atol=1e-9)
    np.testing.assert_allclose(local.block(range(30), range(30)), exact, atol=1e-9)


def _spread_graphs(number):
    """Random graphs, kernels and budgets, on many of which entries are reached by chance."""
    kernels = [HEAT, grfpp.Diffusion(5.0), *GEOMETRIC[:1], grfpp.InversePower(2, 2)]
    for seed in range(number):
        rng = np.random.default_rng(seed)
        n, directed = int(rng.integers(30, 200)), seed % 3 == 0
        graph = nx.gnp_random_graph(n, rng.uniform(2, 8) / n, seed=seed, directed=directed)
        W = Graph(graph).normalized(("sym", "rw")[seed % 2], 0.9)
        yield LocalKernel(W, kernels[seed % 4], budget=2 ** rng.uniform(1, 9), seed=seed), rng


@pytest.mark.filterwarnings("ignore::grfpp.errors.InputWarning")
def test_errors_of_entries_that_are_reached_by_chance():
    found = {"rows": [], "block": [], "top_k": []}
    for near, rng in _spread_graphs(24):
        n = near.graph.n_nodes
        exact = near.kernel.exact(near.graph)
        nodes, columns = rng.choice(n, 5, replace=False), rng.choice(n, 5)
        rows, std = near.rows(nodes, return_std=True)
        at = (np.repeat(np.arange(5), np.diff(rows.indptr)), rows.indices)
        best, values, bars = near.top_k(nodes, 5, return_std=True)
        truth = np.where(best < 0, 0.0, exact[nodes[:, None], best])
        block, block_std = near.block(nodes, columns, return_std=True)
        for name, error, bar in (
            ("rows", rows.data - exact[nodes[at[0]], at[1]], std.toarray()[at]),
            ("block", block - exact[np.ix_(nodes, columns)], block_std),
            ("top_k", values - truth, bars),
        ):
            error[np.abs(error) < 1e-12 * np.abs(exact).max()] = 0.0
            found[name].append((error / np.maximum(bar, 1e-300)).ravel())
    for scores in map(np.concatenate, found.values()):
        assert np.mean(np.abs(scores) > 3) <= 0.006
        assert 0.6 < np.std(scores[(scores != 0) & (np.abs(scores) < 50)]) < 1.3


def test_exact_rows_have_no_error():
    near = LocalKernel(karate(), HEAT, budget=1e6)
    assert near.rows([0, 1], return_std=True)[1].data.max(initial=0.0) < 1e-12
    assert near.entry(0, 1, return_std=True)[1] < 1e-12
    tall = near.block(np.arange(34), [3], return_std=True)[1]
    assert tall.shape == (34, 1) and tall.max() < 1e-12


def test_blocks_with_many_rows_have_the_errors_of_their_transposes():
    W = Graph(nx.gnp_random_graph(80, 0.03, seed=1)).normalized("rw")
    near = LocalKernel(W, HEAT, budget=3, seed=0)
    tall, wide = near.block(np.arange(80), [3], True), near.block([3], np.arange(80), True)
    degree = np.maximum(W.out_degree, 1)
    assert (tall[1] > 0).all()
    assert_allclose(tall[1][:, 0], wide[1][0] * degree[3] / degree, rtol=1e-9)


def test_only_positive_entries_have_a_node(tmp_path):
    path = Graph(nx.path_graph(9))
    # Nodes at odd distances are reached, but their entries are zero.
    even = LocalKernel(path.normalized("sym", 0.5), grfpp.InversePower(1, 2), budget=1e6)
    nodes, values = even.top_k(0, 9)
    assert sorted(nodes[:5]) == [0, 2, 4, 6, 8] and (values[:5] > 0).all()
    assert nodes[5:].tolist() == [-1] * 4 and not values[5:].any()
    signed = LocalKernel(path.normalized("sym"), grfpp.TaylorKernel([1.0, -0.5, 0.25]))
    for near in (even, signed):
        in_memory = near.neighbors_graph(9, include_self=True)
        assert (in_memory.data > 0).all()
        on_disk = near.neighbors_graph(9, tmp_path / "near.grf", include_self=True)
        assert_array_equal(in_memory.indptr, on_disk.indptr)
        assert_array_equal(in_memory.toarray(), on_disk.adjacency.toarray())


@pytest.mark.parametrize("loop", ["loops.write_rows", "blocks.write_side", "loops.select_largest"])
def test_a_query_that_fails_leaves_no_trace(monkeypatch, loop):
    W = karate()
    near = LocalKernel(W, HEAT, budget=30, n_jobs=1)

    def ask():
        return near.rows(5).toarray(), near.entry(3, 4), near.top_k(7, 3)[1]

    def fail(*arguments):
        buffers = next(each for each in arguments if hasattr(each, "cells"))
        # As by a loop that raises in its midst: nodes stay in the cells of their hash.
        for node in range(34):
            cell = node * 0x9E3779B97F4A7C15 % 2**64 >> int(buffers.shift)
            buffers.cells["key"][cell] = (node << 32) + 5
        raise ZeroDivisionError

    wanted = ask()
    with monkeypatch.context() as patch:
        patch.setattr(f"grfpp.local.{loop}", fail)
        with pytest.raises(ZeroDivisionError):
            ask()
    for found, value in zip(ask(), wanted, strict=True):
        assert_array_equal(found, value)
