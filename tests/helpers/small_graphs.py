"""Graphs and walk-length laws that many tests share: small, and of every kind that can go wrong."""

import networkx as nx
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import grfpp
from grfpp import Graph

# The first example pays for compilation, so deadlines would only measure that.
QUICK = settings(deadline=None, max_examples=40)

LAWS = {
    "geometric": grfpp.Geometric(0.2),
    "poisson": grfpp.Poisson(3.0),
    "negative-binomial": grfpp.NegativeBinomial(2.5, 0.4),
    "first-step": grfpp.FirstStepThenGeometric(0.6),
    "fixed": grfpp.FixedLength(5),
    "uniform": grfpp.UniformLength(6),
    "custom": grfpp.CustomLength([0.1, 0.0, 0.4, 0.0, 0.2, 0.3]),
}


def karate(scale=1.0):
    """Zachary's karate club without weights, symmetrically normalised."""
    pattern = nx.to_numpy_array(nx.karate_club_graph(), weight=None)
    return Graph(pattern).normalized("sym", scale)


def irregular():
    """A clique with a tail: the degrees differ."""
    return nx.to_numpy_array(nx.lollipop_graph(5, 4))


def weighted(n=9, seed=0, density=0.5):
    """Symmetric log-normal weights; connected by a path."""
    rng = np.random.default_rng(seed)
    values = rng.lognormal(size=(n, n)) * (rng.random((n, n)) < density)
    values[np.arange(n - 1), np.arange(1, n)] = 1.0
    upper = np.triu(values, 1)
    return upper + upper.T


def directed(n=10, seed=1, equal_weights=False):
    """Arcs with two dead ends, a node that nothing leads to, and a self-loop."""
    rng = np.random.default_rng(seed)
    values = rng.lognormal(size=(n, n)) * (rng.random((n, n)) < 0.35)
    values[0, 0] = 1.5
    values[[3, 7]] = 0.0
    values[2, [3, 5]] = 0.7
    values[:, 8] = 0.0
    return (values > 0).astype(float) if equal_weights else values


def with_loops_and_isolated(equal_weights=False):
    """Self-loops on three nodes, two nodes without any edge, one that has but a loop."""
    matrix = np.zeros((12, 12))
    matrix[:8, :8] = weighted(8, seed=2)
    matrix[[0, 3, 10], [0, 3, 10]] = [0.5, 2.0, 1.0]
    return (matrix > 0).astype(float) if equal_weights else matrix


def _all_graphs():
    raw = {
        "weighted": weighted(),
        "unweighted": irregular(),
        "directed": directed(),
        "directed unweighted": directed(equal_weights=True),
        "loops and isolated": with_loops_and_isolated(),
        "loops and isolated unweighted": with_loops_and_isolated(equal_weights=True),
    }
    graphs = {
        f"{name}, {kind}": Graph(matrix).normalized(kind, 0.8)
        for name, matrix in raw.items()
        for kind in ("sym", "rw", None)
    }
    graphs["regular, raw"] = Graph(nx.to_numpy_array(nx.petersen_graph()) * 0.3)
    graphs["acyclic"] = Graph(np.triu(weighted(7, seed=3), 1))
    graphs["one node"] = Graph([[0.0]])
    graphs["one node with a loop"] = Graph([[0.5]])
    graphs["no edges"] = Graph(np.zeros((4, 4)))
    return graphs


GRAPHS = _all_graphs()

_WEIGHTS = st.one_of(st.just(0.0), st.just(1.0), st.floats(0.05, 4.0))


@st.composite
def graphs(draw, max_nodes=7):
    """Graphs of any kind: directed or not, weighted or not, loops, isolated nodes, dead ends."""
    n = draw(st.integers(1, max_nodes))
    values = draw(st.lists(_WEIGHTS, min_size=n * n, max_size=n * n))
    matrix = np.array(values).reshape(n, n)
    if draw(st.booleans()):
        matrix = (matrix > 0).astype(float)
    if draw(st.booleans()):
        matrix = np.triu(matrix) + np.triu(matrix, 1).T
    return Graph(matrix).normalized(draw(st.sampled_from(["sym", "rw", None])))


@st.composite
def laws(draw):
    """Walk-length laws of every kind, with short walks."""
    n = draw(st.integers(0, 8))
    p = draw(st.floats(0.15, 0.9))
    made = [
        *(grfpp.Geometric(p), grfpp.Poisson(4 * p), grfpp.NegativeBinomial(1 + n / 2, p)),
        *(grfpp.FirstStepThenGeometric(1 - p), grfpp.FixedLength(n), grfpp.UniformLength(n)),
        grfpp.CustomLength(np.full(n + 1, 1 / (n + 1))),
    ]
    return draw(st.sampled_from(made))
