import networkx as nx
import numpy as np
import pytest


@pytest.fixture(scope="session")
def club():
    """The karate club without weights, and who was in which party."""
    graph = nx.karate_club_graph()
    parties = np.array([graph.nodes[node]["club"] for node in graph])
    return nx.to_scipy_sparse_array(graph, weight=None), parties
