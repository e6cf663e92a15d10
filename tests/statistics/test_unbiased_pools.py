"""The mean of pooled walks is the kernel: z-scores over many independent estimates.

Pools are exact in their first steps and rare in their last, so single entries may vary in one of a
thousand estimates only. Scores are therefore those of products with random signs from both sides,
to which every entry adds its part. They share the noise of the factors' rows; so the copies are
taken in groups, and the score is that of all groups: it scatters less.
"""

from functools import partial

import numpy as np
import pytest
from statistics_helpers import copies, deflated, estimates
from unbiased_cases import HALVED_SQUARE, KERNELS, N_NODES, WEIGHTS

import grfpp

N_GROUPS, GROUP = 8, 60
GRAPHS = {name: copies(weights, N_GROUPS * GROUP) for name, weights in WEIGHTS.items()}
SIGNS = np.random.default_rng(1).choice([-1.0, 1.0], (N_NODES, 20))


def score(samples, exact):
    """Root mean square z-score of products with signs; those that do not vary must be right."""
    products, wanted = SIGNS.T @ samples @ SIGNS, SIGNS.T @ exact @ SIGNS
    groups = products.reshape(-1, GROUP, *wanted.shape)
    difference = groups.mean(axis=1) - wanted
    error = groups.std(axis=1, ddof=1) / np.sqrt(GROUP)
    size = np.abs(wanted).max()
    varies = error > 1e-12 * size
    assert np.abs(difference[~varies]).max(initial=0.0) < 1e-11 * size
    if not varies.any():
        return 1.0
    return float(np.sqrt(np.mean((difference[varies] / error[varies]) ** 2)))


# Every kernel, budget and degree, on every kind of graph in turn.
@pytest.mark.parametrize(
    ("kernel", "budget", "degree", "kind"),
    [
        pytest.param(kernel, budget, 1 + k, kind, id=f"{kernel!r}-{budget}-{1 + k}-{kind}")
        for i, kernel in enumerate(KERNELS)
        for j, budget in enumerate((3, 16, 144))
        for k in range(3)
        for kind in [list(WEIGHTS)[(i + j + k) % 4]]
    ],
)
def test_every_kernel_budget_degree_and_kind_of_graph_is_unbiased(kind, kernel, budget, degree):
    law = grfpp.Matched(budget)
    estimate = grfpp.sample(GRAPHS[kind], kernel, degree, 1, law, seed=1, check_error=False)
    samples, exact = estimates(estimate, N_NODES), kernel.exact(WEIGHTS[kind])
    assert 0.85 < score(samples, exact) < 1.15
    if kind != "directed":
        assert 0.85 < score((samples + samples.transpose(0, 2, 1)) / 2, exact) < 1.15


# With a budget of 16 and half as many estimates two cases came out at 1.16 and 1.20, and at 0.84 to
# 1.13 with 4 x 480 others: too few for what varies seldom.
@pytest.mark.parametrize(("kind", "kernel", "degree", "symmetrize"), HALVED_SQUARE, ids=str)
def test_deflated_pools_are_unbiased(kind, kernel, degree, symmetrize):
    options = {"degree": degree, "symmetrize": symmetrize, "n_walks": 1, "n_jobs": 1}
    law = grfpp.Matched(5)
    pooled = partial(grfpp.sample, kernel=kernel, termination=law, **options)
    samples = deflated(pooled, WEIGHTS[kind], degree**2, N_GROUPS * GROUP)
    assert 0.85 < score(samples, kernel.exact(WEIGHTS[kind])) < 1.15
