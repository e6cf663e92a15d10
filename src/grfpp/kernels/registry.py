"""Kernels by name: from the command line and from saved files."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

from grfpp.errors import InputError, shown
from grfpp.kernels.base import Kernel
from grfpp.kernels.exponentials import Cosine, Diffusion, SquaredDiffusion
from grfpp.kernels.powers import InversePower, PStep, RegularizedLaplacian
from grfpp.kernels.random_walks import HeatKernel, PersonalizedPageRank
from grfpp.kernels.taylor import TaylorKernel

_Named = type[
    Diffusion
    | SquaredDiffusion
    | RegularizedLaplacian
    | InversePower
    | PStep
    | Cosine
    | PersonalizedPageRank
    | HeatKernel
]

KERNELS: dict[str, _Named] = {
    kernel.name: kernel
    for kernel in (
        Diffusion,
        RegularizedLaplacian,
        PStep,
        Cosine,
        InversePower,
        SquaredDiffusion,
        PersonalizedPageRank,
        HeatKernel,
    )
}
"""The named kernels, by what they are called on the command line."""


def kernel_of(kernel: str | Kernel) -> Kernel:
    """A kernel, given as such or as the command line writes it.

    Examples
    --------
    >>> kernel_of("diffusion:0.5"), kernel_of(Diffusion(2.0))
    (Diffusion(lam=0.5), Diffusion(lam=2.0))
    """
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str):
        raise InputError(
            f"kernel must be a Kernel or text such as 'diffusion:1', not {shown(kernel)}"
        )
    return kernel_from_spec(kernel)


def kernel_from_spec(spec: str) -> Kernel:
    """Make a kernel from its name and, after colons, its parameters in their order.

    Examples
    --------
    >>> kernel_from_spec("diffusion:0.5")
    Diffusion(lam=0.5)
    >>> kernel_from_spec("inverse-power:4:2")
    InversePower(power=4, of=2)
    >>> kernel_from_spec("taylor:1:1:1/2")
    TaylorKernel([1, 1, 1/2])
    """
    name, *texts = (part.strip() for part in str(spec).split(":"))
    if name == "taylor":
        return TaylorKernel([_fraction(text, spec) for text in texts])
    kernel = _named(name)
    parameters = [field.name for field in dataclasses.fields(kernel)]
    if len(texts) > len(parameters):
        usage = ":".join([name, *(parameter.upper() for parameter in parameters)])
        raise InputError(f"{shown(spec)} has too many parameters; it is {usage}")
    values = {p: _number(text, p, spec) for p, text in zip(parameters, texts, strict=False)}
    return _built(kernel, name, values)


def kernel_from_dict(values: dict[str, Any]) -> Kernel:
    """Rebuild the kernel that `Kernel.to_dict` described.

    Examples
    --------
    >>> kernel_from_dict({"kernel": "p-step", "p": 4, "a": 1.5})
    PStep(p=4, a=1.5)
    """
    parameters = dict(values)
    name = parameters.pop("kernel", None)
    if name == "taylor":
        listed = parameters.pop("coefficients", [])
        parameters["coefficients"] = [
            _fraction(value, "taylor") if isinstance(value, str) else value for value in listed
        ]
        called = parameters.get("name")
        parameters["name"] = None if called == "taylor" else called
        return _built(TaylorKernel, name, parameters)
    return _built(_named(name), name, parameters)


Kernel.from_dict = staticmethod(kernel_from_dict)


def _built(kernel: Any, name: str, parameters: dict[str, Any]) -> Kernel:
    try:
        made: Kernel = kernel(**parameters)
    except TypeError:
        found = ", ".join(sorted(parameters)) or "none"
        raise InputError(f"the kernel {name!r} does not take the parameters {found}") from None
    return made


def _named(name: Any) -> _Named:
    try:
        return KERNELS[name]
    except (KeyError, TypeError):
        names = ", ".join([*KERNELS, "taylor"])
        raise InputError(f"there is no kernel {name!r}; the kernels are {names}") from None


def _number(text: str, parameter: str, spec: str) -> int | float:
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            pass
    raise InputError(f"{parameter} in {shown(spec)} must be a number, found {shown(text)}")


def _fraction(text: str, spec: str) -> Fraction | int | float:
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError(
            f"the coefficients in {shown(spec)} must be numbers, found {shown(text)}"
        ) from None
    return int(value) if value.denominator == 1 else value
