"""Kernels by name: from specs and from dictionaries."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from kernel_cases import KERNELS

from grfpp.errors import InputError
from grfpp.kernels.base import Kernel
from grfpp.kernels.named import (
    Cosine,
    Diffusion,
    HeatKernel,
    InversePower,
    PersonalizedPageRank,
    PStep,
    RegularizedLaplacian,
    SquaredDiffusion,
)
from grfpp.kernels.registry import kernel_from_dict, kernel_from_spec
from grfpp.kernels.taylor import TaylorKernel


@pytest.mark.parametrize("kernel", [k for k in KERNELS if "function" not in str(k)], ids=repr)
def test_json_round_trip(kernel):
    if isinstance(kernel, TaylorKernel) and callable(kernel._alpha):
        with pytest.raises(InputError, match="function for its coefficients and cannot be saved"):
            kernel.to_dict()
        return
    text = json.dumps(kernel.to_dict(), allow_nan=False)
    assert kernel_from_dict(json.loads(text)) == kernel
    assert Kernel.from_dict(json.loads(text)) == kernel


def test_names_survive_the_round_trip():
    kernel = TaylorKernel([1, Fraction(1, 3)], name="mine")
    assert kernel_from_dict(kernel.to_dict()).name == "mine"


@pytest.mark.parametrize(
    ("spec", "kernel"),
    [
        ("diffusion", Diffusion()),
        ("diffusion:0.5", Diffusion(0.5)),
        (" diffusion : -2 ", Diffusion(-2)),
        ("regularized-laplacian:2:0.5", RegularizedLaplacian(2, 0.5)),
        ("p-step:3", PStep(3)),
        ("p-step:3:1e1", PStep(3, 10.0)),
        ("cosine", Cosine()),
        ("inverse-power:4:2", InversePower(4, of=2)),
        ("squared-diffusion:0.25", SquaredDiffusion(0.25)),
        ("personalized-pagerank:0.2", PersonalizedPageRank(0.2)),
        ("heat:5", HeatKernel(5.0)),
        ("taylor:1:0.5:1/3", TaylorKernel([1, Fraction(1, 2), Fraction(1, 3)])),
    ],
)
def test_specs(spec, kernel):
    assert kernel_from_spec(spec) == kernel


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("difusion", "diffusion, regularized-laplacian, p-step, cosine, inverse-power, squared-"),
        ("", "there is no kernel ''"),
        ("diffusion:x", "lam in 'diffusion:x' must be a number, found 'x'"),
        ("diffusion:", "lam"),
        ("diffusion:1:2", "too many parameters; it is diffusion:LAM"),
        ("diffusion:nan", "lam must be a finite number"),
        ("p-step:2.5", "p must be a whole number"),
        ("inverse-power:1:3", "of must be at most 2"),
        ("taylor", "at least one"),
        ("taylor:1:y", "found 'y'"),
    ],
)
def test_bad_specs(spec, message):
    with pytest.raises(InputError) as error:
        kernel_from_spec(spec)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"kernel": "x"},
        {"kernel": ["x"]},
        {"kernel": "diffusion", "mu": 1},
        {"kernel": "taylor"},
        {"kernel": "taylor", "coefficients": ["1/0"]},
    ],
)
def test_bad_dicts(values):
    with pytest.raises(InputError):
        kernel_from_dict(values)
