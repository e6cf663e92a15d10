import networkx as nx
import numpy as np
import pytest
from datasets_helpers import diameter, is_frozen, refusal

from grfpp.datasets import infection_graph


@pytest.mark.parametrize("seed", range(4))
def test_it_is_like_the_papers(seed):
    epidemic = infection_graph(seed=seed)
    assert epidemic.graph.n_nodes == 500
    assert diameter(epidemic.graph) == 4
    assert not epidemic.graph.is_directed


def test_who_infected_whom():
    epidemic = infection_graph(200, seed=1)
    time, infector = epidemic.time, epidemic.infector
    assert (time[0], infector[0]) == (0, -1)
    assert (np.diff(time) >= 0).all()
    later = np.arange(1, 200)
    assert (infector[1:] < later).all()
    assert (time[infector[1:]] < time[1:]).all()
    contacts = epidemic.graph.adjacency
    assert all(contacts[infector[i], i] == 1 for i in later)
    tree = nx.from_scipy_sparse_array(epidemic.transmissions().adjacency)
    assert nx.is_tree(tree)
    assert is_frozen(time)
    assert is_frozen(infector)
    assert repr(epidemic).startswith("InfectionGraph(Graph(n_nodes=200, ")


def test_rates_count():
    slow, fast = (infection_graph(100, transmission=p, seed=0).time[-1] for p in (0.02, 0.5))
    assert fast < slow
    # Without recovery even a slow epidemic reaches everybody.
    assert infection_graph(100, transmission=0.01, recovery=0.0).graph.n_nodes == 100


def test_the_seed_decides():
    one, same, other = (infection_graph(80, seed=seed) for seed in (5, 5, 6))
    assert (one.graph.adjacency != same.graph.adjacency).nnz == 0
    np.testing.assert_array_equal(one.time, same.time)
    assert (one.graph.adjacency != other.graph.adjacency).nnz > 0


def test_small_ones():
    assert infection_graph(1).graph.n_nodes == 1
    assert infection_graph(2).graph.n_edges == 1


def test_refusals():
    message = refusal(infection_graph, 100, transmission=0.001, recovery=0.9)
    assert "died out before it reached 100 people" in message
    assert "transmission must be" in refusal(infection_graph, transmission=0.0)
    assert "recovery must be" in refusal(infection_graph, recovery=1.5)
    assert "mean_contacts" in refusal(infection_graph, mean_contacts=-1)
    assert "n_nodes" in refusal(infection_graph, 0)
