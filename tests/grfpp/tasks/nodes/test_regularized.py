"""The regularised spectrum: what it is, and by what it is found."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from communities import planted
from numpy.testing import assert_allclose

from grfpp.kernels import Cosine, Diffusion
from grfpp.operators import KernelChoice
from grfpp.tasks.nodes import spectral
from grfpp.tasks.nodes.regularized import regularized_spectrum

TAU = 0.25


def regularized_matrix(A):
    """``(D + τ)^-1/2 (A + τ/n 11ᵀ) (D + τ)^-1/2``, dense."""
    dense = A.toarray()
    tau = TAU * dense.sum(axis=1).mean()
    scaling = 1 / np.sqrt(dense.sum(axis=1) + tau)
    return scaling[:, None] * (dense + tau / len(dense)) * scaling


def spectrum(A, number=3, by=None, **options):
    choice = KernelChoice.of(**{"estimate": "exact", "seed": 0, **options})
    return regularized_spectrum(A, np.zeros(A.shape[0], int), number, TAU, choice, by)


def same_space(one, other):
    """The smallest cosine between two spaces."""
    return np.linalg.svd(one.T @ other)[1].min()


@pytest.mark.parametrize("dense_nodes", [0, 500])
def test_it_is_that_of_the_matrix_with_the_constant(dense_nodes, monkeypatch):
    monkeypatch.setattr(spectral, "DENSE_NODES", dense_nodes)
    A, _ = planted([40, 30, 20, 15])
    values, vectors = np.linalg.eigh(regularized_matrix(A))
    assert values[-1] == pytest.approx(1)
    found = spectrum(A, kernel=Diffusion(2.0), scale=0.5)
    assert_allclose(found.values, np.exp(values[::-1][1:4] - 1), rtol=1e-6)
    assert_allclose(np.abs(found.vectors), np.abs(vectors[:, ::-1][:, 1:4]), atol=1e-4)


@pytest.mark.parametrize("dense_nodes", [0, 500])
@pytest.mark.parametrize("by", ["walks", "chebyshev", "dense"])
def test_products_with_the_kernel_find_nearly_the_same(by, dense_nodes, monkeypatch):
    monkeypatch.setattr(spectral, "DENSE_NODES", dense_nodes)
    A, _ = planted([40, 30, 20, 15])
    estimate = "walks" if by == "walks" else "exact"
    found = spectrum(A, by=by, estimate=estimate)
    assert same_space(found.vectors, spectrum(A).vectors) > 0.95
    # Small kernels are formed.
    assert found.method.startswith(by if by == "walks" or not dense_nodes else "dense")


def test_kernels_that_do_not_grow_are_multiplied_with():
    """The cosine's largest values are where the eigenvalues are near to zero."""
    A, _ = planted([40, 30])
    found = spectrum(A, kernel=Cosine(3.0))
    assert found.method != "eigenvectors of the weights"


def test_components_have_constants_of_their_own():
    parts = [nx.complete_graph(6), nx.cycle_graph(8)]
    A = sp.csr_array(nx.to_scipy_sparse_array(nx.disjoint_union_all(parts), dtype=float))
    groups = np.repeat([0, 1], [6, 8])
    found = regularized_spectrum(A, groups, 2, TAU, KernelChoice.of(estimate="exact"))
    masses = np.add.reduceat(found.vectors**2, [0, 6], axis=0)
    assert_allclose(masses.max(axis=0), 1, atol=1e-9)


def test_weights_of_any_size_are_the_same():
    A, _ = planted([30, 20])
    one, other = spectrum(A), spectrum(sp.csr_array(A * 1e200))
    assert_allclose(one.values, other.values, rtol=1e-9)
