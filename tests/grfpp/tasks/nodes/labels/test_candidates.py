"""The kernels to choose from."""

import pytest

import grfpp
from grfpp.tasks.nodes.labels.candidates import FACTORS, GRID, candidate_kernels


def test_the_grid():
    assert candidate_kernels("auto") == GRID
    inverse = [kernel for kernel in GRID if isinstance(kernel, grfpp.RegularizedLaplacian)]
    assert [kernel.c for kernel in inverse] == pytest.approx(FACTORS)


def test_one_or_several():
    assert candidate_kernels(grfpp.Diffusion(3.0)) == (grfpp.Diffusion(3.0),)
    found = candidate_kernels(["diffusion:2", grfpp.Diffusion(3.0)])
    assert found == (grfpp.Diffusion(2.0), grfpp.Diffusion(3.0))
    for nonsense in ([], 5, None, [5]):
        with pytest.raises(grfpp.InputError, match="kernel must be"):
            candidate_kernels(nonsense)
