"""The kernels that ``kernel="auto"`` chooses from."""

from __future__ import annotations

from typing import Any

from grfpp.errors import InputError, shown
from grfpp.kernels import Diffusion, Kernel, RegularizedLaplacian, kernel_of

#: Times of diffusion. Labels that are few and far between choose 20 to 40.
TIMES = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0)
#: Factors ``c`` of ``(I − c W)^-2``.
FACTORS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)

#: What is taken where no labels can be held out: from single labels narrower ones have fewer nodes
#: right, and twice the time has hardly more, with probabilities nearer to even.
DEFAULT = Diffusion(10.0)

GRID: tuple[Kernel, ...] = (
    *(Diffusion(time) for time in TIMES),
    *(RegularizedLaplacian(2, round(c / (1 - c), 9)) for c in FACTORS),
)


def candidate_kernels(kernel: Any) -> tuple[Kernel, ...]:
    """The kernels to choose from: all of the grid, those of a list, or a single one.

    Examples
    --------
    >>> candidate_kernels("diffusion:20")
    (Diffusion(lam=20.0),)
    >>> len(candidate_kernels("auto"))
    13
    """
    if isinstance(kernel, str) and kernel == "auto":
        return GRID
    if isinstance(kernel, list | tuple):
        if not kernel:
            raise InputError("kernel must be a kernel, a list of some, or 'auto', found none")
        return tuple(kernel_of(each) for each in kernel)
    if not isinstance(kernel, str | Kernel):
        raise InputError(
            f"kernel must be a kernel such as 'diffusion:20', a list of some, or 'auto', found "
            f"{shown(kernel)}"
        )
    return (kernel_of(kernel),)
