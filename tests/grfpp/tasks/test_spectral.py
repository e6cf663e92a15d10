"""Spectral embeddings, clusters of points, whiskers, modularity."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from communities import METHODS, planted
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from small_graphs import QUICK, directed, graphs, irregular

import grfpp
from grfpp.kernels import Cosine, Diffusion
from grfpp.linalg import spectra
from grfpp.operators.kernel_choice import KernelChoice
from grfpp.tasks import spectral
from grfpp.tasks.spectral import cluster_groups, component_groups, modularity
from grfpp.tasks.whiskers import anchors

TAU = 0.25


@pytest.fixture(params=[0, 500], ids=["lanczos", "dense"])
def dense_nodes(request, monkeypatch):
    monkeypatch.setattr(spectra, "DENSE_NODES", request.param)
    return request.param


def kernel_operator(graph, random_state=0, **options):
    return KernelChoice.of(seed=random_state, **options).operator(graph)


def spectral_embedding(K, A, n_components):
    return spectral.spectral_embedding(K, component_groups(A, n_components), n_components)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("matrix", [irregular(), directed()], ids=["undirected", "directed"])
def test_embedding_is_that_of_ng_jordan_and_weiss(matrix, method):
    K = kernel_operator(matrix, random_state=0, **METHODS[method])
    S = K.toarray() + K.toarray().T
    scaling = 1 / np.sqrt(S.sum(axis=1))
    values, vectors = np.linalg.eigh(S * scaling[:, None] * scaling)
    vectors = vectors[:, ::-1][:, :3]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    embedding, found = spectral_embedding(K, sp.csr_array(matrix), 3)
    assert_allclose(found, values[::-1][:3], rtol=1e-10)
    # Vectors are told up to a rotation among equal eigenvalues; angles between rows are not.
    assert_allclose(embedding @ embedding.T, vectors @ vectors.T, atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_lanczos_finds_what_lapack_finds(method, monkeypatch):
    A, _ = planted([40, 30, 20, 15])
    K = kernel_operator(A, random_state=1, **METHODS[method])
    dense, values = spectral_embedding(K, A, 4)
    monkeypatch.setattr(spectra, "DENSE_NODES", 0)
    monkeypatch.setattr(type(K), "toarray", None)  # nothing is formed
    found, found_values = spectral_embedding(K, A, 4)
    assert_allclose(found_values, values, rtol=1e-7)
    assert_allclose(found, dense, atol=1e-5)


CYCLES = nx.disjoint_union_all([nx.cycle_graph(60)] * 4)
DEFLATED = {"deflate": 12, "degree": 4, "kernel": "diffusion:20"}


@pytest.mark.parametrize(
    ("graph", "options", "tol"),
    [
        (nx.grid_2d_graph(16, 16), {"estimate": "exact"}, 1e-9),
        (nx.hypercube_graph(8), {"estimate": "exact"}, 1e-9),
        (CYCLES, {"estimate": "exact"}, 1e-9),
        (CYCLES, {**DEFLATED, "symmetrize": True}, 1e-4),
        (CYCLES, {**DEFLATED, "symmetrize": False}, 1e-4),
    ],
)
def test_lanczos_finds_all_copies_of_an_eigenvalue(graph, options, tol, monkeypatch):
    """Symmetries of a graph make eigenvalues equal; one start vector would find each once."""
    A = nx.to_scipy_sparse_array(graph)
    K = kernel_operator(A, **options)
    _, values = spectral_embedding(K, A, 8)
    monkeypatch.setattr(spectra, "DENSE_NODES", 0)
    _, found = spectral_embedding(K, A, 8)
    assert_allclose(found, values, rtol=tol, atol=tol)


@given(graphs(), st.data())
@QUICK
def test_rows_have_length_one_and_eigenvalues_fall_from_one(graph, data):
    k = data.draw(st.integers(1, graph.n_nodes))
    A = graph.adjacency
    embedding, values = spectral_embedding(kernel_operator(A, estimate="exact"), A, k)
    assert embedding.shape == (graph.n_nodes, k)
    assert_allclose(np.linalg.norm(embedding, axis=1), 1, rtol=1e-9)
    assert values[0] == 1
    assert (np.diff(values) <= 1e-9).all()
    assert (values >= -1e-9).all()
    found = anchors(sp.csr_array(graph.adjacency + graph.adjacency.T), 4)
    assert_array_equal(found[found], found)  # anchors stay


def test_kernels_with_negative_row_sums_are_refused_and_signs_do_not_depend_on_rounding():
    K = kernel_operator(irregular(), kernel=grfpp.TaylorKernel([1, -3]), estimate="exact")
    with pytest.raises(grfpp.InputError) as error:
        spectral_embedding(K, sp.csr_array(irregular()), 2)
    assert error.value.argument == "kernel"
    vector = np.array([[0.6], [0.3], [-0.3], [-0.6]])
    rounded = vector * (1 + np.array([[0], [0], [0], [1e-15]]))
    for each in (vector, rounded, -vector, -rounded):
        assert_allclose(spectral._signed(each), vector, rtol=1e-12)


def regularized_matrix(A):
    """``(D + τ)^-1/2 (A + τ/n 11ᵀ) (D + τ)^-1/2``, dense."""
    dense = A.toarray()
    tau = TAU * dense.sum(axis=1).mean()
    scaling = 1 / np.sqrt(dense.sum(axis=1) + tau)
    return scaling[:, None] * (dense + tau / len(dense)) * scaling


def spectrum(A, number=3, by=None, **options):
    choice = KernelChoice.of(**{"estimate": "exact", "seed": 0, **options})
    groups = np.zeros(A.shape[0], int)
    return spectral.regularized_spectrum(A, groups, number, TAU, choice, by)


def same_space(one, other):
    """The smallest cosine between two spaces."""
    return np.linalg.svd(one.T @ other)[1].min()


def test_it_is_that_of_the_matrix_with_the_constant(dense_nodes):
    A, _ = planted([40, 30, 20, 15])
    values, vectors = np.linalg.eigh(regularized_matrix(A))
    assert values[-1] == pytest.approx(1)
    found = spectrum(A, kernel=Diffusion(2.0), scale=0.5)
    assert_allclose(found.values, np.exp(values[::-1][1:4] - 1), rtol=1e-6)
    assert_allclose(np.abs(found.vectors), np.abs(vectors[:, ::-1][:, 1:4]), atol=1e-4)


@pytest.mark.parametrize("by", ["walks", "chebyshev", "dense"])
def test_products_with_the_kernel_find_nearly_the_same(by, dense_nodes):
    A, _ = planted([40, 30, 20, 15])
    estimate = "walks" if by == "walks" else "exact"
    found = spectrum(A, by=by, estimate=estimate)
    assert same_space(found.vectors, spectrum(A).vectors) > 0.95
    # Small kernels are formed.
    assert found.method.startswith(by if by == "walks" or not dense_nodes else "dense")
    # Kernels that do not grow have other eigenvectors first than the weights.
    assert spectrum(A, kernel=Cosine(3.0)).method != spectrum(A).method


def test_components_have_constants_of_their_own():
    A = matrix(nx.disjoint_union(nx.complete_graph(6), nx.cycle_graph(8)))
    groups = np.repeat([0, 1], [6, 8])
    found = spectral.regularized_spectrum(A, groups, 2, TAU, KernelChoice.of(estimate="exact"))
    masses = np.add.reduceat(found.vectors**2, [0, 6], axis=0)
    assert_allclose(masses.max(axis=0), 1, atol=1e-9)
    A, _ = planted([30, 20])  # and weights of any size the same values
    one, other = spectrum(A), spectrum(sp.csr_array(A * 1e200))
    assert_allclose(one.values, other.values, rtol=1e-9)


def matrix(graph):
    return sp.csr_array(nx.to_scipy_sparse_array(graph, dtype=float))


def hanging_parts(graph, largest):
    """Nodes on the small side of a bridge, by networkx."""
    inside = set()
    for bridge in list(nx.bridges(graph)):
        graph.remove_edge(*bridge)
        side = min((nx.node_connected_component(graph, node) for node in bridge), key=len)
        graph.add_edge(*bridge)
        inside |= side if len(side) <= largest else set()
    return inside


@pytest.mark.parametrize("largest", [1, 3, 8])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_whiskers_are_on_the_small_sides_of_bridges(largest, seed):
    graph = nx.gnm_random_graph(80, 160, seed=seed)
    graph = nx.disjoint_union(graph, nx.complete_graph(5))
    graph.add_edge(0, 80)
    graph.add_edges_from((node, 100 + node) for node in range(0, 20, 3))
    largest_part = graph.subgraph(nx.node_connected_component(graph, 0))
    graph = nx.convert_node_labels_to_integers(largest_part)
    found = np.flatnonzero(anchors(matrix(graph), largest) != np.arange(len(graph)))
    assert set(found) == hanging_parts(nx.Graph(graph), largest)
    assert len(found)


def test_whiskers_may_be_cliques_or_trees_of_several_components():
    graph = nx.disjoint_union(nx.complete_graph(20), nx.complete_graph(6))
    graph.add_edge(3, 20)
    assert_array_equal(anchors(matrix(graph), 6)[20:], [3] * 6)
    assert_array_equal(anchors(matrix(graph), 5), np.arange(26))
    # Two cliques joined by two edges; a path, a star and a branching tree hang on them.
    graph = nx.disjoint_union(nx.complete_graph(10), nx.complete_graph(10))
    graph.add_edges_from([(0, 10), (1, 11), (2, 20), (20, 21), (21, 22), (12, 23), (12, 24)])
    graph.add_edges_from([(12, 25), (13, 26), (26, 27), (26, 28)])
    graph = nx.disjoint_union_all([graph, nx.path_graph(2), nx.empty_graph(2)])
    graph.add_edge(22, 22)  # loops do not count
    expected = [*range(20), 2, 2, 2, 12, 12, 12, 13, 13, 13, 29, 29, 31, 32]
    assert_array_equal(anchors(matrix(graph), 3), expected)
    for tree in (nx.balanced_tree(2, 5), nx.star_graph(9), nx.path_graph(5)):  # which have none
        assert_array_equal(anchors(matrix(tree), 40), np.arange(len(tree)))


def clusters(points, k, n_init, seed):
    groups, vectors = np.zeros(len(points), int), np.ones((len(points), k - 1))
    return cluster_groups(points, vectors, groups, k, n_init, seed)


def clouds(distance):
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(x, 0.2, (50, 2)) for x in (0.0, distance, 2 * distance)])


def test_clusters_are_those_of_k_means_and_surer_where_they_are_far_apart():
    near, far = (clusters(clouds(each), 3, 10, 0) for each in (0.5, 5.0))
    for points, found in ((clouds(0.5), near), (clouds(5.0), far)):
        assert_allclose(found.sum(axis=1), 1)
        fitted = KMeans(3, n_init=10, random_state=0).fit(points)
        assert_array_equal(found.argmax(axis=1), fitted.labels_)
    assert far.max(axis=1).min() > 0.999
    assert near.max(axis=1).min() < 0.7


@pytest.mark.parametrize("weight", [None, "weight"])
def test_modularity_is_that_of_networkx(weight):
    club = nx.karate_club_graph()
    labels = np.arange(34) % 3
    sets = [set(np.flatnonzero(labels == each)) for each in range(3)]
    expected = nx.community.modularity(club, sets, weight=weight)
    A = nx.to_scipy_sparse_array(club, weight=weight)
    assert modularity(A, labels) == pytest.approx(expected)
    assert modularity(sp.csr_array((3, 3)), np.array([0, 1, 1])) == 0
