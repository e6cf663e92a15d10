import numpy as np
import pytest
from numpy.testing import assert_array_equal

from grfpp import Graph, InputError
from grfpp.walks.layout import DEGREE_BITS, PLAIN, WITH_FACTOR, WalkLayout
from grfpp.walks.rule import LoadRule
from small_graphs import GRAPHS, weighted

MASK = (1 << DEGREE_BITS) - 1


def laid_out(graph):
    rule = LoadRule.of(graph)
    return WalkLayout.of(graph, rule), rule


@pytest.mark.parametrize("name", GRAPHS)
def test_slots_lead_where_the_edges_do(name):
    graph = GRAPHS[name]
    layout, rule = laid_out(graph)
    for node in range(graph.n_nodes):
        first, degree = int(layout.word[node]) >> DEGREE_BITS, int(layout.word[node]) & MASK
        assert degree == graph.out_degree[node]
        edges = slice(int(graph.indptr[node]), int(graph.indptr[node + 1]))
        words = layout.slots[:: layout.stride][first : first + degree]
        assert_array_equal(words, layout.word[graph.indices[edges]])
        assert_array_equal(layout.node[words >> DEGREE_BITS], graph.indices[edges])
        assert (layout.node[first : first + max(degree, 1)] == node).all()
        if len(rule.per_edge):
            assert_array_equal(layout.factors[1::2][first : first + degree], rule.per_edge[edges])


@pytest.mark.parametrize("name", GRAPHS)
def test_every_node_has_a_slot_and_a_word_of_its_own(name):
    graph = GRAPHS[name]
    layout, _ = laid_out(graph)
    n_slots = len(graph.indices) + np.count_nonzero(graph.out_degree == 0)
    assert len(layout.node) == n_slots
    assert len(layout.slots) == n_slots * layout.stride
    assert len(set(layout.word.tolist())) == graph.n_nodes
    assert_array_equal(layout.node[layout.word >> DEGREE_BITS], np.arange(graph.n_nodes))


@pytest.mark.parametrize("name", GRAPHS)
def test_factors_are_there_where_loads_do_not_telescope(name):
    layout, rule = laid_out(GRAPHS[name])
    telescopes = len(rule.per_edge) == 0
    assert layout.stride == (PLAIN if telescopes else WITH_FACTOR)
    assert (len(layout.factors) == 0) == telescopes
    assert layout.rate == rule.rate
    if telescopes:
        degree = GRAPHS[name].out_degree
        assert_array_equal(layout.inverse_potential[degree], 1 / rule.potential)


def test_more_neighbours_than_a_word_can_hold_are_refused():
    graph = Graph(weighted())
    rule = LoadRule.of(graph)
    crowded = np.array(graph.out_degree)
    crowded[0] = 1 << DEGREE_BITS
    graph.__dict__["out_degree"] = crowded
    with pytest.raises(InputError, match=r"a node has 1073741824 neighbours, more than 2\^30"):
        WalkLayout.of(graph, rule)
