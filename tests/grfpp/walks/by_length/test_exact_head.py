"""Exact powers before walked ones: against the algebra, on all kinds of graphs."""

import numpy as np
import pytest
from numpy.linalg import matrix_power
from numpy.testing import assert_allclose
from small_graphs import GRAPHS

import grfpp
from grfpp.walks import WalkPlan
from grfpp.walks.by_length import sample_by_length, with_exact_head


def walked(graph, n_lengths=4):
    return sample_by_length(WalkPlan.of(graph, np.ones(n_lengths), grfpp.Geometric(0.2), 5, 0))


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("n_exact", [1, 3])
def test_first_lengths_are_powers_and_later_ones_begin_where_they_end(name, n_exact):
    graph = GRAPHS[name]
    W, deposits = graph.adjacency.toarray(), walked(graph)
    found = with_exact_head(deposits, graph, n_exact)
    assert found.n_lengths == 4 + n_exact
    for k, unit in enumerate(np.eye(found.n_lengths)):
        if k < n_exact:
            wanted = matrix_power(W, k)
        else:
            rest = deposits.factor(np.eye(4)[k - n_exact]).toarray()
            wanted = matrix_power(W, n_exact) @ rest
        assert_allclose(found.factor(unit).toarray(), wanted, rtol=1e-12, atol=1e-14)


def test_every_entry_stands_once():
    found = with_exact_head(walked(GRAPHS["weighted, sym"]), GRAPHS["weighted, sym"], 2)
    positions = found.factor(np.ones(6)).tocoo().coords
    assert len(set(zip(*positions, strict=True))) == len(found.columns)


def test_no_head_changes_nothing():
    deposits = walked(GRAPHS["unweighted, sym"])
    assert with_exact_head(deposits, GRAPHS["unweighted, sym"], 0) is deposits
