"""Kernels by name: from the command line and from saved files."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

from grfpp.errors import InputError, shown
from grfpp.kernels.base import Kernel, kernel_class
from grfpp.kernels.named import KERNELS
from grfpp.kernels.taylor import TaylorKernel

#: `Kernel.from_dict` as a function.
kernel_from_dict = Kernel.from_dict


def kernel_of(kernel: str | Kernel) -> Kernel:
    """A kernel from itself, or from text as on the command line.

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
    """The formula of each kernel, by its form on the command line, for help texts.

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
    kernel: Any = kernel_class(name)
    parameters = [item.name for item in dataclasses.fields(kernel)]
    if len(texts) > len(parameters):
        raise InputError(f"{shown(spec)} has too many parameters", advice=f"use {_usage(kernel)}")
    values = {p: _number(text, p, spec, float) for p, text in zip(parameters, texts, strict=False)}
    return Kernel.from_dict({"kernel": name, **values})


def _number(text: str, parameter: str, spec: str, convert: Callable[[str], Any]) -> Any:
    """The text as a whole number if it is one, else as `convert` reads it."""
    for parse in (int, convert):
        with suppress(ValueError, ZeroDivisionError):
            return parse(text)
    raise InputError(f"{parameter} in {shown(spec)} must be a number, found {shown(text)}")
