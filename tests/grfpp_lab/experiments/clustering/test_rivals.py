"""Clusterings of others."""

import pytest

from grfpp.tasks.nodes.clustering import rand_error
from grfpp_lab.experiments.clustering.rivals import RIVALS, rival_labels


@pytest.mark.parametrize("method", RIVALS)
def test_rivals_find_what_is_plain_to_see(method):
    pytest.importorskip("sknetwork", reason="needs scikit-network")
    import networkx as nx

    graph = nx.connected_caveman_graph(3, 8)
    labels = rival_labels(method, nx.to_scipy_sparse_array(graph), 3, seed=1)
    assert rand_error(labels, [node // 8 for node in graph]) < 0.3  # all in one: 0.7
