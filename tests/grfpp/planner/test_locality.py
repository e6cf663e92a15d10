import numpy as np
import pytest
import scipy.sparse as sp

from grfpp.graph import Graph
from grfpp.planner.costs import MachineCosts, stays_in_cache
from grfpp.planner.locality import scattering
from grfpp_lab.families import grid, random_regular, scale_free


def test_grids_are_local_and_random_graphs_are_not():
    assert scattering(grid(40_000)) < 0.2
    assert scattering(random_regular(40_000, seed=0)) > 0.4
    assert scattering(scale_free(20_000, 3, seed=0)) < scattering(random_regular(20_000))


@pytest.mark.parametrize("n", [1, 3, 200])
def test_small_and_empty_graphs(n):
    assert scattering(Graph(sp.csr_array((n, n)))) == 0.0


def test_what_leads_elsewhere_takes_longer_beyond_the_cache():
    costs, n = MachineCosts(), 10**6
    near, far = (costs.product(10 * n, n, 16, scattered=share) for share in (0.0, 1.0))
    assert near < far and not stays_in_cache(n, 16)
    assert costs.product(10, 10, 16, scattered=1.0) == costs.product(10, 10, 16, scattered=0.0)
    assert np.isfinite(costs.product(0, 1, 1))
