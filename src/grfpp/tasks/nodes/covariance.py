"""Which kernels are covariances, as Gaussian processes need them."""

from __future__ import annotations

import numpy as np

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import Kernel

#: Where kernels are looked at, and how far below zero rounding may bring them.
_PLACES, _ROUNDING = 2001, 1e-12


def is_covariance(kernel: Kernel, W: Graph) -> bool:
    """Whether a kernel is nowhere negative where the eigenvalues of symmetric weights can be.

    Examples
    --------
    >>> from grfpp import Cosine, Diffusion
    >>> W = Graph([[0, 1], [1, 0]])
    >>> is_covariance(Diffusion(5.0), W), is_covariance(Cosine(3.0), W)
    (True, False)
    """
    if W.is_directed:
        return False
    radius = W.spectral_radius()
    with np.errstate(all="ignore"):
        values = kernel.value(np.linspace(-radius, radius, _PLACES))
    return bool(np.nanmin(values) >= -_ROUNDING * np.nanmax(np.abs(values)))


def require_covariance(kernel: Kernel, W: Graph) -> None:
    """Refuse a kernel that no Gaussian process has."""
    if not is_covariance(kernel, W):
        radius = W.spectral_radius()
        raise InputError(
            f"{kernel!r} is no covariance, which how='kriging' needs: it is negative for some "
            f"numbers in [-{radius:.4g}, {radius:.4g}], where the eigenvalues of the weights "
            "are: use one that is nowhere negative, such as 'diffusion:5' or "
            "'regularized-laplacian:2', or another how"
        )
