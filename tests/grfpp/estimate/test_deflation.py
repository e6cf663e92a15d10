"""Which eigenvectors are taken, and that they are right."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import GRAPHS, directed, karate, weighted

import grfpp
from grfpp import Cosine, Diffusion, Graph, InputError, PStep, RegularizedLaplacian, sample
from grfpp.estimate import deflation as module
from grfpp.estimate.chain import Chain, SignedChain
from grfpp.estimate.deflation import Deflation, deflation_of
from grfpp.estimate.factor import StoredFactor
from grfpp.linalg import spectra
from grfpp.linalg.spectra import Eigenpairs

KERNELS = [Diffusion(3.0), RegularizedLaplacian(2, 4.0), PStep(3, -2.0), Cosine(0.5)]
EVEN = grfpp.SquaredDiffusion(3.0)


def spectrum(graph, kernel):
    """All values of the kernel, the largest first."""
    values = kernel.value(np.linalg.eigvalsh(graph.adjacency.toarray()))
    return values[np.argsort(-np.abs(values))]


def assert_exact(graph, kernel, found):
    U, g = found.vectors, found.values
    assert_allclose(U.T @ U, np.eye(len(g)), atol=1e-9)
    assert_allclose(kernel.exact(graph) @ U, U * g, atol=1e-8 * np.abs(g).max())
    assert (np.diff(np.abs(g)) <= 1e-9 * np.abs(g[0])).all()


def no_lanczos(monkeypatch):
    def refuse(graph, kernel, known, number):
        assert number == 0
        return Eigenpairs(np.zeros(0), np.zeros((graph.n_nodes, 0)))

    monkeypatch.setattr(module, "_other_pairs", refuse)


# --- the pairs -----------------------------------------------------------------------------------

WEIGHTED = ("weighted, sym", "weighted, None", "loops and isolated, sym")


@pytest.mark.parametrize("kernel", [*KERNELS, EVEN], ids=repr)
@pytest.mark.parametrize("name", [*WEIGHTED, "unweighted, sym", "regular, raw"])
@pytest.mark.parametrize("dense", [True, False])
def test_the_pairs_are_exact_and_the_largest(monkeypatch, name, kernel, dense):
    if not dense:
        monkeypatch.setattr(spectra, "DENSE_NODES", 0)
    graph = GRAPHS[name]
    graph = graph.normalized(None, 0.7 / graph.spectral_radius())
    found = deflation_of(graph, kernel, 2)
    assert_exact(graph, kernel, found)
    assert_allclose(np.abs(found.values), np.abs(spectrum(graph, kernel)[:2]), rtol=1e-9)


@pytest.mark.parametrize(
    ("graph", "kernel", "number"),
    [
        (Graph(nx.grid_2d_graph(4, 5)).normalized("sym"), EVEN, 6),  # bipartite: both ends count
        (karate(), EVEN, 20),  # the ends meet, and have nothing in common
        (karate(), EVEN, 33),
        (karate(), Diffusion(1.0), 33),  # all but one
    ],
    ids=str,
)
def test_both_ends_of_the_spectrum(graph, kernel, number):
    found = deflation_of(graph, kernel, number)
    assert found.n_vectors == number
    assert_exact(graph, kernel, found)
    assert_allclose(found.values, spectrum(graph, kernel)[:number], rtol=1e-9)


def test_one_vector_a_component_without_searching(monkeypatch):
    no_lanczos(monkeypatch)
    parts = [nx.path_graph(5), nx.complete_graph(4), nx.empty_graph(2), nx.star_graph(6)]
    graph = Graph(nx.disjoint_union_all(parts)).normalized("sym", 0.9)
    kernel = Diffusion(3.0)
    found = deflation_of(graph, kernel, 3)
    assert_exact(graph, kernel, found)
    assert_allclose(found.values, np.exp(2.7))
    supports = [np.flatnonzero(column) for column in found.vectors.T]
    assert [list(each) for each in supports] == [
        list(range(11, 18)), list(range(5)), list(range(5, 9)),
    ]  # fmt: skip
    found = deflation_of(graph, kernel, 1)  # of the largest component
    assert_array_equal(np.flatnonzero(found.vectors), range(11, 18))


@pytest.mark.parametrize(
    "graph",
    [
        Graph(weighted(30)).normalized("sym"),
        Graph(weighted(30)).normalized("sym", 0.5).normalized(None, 1.7),
        Graph(Graph(nx.barabasi_albert_graph(30, 2, seed=0)).normalized("sym").adjacency),
        Graph(nx.cycle_graph(30)).normalized("rw"),
        Graph(nx.cycle_graph(30)),
    ],
    ids=["weighted", "scaled", "equal weights in a matrix", "regular, rw", "regular"],
)
def test_leading_vectors_in_closed_form(monkeypatch, graph):
    no_lanczos(monkeypatch)
    assert_exact(graph, Diffusion(1.0), deflation_of(graph, Diffusion(1.0), 1))


def test_nothing_to_deflate():
    assert deflation_of(karate(), Diffusion(1.0), 0) is None
    empty = deflation_of(GRAPHS["no edges"], Diffusion(1.0), 2)
    assert empty.n_vectors == 0
    K = sample(GRAPHS["no edges"], Diffusion(1.0), deflate=2)
    assert K.meta["deflate"] == 0
    assert_allclose(K.toarray(), np.eye(4))
    assert deflation_of(GRAPHS["one node with a loop"], Diffusion(1.0), "auto") is None


def test_what_was_not_found_is_told(monkeypatch):
    original = module.leading_eigenpairs
    monkeypatch.setattr(
        module, "leading_eigenpairs", lambda *args: original(*args).take(slice(None, 3))
    )
    with pytest.warns(grfpp.errors.InputWarning, match="fewer are used") as caught:
        K = sample(karate(), Diffusion(1.0), deflate=8)
    assert K.meta["deflate"] == 4
    assert caught[0].message.details == {"n_asked": 8, "n_used": 4}
    assert_exact(karate(), Diffusion(1.0), K.deflation)


# --- as many as pay ------------------------------------------------------------------------------


def scale_free(n):
    return Graph(nx.barabasi_albert_graph(n, 4, seed=0)).normalized("sym")


def number(graph, kernel):
    found = deflation_of(graph, kernel, "auto")
    return 0 if found is None else found.n_vectors


def test_one_vector_is_enough_on_scale_free_graphs_and_fast_kernels_need_none(monkeypatch):
    for graph in (scale_free(800), Graph(nx.grid_2d_graph(30, 30)).normalized("sym")):
        assert number(graph, Diffusion(1.0)) == 0
    no_lanczos(monkeypatch)
    assert number(scale_free(800), Diffusion(20.0)) == 1
    assert number(scale_free(800), RegularizedLaplacian(2, 19.0)) == 1


def test_slow_kernels_on_graphs_of_slow_mixing_take_many():
    graph = Graph(nx.grid_2d_graph(30, 30)).normalized("sym")
    found, values = deflation_of(graph, Diffusion(20.0), "auto"), spectrum(graph, Diffusion(20.0))
    left = 1 - np.sum(found.values**2) / np.sum(values**2)
    assert 16 < found.n_vectors <= 64
    assert left < 0.05
    larger = Graph(nx.grid_2d_graph(50, 50)).normalized("sym")
    assert number(larger, Diffusion(5.0)) == 0


# --- what they are good for ----------------------------------------------------------------------


@pytest.mark.parametrize("symmetrized", [False, True])
def test_algebra(symmetrized):
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.normal(size=(9, 3)))[0]
    X, Y = rng.normal(size=(2, 9, 9))
    g = np.array([3.0, -2.0, 1.0])
    factors = [StoredFactor(sp.csr_array(matrix)) for matrix in (X, Y)]
    walked = SignedChain(Chain.stitched(factors), -1, symmetrized)
    made, P = Deflation(U, g), np.eye(9) - U @ U.T
    wanted, V = -P @ X @ P @ Y.T @ P, rng.normal(size=(9, 4))
    wanted = (wanted + wanted.T) / 2 if symmetrized else wanted
    wanted += (U * g) @ U.T
    assert_allclose(made.complement(V), P @ V)
    assert_allclose(made.times(walked, V), wanted @ V)
    A, B = made.low_rank(walked)
    assert_allclose(walked @ np.eye(9) + A @ B.T, wanted, atol=1e-12)


@pytest.mark.parametrize("degree", [3, 4])
def test_noise_of_both_sides_does_not_meet_in_the_eigenvectors(degree):
    """Without the projection in the middle, it would: several times the error here."""
    graph, kernel = scale_free(300), Diffusion(20.0)
    options = {"seed": 0, "on_infinite_variance": "ignore", "walks": "independent"}
    plain, K = (sample(graph, kernel, degree, deflate=each, **options) for each in (0, 1))
    U = K.deflation.vectors
    P = np.eye(300) - U @ U.T
    outer = P @ plain.toarray() @ P + K.deflation.values * U @ U.T
    exact = kernel.exact(graph)
    error, without = (np.linalg.norm(each - exact) for each in (K.toarray(), outer))
    assert error < without / 4


def test_sampled_and_refused():
    plain, K = (sample(karate(), Diffusion(1.0), seed=0, deflate=each) for each in (0, 3))
    assert plain.deflation is None and plain.low_rank is None
    for pair, wanted in zip(K.factors, plain.factors, strict=True):
        for found, want in zip(pair, wanted, strict=True):
            assert_array_equal(found.toarray(), want.toarray())
    exact = Diffusion(1.0).exact(karate())
    U = K.deflation.vectors
    assert_allclose(K @ U, exact @ U, atol=1e-9)
    assert_allclose(K.T @ U, exact @ U, atol=1e-9)
    assert deflation_of(Graph(directed()).normalized("rw", 0.5), Diffusion(20.0), "auto") is None
    with pytest.raises(InputError, match="deflate needs symmetric weights"):
        sample(sp.csr_array(directed()), Diffusion(0.1), deflate=3)
    with pytest.raises(InputError, match="deflate must be below the number of nodes, 34, found 34"):
        sample(karate(), Diffusion(1.0), deflate=34)
