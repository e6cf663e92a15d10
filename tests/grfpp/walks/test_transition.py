"""Where walkers step, and the graph as the compiled loops read it."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import GRAPHS, QUICK, directed, graphs, irregular, weighted

from grfpp import Graph
from grfpp.walks import transition
from grfpp.walks.transition import DEGREE_BITS, UniformSteps, WalkLayout


@pytest.mark.parametrize("name", GRAPHS)
def test_a_rule_gives_every_edge_its_load(name):
    graph = GRAPHS[name]
    rule = UniformSteps.on(graph)
    coo = graph.adjacency.tocoo()
    source, target = coo.coords
    wanted = coo.data * graph.out_degree[source]
    assert_array_equal(rule.loads(), wanted)
    if not rule.telescopes:
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
    rule = UniformSteps.on(Graph(matrix).normalized(kind))
    assert rule.telescopes == telescopes


def test_a_graph_that_is_regular_only_at_first_does_not_telescope():
    # The rule looks at 64 rows first; here only the last edge is different.
    ring = nx.to_scipy_sparse_array(nx.cycle_graph(200), dtype=float).tolil()
    ring[198, 199] = ring[199, 198] = 1.0 + 1e-12
    assert not UniformSteps.on(Graph(ring)).telescopes
    isolated_first = np.zeros((80, 80))
    isolated_first[70:80, 70:80] = weighted(10)
    assert not UniformSteps.on(Graph(isolated_first)).telescopes


@pytest.mark.parametrize("name", GRAPHS)
def test_second_moments_are_squares_over_probabilities(name):
    graph = GRAPHS[name]
    steps = UniformSteps.on(graph)
    wanted = graph.adjacency.toarray() ** 2 * graph.out_degree[:, None]
    assert_allclose(steps.second_moments().toarray(), wanted, rtol=1e-14)
    assert_allclose(steps.second_moments(2.0).toarray(), wanted / 4, rtol=1e-14)


def test_equal_weights_have_the_potential_that_is_found():
    graph = Graph(irregular()).normalized("sym", 0.7)
    found, known = UniformSteps.on(graph), UniformSteps.on_equal_weights(graph, 0.7)
    assert found.rate == pytest.approx(known.rate, rel=1e-14)
    assert_array_equal(found.potential, known.potential)
    assert not UniformSteps.carrying(graph).telescopes


def plain_rate(graph, potential):
    """The rate from all edges at once."""
    sources = np.repeat(np.arange(graph.n_nodes), graph.out_degree)
    ratio = potential[graph.indices] / potential[sources]
    factors = graph.weights * graph.out_degree[sources] * ratio
    top = float(factors.max(initial=0.0)) or 1.0
    if top - float(factors.min(initial=top)) > 8 * np.finfo(float).eps * top:
        return None
    return float(np.median(factors)) if len(factors) else 1.0


@pytest.mark.parametrize("n_edges", [3, 50, 1 << 22])
def test_rates_are_the_same_in_blocks_of_any_size(monkeypatch, n_edges):
    monkeypatch.setattr(transition, "BLOCK_EDGES", n_edges)
    found = []
    for graph in GRAPHS.values():
        degree = graph.out_degree.astype(float)
        for potential in (np.sqrt(degree), np.ones(graph.n_nodes)):
            with np.errstate(divide="ignore", invalid="ignore"):
                found.append(transition._telescoping_rate(graph, potential))
                assert found[-1] == plain_rate(graph, potential)
    assert None in found and any(found)


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
