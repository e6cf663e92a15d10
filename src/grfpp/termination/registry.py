"""Laws by name: from the command line and from saved files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grfpp.errors import InputError, shown
from grfpp.termination.base import Termination
from grfpp.termination.bounded import CustomLength, FixedLength, UniformLength
from grfpp.termination.matched import Matched
from grfpp.termination.unbounded import (
    FirstStepThenGeometric,
    Geometric,
    NegativeBinomial,
    Poisson,
)

LAWS: dict[str, type[Termination]] = {
    law.name: law
    for law in (
        Geometric,
        Poisson,
        NegativeBinomial,
        FirstStepThenGeometric,
        FixedLength,
        UniformLength,
        CustomLength,
        Matched,
    )
}


def termination_from_dict(values: dict[str, Any]) -> Termination:
    """Rebuild a law from what `Termination.to_dict` gave."""
    parameters = dict(values)
    law = _law(str(parameters.pop("name", "")))
    try:
        return law(**parameters)
    except TypeError:
        raise InputError(f"{shown(values)} does not hold the parameters of the law") from None


def termination_from_spec(spec: str) -> Termination:
    """Read a law as the command line writes it: ``poisson:4``, ``geometric:0.1``, ``fixed:10``.

    Examples
    --------
    >>> termination_from_spec("negative-binomial:2:0.2")
    NegativeBinomial(n_halts=2.0, p_halt=0.2)
    """
    name, *fields = spec.split(":")
    law = _law(name)
    try:
        numbers = [float(field) for field in fields]
    except ValueError:
        raise InputError(
            f"the parameters of {shown(spec)} must be numbers, as in poisson:4"
        ) from None
    if law is CustomLength:
        return CustomLength(numbers)
    build: Callable[..., Termination] = law
    try:
        return build(*numbers)
    except TypeError:
        raise InputError(
            f"{shown(spec)} has the wrong number of parameters for the law {name!r}"
        ) from None


def _law(name: str) -> type[Termination]:
    if name not in LAWS:
        raise InputError(f"unknown termination law {name!r}; known: {', '.join(LAWS)}")
    return LAWS[name]
