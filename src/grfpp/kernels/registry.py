"""Kernels by name: from the command line and from saved files."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

from grfpp.errors import InputError, shown
from grfpp.kernels.base import Kernel
from grfpp.kernels.named import KERNELS
from grfpp.kernels.taylor import TaylorKernel


def kernel_of(kernel: str | Kernel) -> Kernel:
    """A kernel, given as such or as the command line writes it.

    Examples
    --------
    >>> kernel_of("diffusion:0.5"), kernel_of(KERNELS["diffusion"](2.0))
    (Diffusion(lam=0.5), Diffusion(lam=2.0))
    """
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str):
        problem = f"must be a Kernel or text such as 'diffusion:1', not {shown(kernel)}"
        raise InputError(problem, argument="kernel")
    return kernel_from_spec(kernel)


def kernel_usages() -> dict[str, str]:
    """How the command line writes each kernel, and its formula, for help texts.

    Examples
    --------
    >>> kernel_usages()["diffusion:LAM"]
    'exp(LAM W)'
    """
    usages = {
        _usage(kernel): kernel.formula + "; with --normalize rw" * (kernel.normalization == "rw")
        for kernel in KERNELS.values()
    }
    return {**usages, "taylor:A0:A1:...": "A0 I + A1 W + ..."}


def _usage(kernel: Any) -> str:
    return ":".join([kernel.name, *(item.name.upper() for item in dataclasses.fields(kernel))])


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
        return TaylorKernel([_number(text, "coefficients", spec, Fraction) for text in texts])
    kernel = _named(name)
    parameters = [item.name for item in dataclasses.fields(kernel)]
    if len(texts) > len(parameters):
        raise InputError(f"{shown(spec)} has too many parameters; it is {_usage(kernel)}")
    values = {p: _number(text, p, spec, float) for p, text in zip(parameters, texts, strict=False)}
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
    if name != "taylor":
        return _built(_named(name), name, parameters)
    parameters["coefficients"] = [
        _number(value, "coefficients", "taylor", Fraction) if isinstance(value, str) else value
        for value in parameters.pop("coefficients", [])
    ]
    return _built(TaylorKernel, name, parameters)


Kernel.from_dict = staticmethod(kernel_from_dict)


def _built(kernel: Callable[..., Kernel], name: str, parameters: dict[str, Any]) -> Kernel:
    try:
        return kernel(**parameters)
    except TypeError:
        names = ", ".join(sorted(parameters)) or "none"
        raise InputError(f"the kernel {name!r} does not take the parameters {names}") from None


def _named(name: Any) -> Any:
    if not isinstance(name, str) or name not in KERNELS:
        names = ", ".join([*KERNELS, "taylor"])
        raise InputError(f"there is no kernel {name!r}; the kernels are {names}")
    return KERNELS[name]


def _number(text: str, parameter: str, spec: str, convert: Callable[[str], Any]) -> Any:
    """A whole number where it is one, else what `convert` makes of it."""
    for parse in (int, convert):
        with suppress(ValueError, ZeroDivisionError):
            return parse(text)
    raise InputError(f"{parameter} in {shown(spec)} must be a number, found {shown(text)}")
