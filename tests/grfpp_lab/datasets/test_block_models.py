"""CLUSTER and PATTERN: the block models of the benchmark, in any number."""

import numpy as np
import pytest
from refusal_case import refused

from grfpp_lab.datasets.block_models import cluster_graphs, pattern_graphs

test_bad_arguments_are_named = refused(
    n_graphs=[lambda: cluster_graphs(-1), lambda: pattern_graphs(-1)],
    n_patterns=lambda: pattern_graphs(1, n_patterns=0),
    seed=[lambda: cluster_graphs(1, seed=-1), lambda: pattern_graphs(1, seed=-1)],
    unnamed={None: [lambda: cluster_graphs(10**12), lambda: pattern_graphs(10**12)]},
)


@pytest.mark.parametrize("make", [cluster_graphs, pattern_graphs])
def test_block_models(make):
    first, again, other = make(3, seed=5), make(4, seed=5), make(3, seed=6)
    for one, two in zip(first, again, strict=False):
        assert (one.graph.adjacency != two.graph.adjacency).nnz == 0
        assert (one.signals == two.signals).all() and (one.labels == two.labels).all()
        assert not one.graph.is_directed and (one.graph.weights == 1).all()
        assert not one.graph.adjacency.diagonal().any()
        assert len(one.signals) == len(one.labels) == one.graph.n_nodes
    assert first[0].graph.n_edges != other[0].graph.n_edges
    assert make(0) == []


def test_communities_and_their_edges():
    graphs = cluster_graphs(60)
    within, between = [], []
    for each in graphs:
        sizes = np.bincount(each.labels, minlength=6)
        assert len(sizes) == 6 and 5 <= sizes.min() <= sizes.max() < 35
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
        between = each.graph.adjacency.toarray()[np.ix_(outside, inside)].mean()
        assert between == pytest.approx(0.5, abs=0.12)
    assert all(hidden[number] == hidden[number + 20] for number in range(40))
    assert len({str(each) for each in hidden}) == 20
