"""Modularity."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from grfpp.tasks.nodes.modularity import modularity


@pytest.mark.parametrize("weight", [None, "weight"])
def test_it_is_that_of_networkx(weight):
    club = nx.karate_club_graph()
    labels = np.arange(34) % 3
    sets = [set(np.flatnonzero(labels == each)) for each in range(3)]
    expected = nx.community.modularity(club, sets, weight=weight)
    assert modularity(nx.to_scipy_sparse_array(club, weight=weight), labels) == pytest.approx(
        expected
    )


def test_without_edges():
    assert modularity(sp.csr_array((3, 3)), np.array([0, 1, 1])) == 0
