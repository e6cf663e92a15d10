import networkx as nx

import grfpp
from grfpp.cli.outputs import graph_document, graph_fact, plain


def test_graphs_are_described():
    ring = grfpp.Graph(nx.cycle_graph(1200))
    assert graph_fact("a.txt", ring) == ("graph", "a.txt: 1,200 nodes, 1,200 edges, undirected")
    arcs = grfpp.Graph(nx.path_graph(3, create_using=nx.DiGraph))
    assert graph_fact("b.txt", arcs)[1].endswith("3 nodes, 2 edges, directed")
    assert graph_document("b.txt", arcs) == {
        "path": "b.txt",
        "n_nodes": 3,
        "n_edges": 2,
        "directed": True,
    }


def test_labels_that_json_can_hold():
    assert [plain(label) for label in (3, "Anna", (1, 2))] == [3, "Anna", "(1, 2)"]
