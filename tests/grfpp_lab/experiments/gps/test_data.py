"""The data sets as PyG graphs."""

import pytest

from grfpp_lab.experiments.gps import data as gps_data


def test_block_models_as_pyg_graphs(pattern):
    assert [len(part) for part in (pattern.train, pattern.val, pattern.test)] == [6, 3, 3]
    for graph in pattern.everything:
        assert graph.x.shape == (graph.num_nodes, 3)
        assert (graph.x.sum(dim=1) == 1).all()
        assert set(graph.y.tolist()) == {0, 1}
        assert graph.is_undirected()
    cluster = gps_data.load("cluster", 2, 1, 1).train[0]
    assert cluster.x.shape[1] == 7
    assert set(cluster.y.tolist()) == set(range(6))


@pytest.mark.parametrize("name", ["mnist", "cifar10", "peptides-func"])
def test_real_data_as_pyg_graphs(name):
    if (why := gps_data.why_absent(name)) is not None:
        pytest.skip(why)
    splits = gps_data.load(name, 3, 2, 2)
    assert [len(part) for part in (splits.train, splits.val, splits.test)] == [3, 2, 2]
    for graph in splits.everything:
        assert graph.x.shape[0] == graph.num_nodes > 10
        assert graph.x.min() >= -1e-6
        assert graph.x.max() <= 1 + 1e-6
        assert graph.is_undirected()
        assert tuple(graph.y.shape) == ((1, 10) if name == "peptides-func" else (1,))
    widths = {"mnist": 3, "cifar10": 5, "peptides-func": 19}
    assert {graph.x.shape[1] for graph in splits.everything} == {widths[name]}
