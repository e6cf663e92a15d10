"""Spectra of kernels, and sums over pairs of labels, as features."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from estimator_case import KernelEstimatorCase, assert_unbiased
from independent_walks import INDEPENDENT
from labelled_cases import CHAIN, HEAVY, ODD, WATER, estimates
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from small_graphs import irregular, weighted

from grfpp import Diffusion, Graph, InputError, SquaredDiffusion
from grfpp.tasks import KernelSpectrumFeatures, LabelledGraph, LabelPairFeatures
from grfpp.tasks.graphs import kernels
from grfpp.tasks.graphs.kernels import estimated_spectra
from grfpp.walks.batch import GraphBatch

RING, STAR = nx.to_numpy_array(nx.cycle_graph(6)), nx.to_numpy_array(nx.star_graph(7))
GRAPHS = [RING, STAR, irregular(), weighted(), np.zeros((1, 1)), np.zeros((4, 4)), np.eye(2)]


class TestSpectrum(KernelEstimatorCase):
    BAD = {"n_eigenvalues": [0, 2.5], "restrict": "label"}

    def make(self, **parameters):
        return KernelSpectrumFeatures(**{"n_eigenvalues": 3, **parameters})

    def fit(self, estimator):
        return estimator.fit([ODD, HEAVY])

    def result(self, fitted):
        found = fitted.transform([HEAVY, ODD])
        assert len(fitted.get_feature_names_out()) == found.shape[1]
        return found


class TestPairs(TestSpectrum):
    FITTED = ("labels_",)
    BAD = {"restrict": "label"}

    def make(self, **parameters):
        return LabelPairFeatures(**parameters)


@pytest.mark.parametrize("kernel", [Diffusion(1.0), SquaredDiffusion(2.0), Diffusion(-1.5)])
@pytest.mark.parametrize("k", [1, 4, 30])
def test_exact_spectra_are_those_of_dense_kernels(kernel, k):
    features = KernelSpectrumFeatures(k, kernel=kernel, estimate="exact", scale=0.64)
    for graph, found in zip(GRAPHS, features.fit_transform(GRAPHS), strict=True):
        values = np.linalg.eigvalsh(kernel.exact(Graph(graph).normalized("sym", 0.64)))[:k]
        np.testing.assert_allclose(found, np.pad(values, (0, k - len(values))), atol=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_estimated_spectra_approach_the_exact_ones(degree):
    exact = KernelSpectrumFeatures(8, estimate="exact", scale=0.49).fit_transform(GRAPHS)

    def error(n_walks):
        walked = KernelSpectrumFeatures(
            8, degree=degree, n_walks=n_walks, scale=0.49, random_state=1, **INDEPENDENT
        )
        return np.linalg.norm(walked.fit_transform(GRAPHS) - exact) / np.linalg.norm(exact)

    many = error(4_000)
    assert many < 0.025
    assert many < error(40) / 4


@pytest.mark.parametrize(
    "options", [{"estimate": "exact"}, INDEPENDENT, {"degree": 1}, {"degree": 2}], ids=str
)
def test_features_do_not_depend_on_order_threads_calls_or_neighbours(options, monkeypatch):
    features = KernelSpectrumFeatures(5, n_walks=6, random_state=5, n_jobs=1, **options).fit(GRAPHS)
    found = features.transform(GRAPHS)
    np.testing.assert_array_equal(features.transform(GRAPHS), found)
    np.testing.assert_allclose(features.transform(GRAPHS[::-1])[::-1], found, rtol=1e-11)
    several = clone(features).set_params(n_jobs=3).fit(GRAPHS[:1])
    with monkeypatch.context() as patch:
        patch.setattr("grfpp.walks.batch.TASK_NODES", 5)
        np.testing.assert_array_equal(several.transform(GRAPHS), found)
    for number, graph in enumerate(GRAPHS):
        np.testing.assert_allclose(features.transform([graph])[0], found[number], rtol=1e-11)


def test_grid_search_over_a_list_of_graphs():
    classes = np.arange(24) % 2
    graphs = [
        nx.gnp_random_graph(12, 0.5, seed=i) if kind else nx.random_labeled_tree(12, seed=i)
        for i, kind in enumerate(classes)
    ]
    features = KernelSpectrumFeatures(6, random_state=0, n_jobs=1)
    pipeline = make_pipeline(features, RandomForestClassifier(10, random_state=0))
    grid = {"kernelspectrumfeatures__degree": [1, 2]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(graphs, classes)
    assert search.best_score_ > 0.9


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
    options = {"estimate": estimate, "n_walks": 8, "scale": 0.81, "random_state": 0, "n_jobs": 1}
    features = KernelSpectrumFeatures(6, **options).fit(graphs)
    together = features.transform(graphs)
    monkeypatch.setattr(kernels, "STACKED_NODES", 0)
    np.testing.assert_allclose(features.transform(graphs), together, rtol=1e-9, atol=1e-12)
    monkeypatch.setattr(kernels, "LANCZOS_NODES", 0)
    monkeypatch.setattr(kernels, "LANCZOS_RATIO", 8)
    np.testing.assert_allclose(features.transform(graphs), together, rtol=1e-7)


def test_isolated_nodes_of_large_graphs_all_count(monkeypatch):
    """Each has the eigenvalue 1, and Lanczos' method finds all copies of it."""
    graph = nx.path_graph(80)
    graph.add_nodes_from(range(80, 600))
    features = KernelSpectrumFeatures(60, scale=0.09, n_walks=8, random_state=0).fit([graph])
    dense = features.transform([graph])
    assert np.count_nonzero(dense == 1) > 10
    monkeypatch.setattr(kernels, "STACKED_NODES", 0)
    monkeypatch.setattr(kernels, "LANCZOS_NODES", 0)
    monkeypatch.setattr(kernels, "LANCZOS_RATIO", 1)
    np.testing.assert_allclose(features.transform([graph]), dense, rtol=1e-9)
    np.testing.assert_allclose(features.transform([nx.empty_graph(600)]), 1)
    for n in (10**12, 2**100):
        with pytest.raises(InputError, match="eigenvalues of each of 1 graphs needs"):
            KernelSpectrumFeatures(n).fit_transform([irregular()])


