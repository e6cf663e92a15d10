"""PATTERN and CLUSTER, generated."""

import numpy as np
import pytest

from grfpp.datasets.block_models import cluster_graphs, pattern_graphs
from grfpp.errors import InputError


@pytest.mark.parametrize("make", [cluster_graphs, pattern_graphs])
def test_the_same_seed_gives_the_same_and_more_begin_alike(make):
    first, again, other = make(3, seed=5), make(4, seed=5), make(3, seed=6)
    for one, two in zip(first, again, strict=False):
        assert np.array_equal(one.graph.indices, two.graph.indices)
        assert np.array_equal(one.signals, two.signals)
        assert np.array_equal(one.labels, two.labels)
    assert first[0].graph.n_edges != other[0].graph.n_edges
    assert make(0) == []


@pytest.mark.parametrize("make", [cluster_graphs, pattern_graphs])
def test_graphs_are_plain_and_whole(make):
    for each in make(5):
        graph = each.graph
        assert not graph.is_directed
        assert (graph.weights == 1).all()
        assert not graph.adjacency.diagonal().any()
        assert len(each.signals) == len(each.labels) == graph.n_nodes
        assert repr(each) == f"LabelledNodes({graph!r})"


def test_communities_and_their_edges():
    graphs = cluster_graphs(60)
    within, between = [], []
    for each in graphs:
        sizes = np.bincount(each.labels, minlength=6)
        assert len(sizes) == 6
        assert sizes.min() >= 5
        assert sizes.max() < 35
        # One node of each community says which it is.
        seen = each.signals > 0
        assert sorted(each.signals[seen]) == [1, 2, 3, 4, 5, 6]
        assert np.array_equal(each.signals[seen] - 1, each.labels[seen])
        dense = each.graph.adjacency.toarray()
        upper = np.triu_indices(len(dense), 1)
        alike = (each.labels[:, None] == each.labels)[upper]
        within.append(dense[upper][alike].mean())
        between.append(dense[upper][~alike].mean())
        assert np.any(np.diff(each.labels) < 0)  # shuffled
    assert np.mean(within) == pytest.approx(0.55, abs=0.01)
    assert np.mean(between) == pytest.approx(0.25, abs=0.01)
    assert np.mean([each.graph.n_nodes for each in graphs]) == pytest.approx(117, abs=7)


def test_patterns_are_hidden_and_come_again():
    graphs = pattern_graphs(60, n_patterns=20)
    hidden = []
    for each in graphs:
        inside = np.flatnonzero(each.labels == 1)
        assert 5 <= len(inside) < 35
        assert set(each.signals.tolist()) <= {0, 1, 2}
        part = each.graph.adjacency.toarray()[np.ix_(inside, inside)]
        degrees = sorted(zip(part.sum(axis=1), each.signals[inside], strict=True))
        hidden.append(degrees)
        outside = np.flatnonzero(each.labels == 0)
        assert each.graph.adjacency.toarray()[np.ix_(outside, inside)].mean() == pytest.approx(
            0.5, abs=0.12
        )
    assert all(hidden[number] == hidden[number + 20] for number in range(40))
    assert len({str(each) for each in hidden}) == 20


@pytest.mark.parametrize("make", [cluster_graphs, pattern_graphs])
def test_bad_numbers_are_refused(make):
    with pytest.raises(InputError, match="n_graphs must be a whole number >= 0"):
        make(-1)
    with pytest.raises(InputError, match="seed must be a whole number >= 0"):
        make(1, seed=-1)
    with pytest.raises(InputError, match="n_patterns must be a whole number >= 1"):
        pattern_graphs(1, n_patterns=0)
