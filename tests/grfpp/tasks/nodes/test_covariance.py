"""Which kernels kriging takes."""

import numpy as np
import pytest

import grfpp
from grfpp.datasets import grid
from grfpp.tasks import KernelInterpolator
from grfpp.tasks.nodes.covariance import is_covariance

GRAPH = grid(8, 8)
W = GRAPH.normalized("sym")


@pytest.mark.parametrize("spec", ["cosine:3", "p-step:3:0.1", "cosine:0.5", "p-step:2:0.1"])
def test_a_covariance_has_no_negative_eigenvalue(spec):
    kernel = grfpp.kernels.kernel_of(spec)
    smallest = np.linalg.eigvalsh(kernel.exact(W))[0]
    assert is_covariance(kernel, W) is bool(smallest > -1e-9)


@pytest.mark.parametrize("kernel", ["cosine:3", "p-step:3:0.1", ["diffusion:5", "cosine:3"]])
def test_kriging_refuses_other_kernels_at_the_door(kernel):
    known = np.arange(0, 64, 3)
    with pytest.raises(grfpp.InputError, match=r"is no covariance.*such as 'diffusion:5'"):
        KernelInterpolator(GRAPH, kernel=kernel, noise=0.1).fit(known, known / 7.0)


def test_directed_weights_have_none():
    assert not is_covariance(grfpp.Diffusion(), grfpp.Graph([[0, 1], [0, 0]]))
