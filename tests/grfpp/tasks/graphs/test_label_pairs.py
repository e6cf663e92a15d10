import pickle

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator
from small_graphs import irregular, weighted

from grfpp import Diffusion, Graph, InputError
from grfpp.datasets import TUDataset
from grfpp.tasks.graphs.candidates import (
    BOTH,
    KINDS,
    PAIRS,
    SAME_LABEL,
    Setting,
    candidate_features,
)
from grfpp.tasks.graphs.label_pairs import LabelPairFeatures
from grfpp.tasks.graphs.labelled import LabelledGraph, all_labels, labelled_graphs, plain_graphs
from grfpp.tasks.graphs.spectrum import KernelSpectrumFeatures

WATER = LabelledGraph([[0, 1, 1], [1, 0, 0], [1, 0, 0]], ["O", "H", "H"])
CHAIN = LabelledGraph(nx.path_graph(4), ["H", "O", "O", "H"])
ODD = LabelledGraph(irregular(), np.arange(9) % 3)
HEAVY = LabelledGraph(weighted(), np.arange(9) // 4)


def sums(graph, labels, kernel, sigma=1.0):
    """Yᵀ K Y on and above the diagonal, by loops over nodes."""
    K = kernel.exact(graph.graph.normalized("sym", sigma**2))
    found = []
    for i, a in enumerate(labels):
        for b in labels[i:]:
            mine, theirs = graph.labels == a, graph.labels == b
            found.append(K[np.ix_(mine, theirs)].sum())
    return found


def test_labelled_graphs_are_checked():
    assert isinstance(WATER.graph, Graph)
    assert not WATER.labels.flags.writeable
    for labels, words in [
        ([1, 2], "a graph of 3 nodes needs as many labels"),
        ([[1, 2, 3]], "one a node, found shape"),
        ([1.0, 2.0, 3.0], "whole numbers, truth values or texts, found dtype float64"),
        ([1, None, 3], "found dtype object"),
    ]:
        with pytest.raises(InputError, match=words):
            LabelledGraph(WATER.graph, labels)


def test_a_data_set_with_its_labels():
    graphs = (Graph(np.ones((2, 2)) - np.eye(2)), Graph(np.zeros((1, 1))))

    def data(labels):
        return TUDataset("small", graphs, np.array([0, 1]), (0, 1), labels, None)

    plain = labelled_graphs(data((np.array([5, 3]), np.array([3]))))
    assert [each.labels.tolist() for each in plain] == [[5, 3], [3]]
    several = labelled_graphs(data((np.array([[1, 2], [1, 3]]), np.array([[1, 2]]))))
    assert [each.labels.tolist() for each in several] == [[0, 1], [0]]
    with pytest.raises(InputError, match="the nodes of small have no labels"):
        labelled_graphs(data(None))


def test_same_label_is_the_graph_without_other_edges():
    """Normalised after the edges are gone."""
    A = ODD.graph.adjacency.toarray()
    inside = A * (ODD.labels[:, np.newaxis] == ODD.labels)
    assert inside.sum() < A.sum()
    options = {"n_walks": 7, "random_state": 4, "sigma": 0.9}
    for estimate in ("walks", "exact"):
        own = KernelSpectrumFeatures(9, restrict="same-label", estimate=estimate, **options)
        plain = KernelSpectrumFeatures(9, estimate=estimate, **options)
        np.testing.assert_array_equal(own.fit_transform([ODD]), plain.fit_transform([inside]))
        assert not np.allclose(own.fit_transform([ODD]), plain.fit_transform([ODD]))


def test_labels_are_ignored_unless_asked_for():
    plain = KernelSpectrumFeatures(4, random_state=0).fit_transform([WATER.graph, CHAIN.graph])
    labelled = KernelSpectrumFeatures(4, random_state=0).fit_transform([WATER, CHAIN])
    np.testing.assert_array_equal(plain, labelled)


@pytest.mark.parametrize("sigma", [0.5, 1.0])
def test_exact_sums_over_pairs(sigma):
    pairs = LabelPairFeatures(estimate="exact", sigma=sigma).fit([WATER, CHAIN])
    assert pairs.labels_.tolist() == ["H", "O"]
    found = pairs.transform([WATER, CHAIN, WATER])
    expected = [sums(each, ["H", "O"], Diffusion(), sigma) for each in (WATER, CHAIN, WATER)]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert list(pairs.get_feature_names_out()) == ["H-H", "H-O", "O-O"]


@pytest.mark.parametrize("degree", [1, 2])
def test_estimated_sums_are_unbiased(degree):
    graphs = [ODD, HEAVY]
    exact = LabelPairFeatures(estimate="exact", sigma=0.7).fit_transform(graphs)
    samples = np.array(
        [
            LabelPairFeatures(
                degree=degree, n_walks=8, sigma=0.7, random_state=seed, n_jobs=1
            ).fit_transform(graphs)
            for seed in range(300)
        ]
    )
    spread = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    varies = spread > 1e-12
    assert varies.any()
    np.testing.assert_allclose(samples.mean(axis=0)[~varies], exact[~varies], atol=1e-12)
    z = (samples.mean(axis=0) - exact)[varies] / spread[varies]
    assert np.abs(z).max() < 4
    assert np.sqrt(np.mean(z**2)) < 1.6


def test_labels_that_were_not_fitted_are_left_out():
    pairs = LabelPairFeatures(estimate="exact").fit([LabelledGraph(nx.path_graph(2), ["H", "H"])])
    found = pairs.transform([WATER])
    np.testing.assert_allclose(found, [[sums(WATER, ["H"], Diffusion())[0]]], rtol=1e-9)
    later = LabelPairFeatures(estimate="exact").fit([LabelledGraph(nx.path_graph(2), ["A", "Z"])])
    np.testing.assert_array_equal(later.transform([WATER]), np.zeros((1, 3)))


def test_text_and_numbers_are_not_compared():
    pairs = LabelPairFeatures(estimate="exact").fit([WATER])
    with pytest.raises(InputError, match="fitted labels are text, these are numbers"):
        pairs.transform([LabelledGraph(nx.path_graph(2), [1, 2])])


def test_pairs_with_walks_between_equal_labels_have_nothing_between_different_ones():
    pairs = LabelPairFeatures(restrict="same-label", random_state=0).fit([ODD, HEAVY])
    names = pairs.get_feature_names_out()
    found = pairs.transform([ODD, HEAVY])
    mixed = [name[0] != name[-1] for name in names]
    assert not found[:, mixed].any()
    assert found[:, np.invert(mixed)].any()


def test_the_protocol_of_pairs():
    pairs = LabelPairFeatures(n_walks=3, random_state=1)
    with pytest.warns(SkipTestWarning, match="Can.t test estimator"):
        check_estimator(pairs)
    graphs = [ODD, HEAVY, ODD]
    found = pairs.fit_transform(graphs)
    again = pickle.loads(pickle.dumps(pairs))
    np.testing.assert_array_equal(again.transform(graphs), found)
    several = clone(pairs).set_params(n_jobs=3).fit(graphs)
    np.testing.assert_array_equal(several.transform(graphs), found)
    np.testing.assert_allclose(pairs.transform([HEAVY])[0], found[1], rtol=1e-11)


def test_missing_labels_are_refused():
    for features in (LabelPairFeatures(), KernelSpectrumFeatures(2, restrict="same-label")):
        with pytest.raises(InputError, match="needs labels, but graph 1 has none"):
            features.fit([WATER, CHAIN.graph])
    with pytest.raises(InputError, match="all texts or all numbers, found both"):
        LabelPairFeatures().fit([WATER, ODD])
    assert plain_graphs("text") == "text"
    assert len(all_labels([WATER, CHAIN], "this")) == 7


@pytest.mark.parametrize("kind", KINDS)
def test_candidates_are_what_the_transformers_give(kind):
    graphs = [ODD, HEAVY]
    options = {"random_state": 3, "n_jobs": 1}
    found = candidate_features(
        graphs, sigmas=[0.5, 0.8], n_walks=[2, 5], n_eigenvalues=[3, 6], kind=kind, **options
    )
    assert len(found) == 8
    own = {**options, "sigma": 0.8, "n_walks": 5}
    parts = []
    if kind != SAME_LABEL:
        parts.append(KernelSpectrumFeatures(3, **own).fit_transform(graphs))
    if kind in (SAME_LABEL, BOTH):
        within = KernelSpectrumFeatures(3, restrict="same-label", **own)
        parts.append(within.fit_transform(graphs))
    if kind == PAIRS:
        parts.append(LabelPairFeatures(**own).fit_transform(graphs))
    np.testing.assert_array_equal(found[Setting(0.8, 5, 3)], np.hstack(parts))


def test_widths_of_exact_spectra_are_not_tried():
    """Those of one width are a monotone function of those of another."""
    grid = {"sigmas": [0.5, 0.9], "n_walks": [2, 4], "n_eigenvalues": [4]}
    for kernel, n_found in [("diffusion", 1), ("squared-diffusion:2", 1), ("cosine:0.5", 2)]:
        found = candidate_features([ODD, HEAVY], estimate="exact", kernel=kernel, **grid)
        assert len(found) == n_found
    assert len(candidate_features([ODD], estimate="exact", kind=PAIRS, **grid)) == 2
    narrow, wide = (
        KernelSpectrumFeatures(9, estimate="exact", sigma=sigma).fit_transform([ODD, HEAVY])
        for sigma in (0.5, 0.9)
    )
    np.testing.assert_array_equal(np.argsort(narrow, axis=0), np.argsort(wide, axis=0))


def test_bad_candidates_are_refused():
    grid = {"sigmas": [0.5], "n_walks": [2], "n_eigenvalues": [3]}
    with pytest.raises(InputError, match="kind must be one of spectrum"):
        candidate_features([ODD], kind="colours", **grid)
    with pytest.raises(InputError, match="must each have a value"):
        candidate_features([ODD], **{**grid, "sigmas": []})
    with pytest.raises(InputError, match="n_eigenvalues must be a whole number >= 1"):
        candidate_features([ODD], **{**grid, "n_eigenvalues": [0]})
    with pytest.raises(InputError, match="sigma must be"):
        candidate_features([ODD], **{**grid, "sigmas": [-1.0, 0.5]}, estimate="exact")
    with pytest.raises(InputError, match="n_walks must be"):
        candidate_features([ODD], **{**grid, "n_walks": [0]}, estimate="exact")
    assert len(candidate_features([ODD], **{**grid, "sigmas": np.array([0.5, 0.9])})) == 2
