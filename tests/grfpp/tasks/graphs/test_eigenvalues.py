"""The smallest eigenvalues of many graphs, small and large."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from small_graphs import irregular

from grfpp import InputError
from grfpp.tasks import KernelSpectrumFeatures
from grfpp.tasks.graphs import eigenvalues
from grfpp.tasks.graphs.eigenvalues import estimated_spectra
from grfpp.walks.batch import GraphBatch

RING, STAR = nx.to_numpy_array(nx.cycle_graph(6)), nx.to_numpy_array(nx.star_graph(7))


def test_estimates_are_symmetrised_products_of_factors():
    batch = GraphBatch.of([RING, irregular(), STAR])
    rng = np.random.default_rng(0)
    dense = [sp.block_diag([rng.normal(size=(n, n)) for n in batch.sizes]) for _ in range(4)]
    found = estimated_spectra([each.tocsr() for each in dense], batch.starts, 5, sign=-1)
    a, b, c, d = (each.toarray() for each in dense)
    K = -a @ b.T @ c @ d.T
    for number, (start, stop) in enumerate(zip(batch.starts[:-1], batch.starts[1:], strict=True)):
        block = K[start:stop, start:stop]
        expected = np.linalg.eigvalsh((block + block.T) / 2)[:5]
        np.testing.assert_allclose(found[number], expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("estimate", ["walks", "exact"])
def test_large_graphs_are_solved_alike(estimate, monkeypatch):
    """One by one, densely, or by Lanczos' method: the same numbers."""
    graphs = [nx.random_regular_graph(3, 120, seed=1), nx.star_graph(130), nx.path_graph(140)]
    features = KernelSpectrumFeatures(
        6, estimate=estimate, n_walks=8, scale=0.81, random_state=0, n_jobs=1
    ).fit(graphs)
    together = features.transform(graphs)
    monkeypatch.setattr(eigenvalues, "TOGETHER_NODES", 0)
    np.testing.assert_allclose(features.transform(graphs), together, rtol=1e-9, atol=1e-12)
    monkeypatch.setattr(eigenvalues, "LANCZOS_NODES", 0)
    monkeypatch.setattr(eigenvalues, "LANCZOS_RATIO", 8)
    np.testing.assert_allclose(features.transform(graphs), together, rtol=1e-7)


def test_isolated_nodes_of_large_graphs_all_count(monkeypatch):
    """Each has the eigenvalue 1, and Lanczos' method finds all copies of it."""
    graph = nx.path_graph(80)
    graph.add_nodes_from(range(80, 600))
    features = KernelSpectrumFeatures(60, scale=0.09, n_walks=8, random_state=0).fit([graph])
    dense = features.transform([graph])
    assert np.count_nonzero(dense == 1) > 10
    monkeypatch.setattr(eigenvalues, "TOGETHER_NODES", 0)
    monkeypatch.setattr(eigenvalues, "LANCZOS_NODES", 0)
    monkeypatch.setattr(eigenvalues, "LANCZOS_RATIO", 1)
    np.testing.assert_allclose(features.transform([graph]), dense, rtol=1e-9)
    np.testing.assert_allclose(features.transform([nx.empty_graph(600)]), 1)


@pytest.mark.parametrize("n", [10**12, 2**63, 2**100])
def test_more_eigenvalues_than_memory_holds(n):
    with pytest.raises(InputError, match=r"eigenvalues of (each of )?1 graphs needs"):
        KernelSpectrumFeatures(n).fit_transform([irregular()])
