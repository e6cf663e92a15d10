"""The spectral embedding."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from communities import METHODS, planted
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from small_graphs import QUICK, directed, graphs, irregular

import grfpp
from grfpp.tasks.kernels import kernel_operator
from grfpp.tasks.nodes import spectral
from grfpp.tasks.nodes.spectral import spectral_embedding


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
    monkeypatch.setattr(spectral, "DENSE_NODES", 0)
    monkeypatch.setattr(type(K), "toarray", None)  # nothing is formed
    found, found_values = spectral_embedding(K, A, 4)
    assert_allclose(found_values, values, rtol=1e-7)
    assert_allclose(found, dense, atol=1e-5)


@pytest.mark.parametrize("dense", [True, False])
def test_symmetrised_estimates_have_the_same_embedding(dense, monkeypatch):
    A, _ = planted([40, 30, 20, 15])
    if not dense:
        monkeypatch.setattr(spectral, "DENSE_NODES", 0)
    found, wanted = (
        spectral_embedding(kernel_operator(A, random_state=1, symmetrize=each), A, 4)
        for each in (True, False)
    )
    assert_allclose(found[1], wanted[1], rtol=1e-7)
    assert_allclose(found[0], wanted[0], atol=1e-5)


@pytest.mark.parametrize("symmetrize", [True, False])
def test_deflated_estimates_have_all_copies_of_an_eigenvalue(symmetrize, monkeypatch):
    A = nx.to_scipy_sparse_array(nx.disjoint_union_all([nx.cycle_graph(60)] * 4))
    options = {"deflate": 12, "symmetrize": symmetrize, "random_state": 0, "degree": 4}
    K = kernel_operator(A, kernel="diffusion:20", **options)
    _, values = spectral_embedding(K, A, 8)
    monkeypatch.setattr(spectral, "DENSE_NODES", 0)
    _, found = spectral_embedding(K, A, 8)
    assert_allclose(found, values, rtol=1e-4)


@pytest.mark.parametrize(
    "graph",
    [
        nx.grid_2d_graph(16, 16),
        nx.cycle_graph(300),
        nx.hypercube_graph(8),
        nx.disjoint_union_all([nx.cycle_graph(60)] * 4),
    ],
    ids=["grid", "cycle", "hypercube", "four cycles"],
)
def test_lanczos_finds_all_copies_of_an_eigenvalue(graph, monkeypatch):
    """Symmetries of a graph make eigenvalues equal; one start vector would find each once."""
    A = nx.to_scipy_sparse_array(graph)
    K = kernel_operator(A, estimate="exact")
    _, values = spectral_embedding(K, A, 10)
    monkeypatch.setattr(spectral, "DENSE_NODES", 0)
    _, found = spectral_embedding(K, A, 10)
    assert_allclose(found, values, atol=1e-9)


@given(graphs(), st.data())
@QUICK
def test_rows_have_length_one_and_eigenvalues_fall_from_one(graph, data):
    k = data.draw(st.integers(1, graph.n_nodes))
    W = graph.normalized("sym")
    embedding, values = spectral_embedding(kernel_operator(W, estimate="exact"), W.adjacency, k)
    assert embedding.shape == (graph.n_nodes, k)
    assert_allclose(np.linalg.norm(embedding, axis=1), 1, rtol=1e-9)
    assert values[0] == 1
    assert (np.diff(values) <= 1e-9).all()
    assert (values >= -1e-9).all()


def test_kernels_that_do_not_tell_alikeness_are_refused():
    K = kernel_operator(irregular(), kernel=grfpp.TaylorKernel([1, -3]), estimate="exact")
    with pytest.raises(grfpp.InputError, match="row sums of the kernel are not positive"):
        spectral_embedding(K, sp.csr_array(irregular()), 2)


def test_signs_do_not_depend_on_rounding():
    vector = np.array([[0.6], [0.3], [-0.3], [-0.6]])
    rounded = vector * (1 + np.array([[0], [0], [0], [1e-15]]))
    for each in (vector, rounded, -vector, -rounded):
        assert_allclose(spectral._signed(each), vector, rtol=1e-12)
