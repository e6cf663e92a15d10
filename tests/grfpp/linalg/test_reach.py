import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import QUICK

from grfpp.graph import Graph
from grfpp.linalg.reach import within_steps


@QUICK
@given(st.integers(0, 2**32), st.integers(0, 4), st.lists(st.integers(0, 79), max_size=2))
def test_those_that_breadth_first_search_finds(seed, n_steps, nodes):
    graph = nx.gnp_random_graph(80, 0.015, seed=seed, directed=True)
    wanted = set(nodes)
    for node in nodes:
        wanted |= nx.single_source_shortest_path_length(graph, node, cutoff=n_steps).keys()
    adjacency = Graph(nx.to_numpy_array(graph), directed=True).adjacency
    found = within_steps(adjacency, np.array(nodes, np.int64), n_steps)
    if found is None:
        assert len(wanted) > 20
    else:
        assert found.tolist() == sorted(wanted)


def test_a_large_part_is_all():
    grid = Graph(nx.grid_2d_graph(30, 30)).adjacency
    assert within_steps(grid, np.array([465]), 20) is None
    assert len(within_steps(grid, np.array([465]), 4)) == 41
