"""Where fields are known."""

import networkx as nx
import numpy as np

from grfpp import Graph
from grfpp.tasks.nodes.fields import known_field, reached_nodes


def test_names_and_whole_numbers_become_places_and_floats():
    graph = Graph(nx.les_miserables_graph())
    known, values = known_field(["Valjean", "Napoleon"], [True, False], graph)
    assert known.tolist() == [10, 0]
    assert (values.dtype, values.tolist()) == (np.float64, [1.0, 0.0])


def test_a_component_is_reached_from_any_of_its_nodes():
    graph = Graph(nx.disjoint_union_all([nx.path_graph(3), nx.cycle_graph(4), nx.path_graph(1)]))
    assert reached_nodes(graph, np.array([2, 7])).tolist() == [True] * 3 + [False] * 4 + [True]
