"""Generated graphs with classes, and splits."""

import numpy as np

from grfpp_lab import label_graphs


def test_block_models():
    made = label_graphs.block_model(1000, 4, 6.0, 0.8, n_hubs=3, seed=2)
    assert made.graph.n_nodes == 1000
    source, target = made.graph.adjacency.nonzero()
    same = (made.labels[source] == made.labels[target]).mean()
    assert 0.7 < same < 0.9
    assert np.sort(made.graph.out_degree)[-3:].min() >= 25
    again = label_graphs.block_model(1000, 4, 6.0, 0.8, n_hubs=3, seed=2)
    assert (again.labels == made.labels).all()


def test_splits():
    labels = np.repeat([0, 1, 2], [100, 60, 8])
    split = label_graphs.split_of(labels, 0)
    assert np.bincount(labels[split.train]).tolist() == [20, 20, 4]
    together = np.concatenate(split)
    assert sorted(together.tolist()) == list(range(168))


def test_lfr():
    made = label_graphs.lfr(1000, 0.4, 8.0, 0)
    assert made.graph.n_nodes == len(made.labels) == 1000
    source, target = made.graph.adjacency.nonzero()
    assert (made.labels[source] == made.labels[target]).mean() > 0.4  # by chance 0.15
