"""Algorithm 1 of the paper is Algorithm 2 with geometric lengths."""

import networkx as nx
import numpy as np

import grfpp
from grfpp.walks import WalkPlan, sample_factor
from grfpp.walks.convergence import modulation_table
from grfpp.walks.reference import draw_length
from grfpp.walks.streams import step_choice, walk_state

P_HALT = 0.2
KERNEL = grfpp.Diffusion(1.0)
WEIGHTS = grfpp.Graph(nx.karate_club_graph()).normalized("sym")


def algorithm_1(graph, modulation, n_walks, start, coin, choose):
    """As printed, line by line. `coin(walk, t)` is line 10, `choose(walk, t, degree)` line 7."""
    xi = np.zeros(graph.n_nodes)
    for walk in range(n_walks):
        load, current_node, terminated, walk_length = 1.0, start, False, 0
        while not terminated:
            xi[current_node] += load * modulation[walk_length]
            walk_length += 1
            first, end = graph.indptr[current_node], graph.indptr[current_node + 1]
            edge = first + choose(walk, walk_length, int(end - first))
            new_node = graph.indices[edge]
            load *= (end - first) / (1 - P_HALT) * graph.weights[edge]
            current_node = new_node
            terminated = coin(walk, walk_length) or walk_length == len(modulation)
    return xi / n_walks


def _plan(n_walks, seed=0):
    law = grfpp.Geometric(P_HALT)
    return WalkPlan.of(WEIGHTS, modulation_table(KERNEL, 1, law), law, n_walks, seed)


def test_on_the_same_walks_both_deposit_the_same():
    plan = _plan(50)
    engine = sample_factor(plan).toarray()
    for start in range(0, WEIGHTS.n_nodes, 5):
        states = [walk_state(plan.key, start, walk) for walk in range(plan.n_walks)]
        xi = algorithm_1(
            WEIGHTS,
            plan.modulation,
            plan.n_walks,
            start,
            coin=lambda walk, t, states=states: t > draw_length(plan, states[walk]),
            choose=lambda walk, t, degree, states=states: step_choice(states[walk], t, degree),
        )
        np.testing.assert_allclose(engine[start], xi, rtol=1e-12, atol=1e-15)
