"""Kernels with parameters."""

from __future__ import annotations

import pytest

from grfpp.kernels import Diffusion, InversePower, RegularizedLaplacian


def test_kernels_do_not_change():
    with pytest.raises(AttributeError):
        Diffusion().lam = 2


def test_repr():
    assert repr(InversePower(4.0, of=2)) == "InversePower(power=4, of=2)"
    assert repr(RegularizedLaplacian(0.5)) == "RegularizedLaplacian(power=0.5, sigma2=1.0)"
