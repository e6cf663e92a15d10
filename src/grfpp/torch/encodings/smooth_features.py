"""Encodings that are the nodes' own features, smoothed over the graph by kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np

from grfpp.arguments import one_of, truth
from grfpp.errors import InputError
from grfpp.kernels import Kernel
from grfpp.torch.encodings.exact_recipe import ExactRecipe
from grfpp.torch.encodings.series import NormalizedBatch, kernels_of, scale_of
from grfpp.typing import FloatArray

Normalization = Literal["rw", "sym"]

#: Near, middle and far.
WIDTHS = ("heat:1", "heat:4", "heat:16")
#: A kernel must have this share of its value beside a node itself, or rounding is all there is.
_LEAST = 1e-6


@dataclass(frozen=True)
class SmoothFeatures(ExactRecipe):
    """``g(W) X`` for one kernel after the other; see `grfpp.torch.AddSmoothPE`."""

    kernel: tuple[Kernel, ...]
    normalization: Normalization
    include_self: bool
    scale: float

    needs_features = True

    @classmethod
    def of(
        cls,
        *,
        kernel: Kernel | str | Sequence[Kernel | str] = WIDTHS,
        normalization: Normalization = "rw",
        include_self: bool = False,
        scale: float = 1.0,
    ) -> Self:
        """Check what a user asks for, before any graph is seen."""
        factor = scale_of(scale)
        kind = one_of(normalization, "normalization", get_args(Normalization))
        kernels, with_self = kernels_of(kernel, factor), truth(include_self, "include_self")
        for each in kernels:
            values = each.value([factor, 0.0])
            if not with_self and np.ptp(values) < _LEAST * np.abs(values).max():
                raise InputError(
                    f"{each!r} has next to nothing but a node's own features; take a wider kernel, "
                    "or include_self=True",
                    argument="kernel",
                )
        return cls(kernels, kind, with_self, factor)

    def width(self, n_features: int) -> int:
        """One number for each kernel and feature."""
        return len(self.kernel) * n_features

    def rows(self, graphs: NormalizedBatch) -> FloatArray:
        """The products, all features for the first kernel first."""
        assert graphs.features is not None
        X, roots = graphs.features, graphs.roots[:, None]
        is_mean = self.normalization == "rw"
        vectors = X * roots if is_mean else X
        found = graphs.products(self.kernel, vectors)
        at_scale, at_zero = np.array([each.value([self.scale, 0.0]) for each in self.kernel]).T
        if not self.include_self:
            found -= at_zero[:, None, None] * vectors
            at_scale = at_scale - at_zero
        # What a row of g(D^-1 A) adds up to: constant features stay as they are.
        found /= np.where(at_scale == 0, 1.0, at_scale)[:, None, None]
        if is_mean:
            found /= roots
        # Nothing is there to smooth over.
        found[:, graphs.is_isolated] = X[graphs.is_isolated]
        return np.concatenate(list(found), axis=1)
