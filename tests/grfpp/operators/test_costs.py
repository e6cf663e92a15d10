"""The machine's constants, and their corrections."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from grfpp.graph import Graph
from grfpp.operators.costs import Costs, MachineCosts, scattering, stays_in_cache
from grfpp_lab.graphs import grid, random_regular, scale_free


@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1e9)), max_size=30))
def test_corrections_stay_within_bounds(pairs):
    learned = Costs(MachineCosts())
    for predicted, seconds in pairs:
        learned.observe("dense", predicted, seconds)
        assert 0.5 <= learned.correction("dense") <= 2


def test_corrections_approach_the_observed_times():
    learned = Costs(MachineCosts())
    for _ in range(20):
        learned.observe("dense", learned.correction("dense"), 1.5)
    assert learned.correction("dense") == pytest.approx(1.5, rel=0.05)


def test_wide_blocks_cost_less_a_column_and_scattered_entries_more_beyond_the_cache():
    costs, n = MachineCosts(), 10**6
    each = [costs.product(10_000, 1000, width) / width for width in (1, 2, 4, 8, 16, 64)]
    assert each == sorted(each, reverse=True) and each[-1] > 0
    near, far = (costs.product(10 * n, n, 16, scattered=share) for share in (0.0, 1.0))
    assert near < far and not stays_in_cache(n, 16)
    assert costs.product(10, 10, 16, scattered=1.0) == costs.product(10, 10, 16, scattered=0.0)
    assert np.isfinite(costs.product(0, 1, 1))


def test_grids_are_local_and_random_graphs_are_not():
    assert scattering(grid(40_000)) < 0.2
    assert scattering(random_regular(40_000, seed=0)) > 0.4
    assert scattering(scale_free(20_000, 3, seed=0)) < scattering(random_regular(20_000))
    for n in (1, 3, 200):
        assert scattering(Graph(sp.csr_array((n, n)))) == 0.0