def sums(graph, labels, kernel, scale=1.0):
    """Yᵀ K Y on and above the diagonal, by loops over nodes."""
    K = kernel.exact(graph.graph.normalized("sym", scale))
    found = []
    for i, a in enumerate(labels):
        for b in labels[i:]:
            found.append(K[np.ix_(graph.labels == a, graph.labels == b)].sum())
    return found


@pytest.mark.parametrize("scale", [0.25, 1.0])
def test_exact_sums_over_pairs(scale):
    pairs = LabelPairFeatures(estimate="exact", scale=scale).fit([WATER, CHAIN])
    assert pairs.labels_.tolist() == ["H", "O"]
    found = pairs.transform([WATER, CHAIN, WATER])
    expected = [sums(each, ["H", "O"], Diffusion(), scale) for each in (WATER, CHAIN, WATER)]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert list(pairs.get_feature_names_out()) == ["H-H", "H-O", "O-O"]


@pytest.mark.parametrize("degree", [1, 2])
def test_estimated_sums_are_unbiased(degree):
    graphs = [ODD, HEAVY]
    exact = LabelPairFeatures(estimate="exact", scale=0.49).fit_transform(graphs)
    pairs = LabelPairFeatures(degree=degree, n_walks=8, scale=0.49, n_jobs=1, **INDEPENDENT)
    assert_unbiased(estimates(pairs, graphs, n_copies=20, n_seeds=15), exact, 4, 1.6)


def test_labels_that_were_not_fitted_are_left_out():
    pairs = LabelPairFeatures(estimate="exact").fit([LabelledGraph(nx.path_graph(2), ["H", "H"])])
    found = pairs.transform([WATER])
    np.testing.assert_allclose(found, [[sums(WATER, ["H"], Diffusion())[0]]], rtol=1e-9)
    later = LabelPairFeatures(estimate="exact").fit([LabelledGraph(nx.path_graph(2), ["A", "Z"])])
    np.testing.assert_array_equal(later.transform([WATER]), np.zeros((1, 3)))
    with pytest.raises(InputError) as error:  # text and numbers are not compared
        pairs.transform([LabelledGraph(nx.path_graph(2), [1, 2])])
    assert error.value.argument == "X"


def test_pairs_with_walks_between_equal_labels_have_nothing_between_different_ones():
    pairs = LabelPairFeatures(restrict="same-label", random_state=0).fit([ODD, HEAVY])
    names = pairs.get_feature_names_out()
    found = pairs.transform([ODD, HEAVY])
    mixed = [name[0] != name[-1] for name in names]
    assert not found[:, mixed].any()
    assert found[:, np.invert(mixed)].any()
