"""Sums of kernels over pairs of labels."""

import pickle

import networkx as nx
import numpy as np
import pytest
from independent_walks import INDEPENDENT
from labelled_cases import CHAIN, HEAVY, ODD, WATER
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from grfpp import Diffusion, InputError
from grfpp.tasks.graphs.label_pairs import LabelPairFeatures
from grfpp.tasks.graphs.labelled import LabelledGraph


def sums(graph, labels, kernel, scale=1.0):
    """Yᵀ K Y on and above the diagonal, by loops over nodes."""
    K = kernel.exact(graph.graph.normalized("sym", scale))
    found = []
    for i, a in enumerate(labels):
        for b in labels[i:]:
            mine, theirs = graph.labels == a, graph.labels == b
            found.append(K[np.ix_(mine, theirs)].sum())
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
    samples = np.array(
        [
            LabelPairFeatures(
                degree=degree, n_walks=8, scale=0.49, random_state=seed, n_jobs=1, **INDEPENDENT
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
