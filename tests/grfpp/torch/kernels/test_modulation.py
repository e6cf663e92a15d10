"""Modulation modules: their values, their gradients, what they refuse."""

import math

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
from torch.autograd import gradcheck
from torch.func import functional_call
from torch.testing import assert_close

from grfpp import Diffusion, InputError, RegularizedLaplacian, TaylorKernel
from grfpp.torch import (
    DiffusionModulation,
    FreeModulation,
    LearnableModulation,
    MLPModulation,
    RegularizedLaplacianModulation,
)

DOUBLE = torch.float64
MODULES = {
    "free": lambda: FreeModulation(7, degree=2),
    "network": lambda: MLPModulation(7, degree=1, n_hidden=4),
    "diffusion": lambda: DiffusionModulation(7, degree=2, lam=1.7),
    "diffusion of the Laplacian": lambda: DiffusionModulation(7, lam=0.3, laplacian=True),
    "regularised": lambda: RegularizedLaplacianModulation(7, degree=3, power=2.5, sigma2=0.8),
    "regularised Laplacian": lambda: RegularizedLaplacianModulation(7, laplacian=True),
}


@pytest.fixture(params=MODULES)
def modulation(request):
    torch.manual_seed(0)
    module = MODULES[request.param]().double()
    with torch.no_grad():  # away from the special place where a network begins
        for parameter in module.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return module


def test_gradients(modulation):
    names, parameters = zip(*modulation.named_parameters(), strict=True)
    inputs = tuple(each.detach().requires_grad_(True) for each in parameters)

    def values(*tensors):
        return functional_call(modulation, dict(zip(names, tensors, strict=True)), ())

    assert gradcheck(values, inputs)


def test_shape_and_type(modulation):
    values = modulation()
    assert values.shape == (7,)
    assert values.dtype == DOUBLE
    assert values.requires_grad


def test_it_can_be_saved_and_loaded(modulation, tmp_path):
    torch.save(modulation.state_dict(), tmp_path / "f.pt")
    other = type(modulation)(7, **({"n_hidden": 4} if hasattr(modulation, "network") else {}))
    other = other.double()
    other.load_state_dict(torch.load(tmp_path / "f.pt"))
    assert all(
        torch.equal(*pair) for pair in zip(other.parameters(), modulation.parameters(), strict=True)
    )


@pytest.mark.parametrize("degree", [1, 2, 4])
@pytest.mark.parametrize("lam", [0.2, 1.0, 6.0])
def test_diffusion_has_the_kernels_values(degree, lam):
    values = DiffusionModulation(12, degree=degree, lam=lam).double()()
    wanted = torch.from_numpy(Diffusion(lam).modulation(degree, 12))
    assert_close(values, wanted, rtol=1e-6, atol=0)
    laplacian = DiffusionModulation(12, degree=degree, lam=lam, laplacian=True).double()()
    assert_close(laplacian, wanted * math.exp(-lam / (2 * degree)), rtol=1e-6, atol=0)


@pytest.mark.parametrize("degree", [1, 2, 4])
@pytest.mark.parametrize("power", [1, 2, 3.5])
def test_regularised_laplacian_has_the_kernels_values(degree, power):
    options = {"degree": degree, "power": power, "sigma2": 0.7}
    values = RegularizedLaplacianModulation(12, **options).double()()
    wanted = RegularizedLaplacian(power, 0.7).modulation(degree, 12)
    assert_close(values, torch.from_numpy(wanted), rtol=1e-5, atol=0)
    laplacian = RegularizedLaplacianModulation(12, laplacian=True, **options).double()()
    scale = (1 + 0.7) ** (-power / (2 * degree))
    assert_close(laplacian, torch.from_numpy(wanted) * scale, rtol=1e-5, atol=0)


@pytest.mark.parametrize("kind", [FreeModulation, MLPModulation])
def test_training_begins_at_the_kernel(kind):
    kernel = RegularizedLaplacian(2, 0.5)
    values = kind(9, kernel=kernel, degree=3)()
    wanted = torch.from_numpy(kernel.modulation(3, 9)).to(torch.float32)
    assert_close(values, wanted)


@pytest.mark.parametrize("lam", [1.0, 20.0])
def test_neglected_share_of_the_series(lam):
    module = DiffusionModulation(8, degree=2, lam=lam).double()
    whole = Diffusion(lam).modulation(2, 100)
    assert module.neglected() == pytest.approx(whole[8:].sum() / whole.sum(), abs=1e-7)
    other = RegularizedLaplacianModulation(8, degree=1, power=2, sigma2=lam).double()
    whole = RegularizedLaplacian(2, lam).modulation(1, 2000)
    assert other.neglected() == pytest.approx(whole[8:].sum() / whole.sum(), abs=1e-6)
    assert FreeModulation(8).neglected() == 0.0


@pytest.mark.parametrize("radius", [0.0, 0.3, 1.0, 1.4, 3.6])
def test_neglected_share_at_a_spectral_radius(radius):
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


def test_neglected_share_of_extreme_parameters():
    assert RegularizedLaplacianModulation(8, sigma2=1e300).neglected() == pytest.approx(1.0)
    assert RegularizedLaplacianModulation(8, sigma2=1e-300).neglected(1e6) < 1e-6


def test_without_forward_there_is_no_modulation():
    with pytest.raises(TypeError, match="forward"):
        LearnableModulation(4)


def test_one_of_your_own():
    class Constant(LearnableModulation):
        def forward(self):
            return torch.ones(self.n_lengths)

    module = Constant(3, degree=5)
    assert (module.n_lengths, module.degree) == (3, 5)
    assert torch.equal(module(), torch.ones(3))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FreeModulation(0), "n_lengths must be a whole number"),
        (lambda: FreeModulation(4, degree=0), "degree must be a whole number"),
        (lambda: FreeModulation(4, kernel="diffusion"), "kernel must be a Kernel"),
        (lambda: FreeModulation(4, kernel=TaylorKernel([-1.0, 0.5])), "negative"),
        (lambda: MLPModulation(4, n_hidden=0), "n_hidden must be a whole number"),
        (lambda: DiffusionModulation(4, lam=-1.0), "lam must be a positive"),
        (lambda: DiffusionModulation(4, lam=math.nan), "lam must be a positive"),
        (lambda: RegularizedLaplacianModulation(4, sigma2=0), "sigma2 must be a positive"),
        (lambda: RegularizedLaplacianModulation(4, power=np.inf), "power must be a positive"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
