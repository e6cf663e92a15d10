import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from grfpp import Graph
from grfpp.walks.rule import LoadRule
from small_graphs import GRAPHS, directed, irregular, weighted


def edges(graph):
    coo = graph.adjacency.tocoo()
    return coo.row, coo.col, coo.data


@pytest.mark.parametrize("name", GRAPHS)
def test_a_rule_gives_every_edge_its_load(name):
    graph = GRAPHS[name]
    rule = LoadRule.of(graph)
    source, target, weight = edges(graph)
    wanted = weight * graph.out_degree[source]
    if len(rule.per_edge):
        assert_array_equal(rule.per_edge, wanted)
        assert rule.rate == 1.0 and len(rule.potential) == 0
    else:
        found = rule.rate * rule.potential[source] / rule.potential[target]
        assert_allclose(found, wanted, rtol=1e-14)
        assert len(rule.potential) == graph.n_nodes and (rule.potential > 0).all()


@pytest.mark.parametrize(
    ("matrix", "kind", "telescopes"),
    [
        (irregular(), "sym", True),
        (irregular(), "rw", True),
        (irregular() * 3.5, "sym", True),
        (irregular(), None, False),
        (nx.to_numpy_array(nx.petersen_graph()) * 0.3, None, True),
        (weighted(), "sym", False),
        (weighted(), "rw", False),
        (directed(equal_weights=True), "rw", True),
        (directed(), "rw", False),
        (np.zeros((3, 3)), None, True),
    ],
)
def test_which_loads_telescope(matrix, kind, telescopes):
    rule = LoadRule.of(Graph(matrix).normalized(kind))
    assert (len(rule.per_edge) == 0) == telescopes


def test_a_graph_that_is_regular_only_at_first_does_not_telescope():
    # The rule looks at 64 rows first; here only the last edge is different.
    ring = nx.to_scipy_sparse_array(nx.cycle_graph(200), dtype=float).tolil()
    ring[198, 199] = ring[199, 198] = 1.0 + 1e-12
    assert len(LoadRule.of(Graph(ring)).per_edge) == 400
    isolated_first = np.zeros((80, 80))
    isolated_first[70:80, 70:80] = weighted(10)
    assert len(LoadRule.of(Graph(isolated_first)).per_edge) > 0
