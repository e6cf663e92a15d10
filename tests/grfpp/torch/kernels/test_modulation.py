"""Modulations: their values, their gradients, what they refuse."""

import math

import numpy as np
import pytest
import torch
from refusal_case import refused
from torch.autograd import gradcheck
from torch.func import functional_call
from torch.testing import assert_close

from grfpp import Diffusion, RegularizedLaplacian, TaylorKernel
from grfpp.torch import (
    DiffusionModulation,
    FreeModulation,
    LearnableModulation,
    MLPModulation,
    RegularizedLaplacianModulation,
)

MODULES = {
    "free": lambda: FreeModulation(7, degree=2),
    "network": lambda: MLPModulation(7, degree=1, n_hidden=4),
    "diffusion": lambda: DiffusionModulation(7, degree=2, lam=1.7),
    "diffusion of the Laplacian": lambda: DiffusionModulation(7, lam=0.3, laplacian=True),
    "regularised": lambda: RegularizedLaplacianModulation(7, degree=3, power=2.5, sigma2=0.8),
    "regularised Laplacian": lambda: RegularizedLaplacianModulation(7, laplacian=True),
}


@pytest.mark.parametrize("name", MODULES)
def test_every_modulation(name):
    """Shape, type, gradients, and a state that can be loaded."""
    torch.manual_seed(0)
    modulation, other = (MODULES[name]().double() for _ in range(2))
    with torch.no_grad():  # away from the initial value of a network, where much is zero
        for parameter in modulation.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    values = modulation()
    assert values.shape == (7,) and values.dtype == torch.float64 and values.requires_grad
    other.load_state_dict(modulation.state_dict())
    assert torch.equal(other(), values)
    names, parameters = zip(*modulation.named_parameters(), strict=True)
    inputs = tuple(p.detach().requires_grad_(True) for p in parameters)
    assert gradcheck(
        lambda *p: functional_call(modulation, dict(zip(names, p, strict=True)), ()), inputs
    )


LAWS = [(DiffusionModulation, Diffusion(lam), {"lam": lam}, math.exp(-lam)) for lam in (0.2, 6.0)]
for power in (1, 3.5):
    kernel, given = RegularizedLaplacian(power, 0.7), {"power": power, "sigma2": 0.7}
    LAWS.append((RegularizedLaplacianModulation, kernel, given, 1.7**-power))


@pytest.mark.parametrize("degree", [1, 4])
@pytest.mark.parametrize(("modulation", "kernel", "parameters", "of_zero"), LAWS)
def test_modulations_have_the_kernels_values(modulation, kernel, parameters, of_zero, degree):
    """Those of the Laplacian are shifted: by the kernel's value where weights are zero."""
    expected = torch.from_numpy(kernel.modulation(degree, 12))
    plain, laplacian = (
        modulation(12, degree=degree, laplacian=laplacian, **parameters).double()()
        for laplacian in (False, True)
    )
    assert_close(plain, expected, rtol=1e-6, atol=0)
    assert_close(laplacian, expected * of_zero ** (1 / (2 * degree)), rtol=1e-6, atol=0)


@pytest.mark.parametrize("modulation", [FreeModulation, MLPModulation])
def test_training_starts_from_the_kernel(modulation):
    kernel = RegularizedLaplacian(2, 0.5)
    expected = torch.from_numpy(kernel.modulation(3, 9)).to(torch.float32)
    assert_close(modulation(9, kernel=kernel, degree=3)(), expected)


@pytest.mark.parametrize("radius", [0.0, 0.3, 1.0, 1.4, 3.6])
def test_neglected_share_of_the_series(radius):
    powers = radius ** np.arange(400.0)
    module = DiffusionModulation(8, degree=1, lam=5.0).double()
    terms = Diffusion(5.0).modulation(1, 400) * powers
    assert module.neglected(radius) == pytest.approx(terms[8:].sum() / terms.sum(), abs=1e-7)
    assert module.radius_of_convergence == math.inf
    other = RegularizedLaplacianModulation(8, degree=2, power=2, sigma2=2.0).double()
    assert other.radius_of_convergence == pytest.approx(1.5)
    terms = RegularizedLaplacian(2, 2.0).modulation(2, 400) * powers
    share = terms[8:].sum() / terms.sum() if radius < 1.5 else 1.0
    assert other.neglected(radius) == pytest.approx(share, abs=1e-6)
    assert FreeModulation(8).neglected(radius) == 0.0
    assert RegularizedLaplacianModulation(8, sigma2=1e300).neglected() == pytest.approx(1.0)
    assert RegularizedLaplacianModulation(8, sigma2=1e-300).neglected(1e6) < 1e-6


def test_custom_modulations_implement_forward():
    with pytest.raises(TypeError, match="forward"):
        LearnableModulation(4)


test_bad_arguments_are_refused = refused(
    n_lengths=lambda: FreeModulation(0),
    degree=lambda: FreeModulation(4, degree=0),
    kernel=[
        lambda: FreeModulation(4, kernel="diffusion"),
        lambda: FreeModulation(4, kernel=TaylorKernel([-1.0, 0.5])),
    ],
    n_hidden=lambda: MLPModulation(4, n_hidden=0),
    lam=[lambda: DiffusionModulation(4, lam=-1.0), lambda: DiffusionModulation(4, lam=math.nan)],
    sigma2=lambda: RegularizedLaplacianModulation(4, sigma2=0),
    power=lambda: RegularizedLaplacianModulation(4, power=np.inf),
)
