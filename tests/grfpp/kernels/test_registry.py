"""Kernels by name: from specs and from dictionaries."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial

import pytest
from kernel_cases import KERNELS as CASES
from refusal_case import refused

from grfpp.errors import InputError
from grfpp.kernels import named
from grfpp.kernels.base import Kernel
from grfpp.kernels.registry import kernel_from_dict, kernel_from_spec, kernel_usages
from grfpp.kernels.taylor import TaylorKernel


@pytest.mark.parametrize("kernel", [k for k in CASES if "function" not in str(k)], ids=repr)
def test_json_round_trip(kernel):
    if isinstance(kernel, TaylorKernel) and callable(kernel._alpha):
        with pytest.raises(InputError, match="function for its coefficients and cannot be saved"):
            kernel.to_dict()
        return
    text = json.dumps(kernel.to_dict(), allow_nan=False)
    assert kernel_from_dict(json.loads(text)) == kernel
    assert Kernel.from_dict(json.loads(text)) == kernel
    mine = TaylorKernel([1, Fraction(1, 3)], name="mine")
    assert kernel_from_dict(mine.to_dict()).name == "mine"


@pytest.mark.parametrize(
    ("spec", "kernel"),
    [
        ("diffusion", named.Diffusion()),
        ("diffusion:0.5", named.Diffusion(0.5)),
        (" diffusion : -2 ", named.Diffusion(-2)),
        ("regularized-laplacian:2:0.5", named.RegularizedLaplacian(2, 0.5)),
        ("p-step:3", named.PStep(3)),
        ("p-step:3:1e1", named.PStep(3, 10.0)),
        ("cosine", named.Cosine()),
        ("inverse-power:4:2", named.InversePower(4, of=2)),
        ("squared-diffusion:0.25", named.SquaredDiffusion(0.25)),
        ("personalized-pagerank:0.2", named.PersonalizedPageRank(0.2)),
        ("heat:5", named.HeatKernel(5.0)),
        ("taylor:1:0.5:1/3", TaylorKernel([1, Fraction(1, 2), Fraction(1, 3)])),
    ],
)
def test_specs(spec, kernel):
    assert kernel_from_spec(spec) == kernel


test_bad_parameters_of_specs = refused(
    lam=partial(kernel_from_spec, "diffusion:nan"),
    p=partial(kernel_from_spec, "p-step:2.5"),
    of=partial(kernel_from_spec, "inverse-power:1:3"),
    coefficients=partial(kernel_from_spec, "taylor"),
)


def test_bad_specs():
    for spec in ("difusion", "", "diffusion:x", "diffusion:", "diffusion:1:2", "taylor:1:y"):
        with pytest.raises(InputError, match=repr(spec)) as error:
            kernel_from_spec(spec)
        assert error.value.argument is None


def test_usages_are_those_of_all_kernels():
    usages = kernel_usages()
    assert [usage.split(":")[0] for usage in usages] == [*named.KERNELS, "taylor"]
    assert set(named.__all__) == {kernel.__name__ for kernel in named.KERNELS.values()}
    for usage, formula in usages.items():
        assert all(part in formula for part in usage.split(":")[1:] if part != "...")


def test_bad_dicts():
    of_taylor = ({}, {"coefficients": ["1/0"]})
    for values in (
        *({}, {"kernel": "x"}, {"kernel": ["x"]}, {"kernel": "diffusion", "mu": 1}),
        *({"kernel": "taylor", **each} for each in of_taylor),
    ):
        with pytest.raises(InputError):
            kernel_from_dict(values)
