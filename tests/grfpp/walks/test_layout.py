import pickle

import numpy as np
import pytest
from hypothesis import given
from small_graphs import GRAPHS, QUICK, graphs

from grfpp import Graph
from grfpp.walks.layout import DEGREE_BITS, WalkLayout
from grfpp.walks.transition import UniformSteps


def check(graph):
    layout = WalkLayout.of(UniformSteps.on(graph))
    mask = (1 << DEGREE_BITS) - 1
    first = layout.word >> DEGREE_BITS
    np.testing.assert_array_equal(layout.word & mask, graph.out_degree)
    # Every node owns slots that no other owns, one without edges too.
    assert len(np.unique(first)) == graph.n_nodes
    np.testing.assert_array_equal(layout.node[first], np.arange(graph.n_nodes))
    for node in range(graph.n_nodes):
        edges = slice(graph.indptr[node], graph.indptr[node + 1])
        slots = first[node] + np.arange(graph.out_degree[node])
        words = layout.slots[(1 if len(layout.potential) else 2) * slots]
        np.testing.assert_array_equal(layout.node[words >> DEGREE_BITS], graph.indices[edges])
        np.testing.assert_array_equal(layout.node[slots], node)
        wanted = graph.weights[edges] * graph.out_degree[node]
        if len(layout.factors):
            np.testing.assert_array_equal(layout.factors[2 * slots + 1], wanted)
        else:
            targets = graph.out_degree[graph.indices[edges]]
            found = layout.rate * layout.potential[node] * layout.inverse_potential[targets]
            np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("name", GRAPHS)
def test_slots_lead_where_edges_do(name):
    check(GRAPHS[name])


@QUICK
@given(graphs())
def test_slots_lead_where_edges_do_on_generated_graphs(graph):
    check(graph)


def test_a_graph_without_edges():
    check(Graph(np.zeros((3, 3))))


def test_layouts_survive_pickling():
    graph = GRAPHS["weighted, sym"]
    layout = WalkLayout.of(UniformSteps.on(graph))
    copy = pickle.loads(pickle.dumps(layout))
    np.testing.assert_array_equal(copy.factors[1::2], layout.factors[1::2])
    assert np.shares_memory(copy.factors, copy.slots)
