"""Where walks of each length lead, by labels."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from estimator_case import EstimatorCase, assert_unbiased
from hypothesis import given
from hypothesis import strategies as st
from independent_walks import INDEPENDENT
from labelled_cases import CHAIN, HEAVY, ODD, WATER, estimates, shuffled
from sklearn.base import clone

from grfpp import InputError
from grfpp.tasks import LabelledGraph, WalkLabelFeatures
from grfpp.tasks.graphs.walk_labels import SETS, count_levels, next_words, node_colours

SUMS = ("counts", "pairs", "returns")
CYCLE = LabelledGraph(
    np.roll(np.diag(np.arange(1.0, 8.0)), 1, 0) + np.roll(np.diag(np.arange(1.0, 8.0)), 1, 1),
    np.arange(7) % 3,
)


class TestEstimator(EstimatorCase):
    FITTED = ("labels_", "signatures_", "colours_")
    BAD = {"n_lengths": [0, 1001], "width": 0.0, "normalization": "max", "unlabelled": "size"}
    BAD |= {"sets": ["hues", (), 3, ("pairs", "pairs")], "walks": "drunken"}
    OTHER = {"n_lengths": 1, "sets": "counts", "width": 1.0}

    def make(self, **parameters):
        return WalkLabelFeatures(**{"sets": SETS, **parameters})

    def fit(self, estimator):
        return estimator.fit([WATER, CHAIN])

    def result(self, fitted):
        return fitted.transform([CHAIN, WATER])


def by_loops(graph, labels, n_lengths, normalization="sym"):
    """Counts, pairs and returns by the definitions."""
    W = graph.graph.normalized(normalization).adjacency.toarray()
    n, own = len(W), [graph.labels == label for label in labels]
    powers = [np.linalg.matrix_power(W, k) for k in range(1, n_lengths + 1)]
    counts = [mine.sum() for mine in own]
    pairs = [
        (P[np.ix_(a, b)].sum() + P[np.ix_(b, a)].sum()) / (2 * n)
        for P in powers
        for i, a in enumerate(own)
        for b in own[i:]
    ]  # fmt: skip
    returns = [P.diagonal()[mine].sum() / n for P in powers for mine in own]
    return [*counts, *pairs, *returns]


@pytest.mark.parametrize("normalization", ["sym", "rw", None])
def test_exact_sums_are_those_of_the_powers(normalization):
    graphs = [ODD, HEAVY, ODD]
    features = WalkLabelFeatures(SUMS, n_lengths=5, normalization=normalization).fit(graphs)
    assert features.labels_.tolist() == [0, 1, 2]
    expected = [by_loops(each, [0, 1, 2], 5, normalization) for each in graphs]
    np.testing.assert_allclose(features.transform(graphs).toarray(), expected, rtol=1e-11)
    names = features.get_feature_names_out()
    assert len(names) == len(expected[0])
    assert list(names[[0, 3, 4, 33, 47]]) == [
        *("0", "0-0 after 1", "0-1 after 1", "0 back after 1", "2 back after 5"),
    ]


@pytest.mark.parametrize("walks", [INDEPENDENT, {"termination": "matched:2"}])
def test_walks_are_unbiased(walks):
    graphs = [ODD, CYCLE]
    exact = WalkLabelFeatures(SUMS, n_lengths=3).fit_transform(graphs).toarray()
    features = WalkLabelFeatures(SUMS, 3, estimate="walks", n_jobs=1, **{"n_walks": 4, **walks})
    assert_unbiased(estimates(features, graphs, n_copies=20, n_seeds=15), exact, 4.5, 1.6)


def test_pools_that_reach_all_nodes_are_exact():
    graphs = [ODD, HEAVY, ODD]
    exact = WalkLabelFeatures(SETS).fit_transform(graphs)
    walked = WalkLabelFeatures(SETS, estimate="walks", n_walks=400).fit_transform(graphs)
    np.testing.assert_allclose(walked.toarray(), exact.toarray(), atol=1e-12)


def test_signatures_tell_what_walks_see():
    """The ends of a path are alike; its middle is not, and the label of a far node is seen."""
    path = LabelledGraph(nx.path_graph(7), [0] * 7)
    other = LabelledGraph(nx.path_graph(7), [0, 0, 0, 0, 0, 0, 1])
    features = WalkLabelFeatures("signatures", n_lengths=2).fit([path, other])
    found = features.transform([path, other]).toarray()
    sizes = [len(each) for each in features.signatures_]
    # Of the plain path: one label; ends, their neighbours, others; and those two steps away.
    parts = np.split(found, np.cumsum(sizes)[:-1], axis=1)
    assert [sorted(part[0][part[0] > 0]) for part in parts] == [[7], [2, 2, 3], [1, 2, 2, 2]]
    # One step sees the last label from its neighbour, two steps from one further.
    assert [np.minimum(*part).sum() for part in parts] == [6, 5, 4]
    assert all(part.sum(axis=1).tolist() == [7, 7] for part in parts)
    assert features.get_feature_names_out()[0].startswith("signature 0:")
    assert len(features.get_feature_names_out()) == found.shape[1]


def test_one_step_without_a_norm_is_a_round_of_weisfeiler_lehman():
    """Two nodes are alike where they have the same label, and neighbours of the same labels."""
    A, labels = ODD.graph.adjacency.toarray() > 0, ODD.labels
    colours = [(labels[v], *np.bincount(labels[A[v]], minlength=3)) for v in range(len(A))]
    features = WalkLabelFeatures("signatures", 1, width=0.5, normalization=None)
    found = features.fit_transform([LabelledGraph(A, labels)]).toarray()[0]
    _, counts = np.unique(colours, axis=0, return_counts=True)
    n_labels = len(features.signatures_[0])
    assert sorted(found[n_labels:]) == sorted(counts)


def colours_by_refinement(graphs, n_rounds):
    """The definition: tuples of own colours and sorted colours of neighbours."""
    found, weights = [], [each.graph.adjacency.toarray() for each in graphs]
    colours = [dict(enumerate(map(str, each.labels))) for each in graphs]
    for _ in range(n_rounds + 1):
        found.append([sorted(Counter(each.values()).values()) for each in colours])
        colours = [
            {
                v: str((own[v], sorted(own[int(u)] for u in np.flatnonzero(A[v]))))
                for v in range(len(A))
            }
            for own, A in zip(colours, weights, strict=True)
        ]
    return found


def test_colours_are_those_of_weisfeiler_and_lehman():
    graphs = [ODD, HEAVY, CYCLE]
    features = WalkLabelFeatures("colours", n_lengths=3).fit([*graphs, CYCLE])
    found = features.transform(graphs).toarray()
    parts = np.split(found, np.cumsum([len(each) for each in features.colours_])[:-1], axis=1)
    for part, wanted in zip(parts, colours_by_refinement(graphs, 3), strict=True):
        assert [sorted(row[row > 0]) for row in part] == wanted
    moved = features.transform(shuffled(HEAVY, 5)).toarray()
    assert (moved == found[1]).all()
    assert features.get_feature_names_out()[0].startswith("colour 0:")
    # The same words in every process and on every machine.
    words = node_colours(WATER.graph.adjacency, np.array([1, 0, 0]), 1)[1]
    assert words.tolist() == [0x7F9181E0A59DC5F2, 0x68E564BCB9A02CAA, 0x68E564BCB9A02CAA]


def test_signatures_do_not_depend_on_the_order_of_nodes_and_wider_bins_have_fewer():
    features = [WalkLabelFeatures("signatures", width=w).fit([HEAVY]) for w in (1e-6, 0.2, 100)]
    found = features[0].transform(shuffled(HEAVY, 20)).toarray()
    assert (found == found[0]).all()
    assert found[0].sum() == 5 * len(HEAVY.labels)
    n_signatures = [sum(map(len, each.signatures_)) for each in features]
    assert n_signatures[0] > n_signatures[1] > n_signatures[2] == 5 * len(features[0].labels_)


def test_labels_and_signatures_that_were_not_fitted_are_left_out():
    hydrogen = LabelledGraph(nx.path_graph(2), ["H", "H"])
    features = WalkLabelFeatures(SETS, n_lengths=1).fit([hydrogen])
    (row,) = features.transform([WATER]).toarray()
    found = dict(zip(features.get_feature_names_out(), row, strict=True))
    assert found.pop("H") == 2
    assert found.pop("H-H after 1") == found.pop("H back after 1") == 0
    words = sorted(found)
    # Labels come before any round, so the two nodes of hydrogen share the first colour.
    assert [found[word] for word in words] == [2, 0, 2, 0]


def test_degrees_or_a_constant_stand_for_labels():
    star = nx.star_graph(40)
    by_degree = WalkLabelFeatures("counts").fit([star, nx.path_graph(3)])
    assert by_degree.labels_.tolist() == [1, 2, 64]
    found = by_degree.transform([star, nx.path_graph(3)]).toarray()
    assert found.tolist() == [[40, 0, 1], [2, 1, 0]]
    constant = WalkLabelFeatures("counts", unlabelled="constant").fit([star])
    assert constant.transform([star]).toarray().tolist() == [[41]]
    for graphs in ([WATER, star], [WATER]):
        with pytest.raises(InputError) as error:
            by_degree.transform(graphs)
        assert error.value.argument == "X"


@pytest.mark.parametrize("estimate", ["exact", "walks"])
def test_a_graph_is_alone_with_its_seed(estimate):
    options = {"n_walks": 1, "width": 1e-9, "random_state": 5, "n_jobs": 1}
    features = WalkLabelFeatures(SETS, n_lengths=5, estimate=estimate, **options)
    graphs = [ODD, HEAVY, ODD]
    found = features.fit_transform(graphs).toarray()
    np.testing.assert_array_equal(features.transform(graphs).toarray(), found)
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_allclose(features.transform([HEAVY]).toarray()[0], found[1], rtol=1e-11)
    other = clone(features).set_params(random_state=6).fit_transform(graphs)
    same = other.shape == found.shape and np.allclose(other.toarray(), found)
    assert same == (estimate == "exact")


def test_many_parts_are_one_after_the_other(monkeypatch):
    graphs = [ODD, HEAVY, ODD, HEAVY]
    whole = WalkLabelFeatures(SETS).fit_transform(graphs).toarray()
    monkeypatch.setattr("grfpp.walks.batch.GraphBatch.tasks", lambda batch: [range(1), range(1, 4)])
    np.testing.assert_array_equal(WalkLabelFeatures(SETS).fit_transform(graphs).toarray(), whole)


def test_graphs_without_edges_and_of_one_node():
    lonely = LabelledGraph(np.zeros((3, 3)), [0, 0, 1])
    single = LabelledGraph([[0]], [1])
    for estimate in ("exact", "walks"):
        features = WalkLabelFeatures(SETS, estimate=estimate).fit([lonely, single])
        found = features.transform([lonely, single]).toarray()
        assert found[:, :2].tolist() == [[2, 1], [0, 1]]
        assert not found[:, 2 : -4 * 5].any()
        for columns in (slice(-20, -10), slice(-10, None)):
            assert found[:, columns].sum(axis=1).tolist() == [15, 5]


def test_directed_graphs_and_walks_shorter_than_the_lengths_are_refused():
    with pytest.raises(InputError, match="graph 1 is directed"):
        WalkLabelFeatures().fit([[[0, 1], [1, 0]], [[0, 1], [0, 0]]])
    with pytest.raises(InputError, match="n_lengths"):
        WalkLabelFeatures(termination="fixed:2", estimate="walks").fit([WATER, CHAIN])


def test_words_are_equal_where_labels_and_bins_are():
    labels = np.array([0, 0, 0, 1], np.uint64)
    masses = np.array([[0.5, 0.1], [0.5 + 1e-12, 0.1], [0.5, 0.2], [0.5, 0.1]])
    words = next_words(labels, masses, 1e-3)
    assert len(np.unique(words)) == 3
    assert words[0] == words[1]
    again = next_words(words, np.ones((4, 2)), 1e-3)
    assert len(np.unique([labels, words, again])) == 8
    masses = np.array([[0.2, 0.4], [0.4, 0.2], [-0.2, 0.4], [1e300, 0.0], [-1e300, 0.0]])
    words = next_words(np.zeros(5, np.uint64), masses, 0.1)
    assert len(np.unique(words)) == 5
    # A label that no walk leads to changes nothing.
    wider = next_words(np.zeros(5, np.uint64), np.pad(masses, ((0, 0), (0, 1))), 0.1)
    np.testing.assert_array_equal(words, wider)


@given(st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=1, max_size=6))
def test_inner_products_of_levels_are_intersections(counts):
    counts = np.array(counts)
    levels = count_levels(sp.csr_array(counts))
    wanted = np.minimum(counts[:, np.newaxis], counts).sum(axis=2)
    np.testing.assert_array_equal((levels @ levels.T).toarray(), wanted)
