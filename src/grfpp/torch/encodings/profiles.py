"""Encodings by what returns to a node and by how its features differ from those around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from grfpp.kernels import Kernel
from grfpp.torch.encodings.contrasts import Contrasts
from grfpp.torch.encodings.return_masses import ReturnMasses
from grfpp.torch.encodings.series import NormalizedBatch
from grfpp.torch.encodings.smooth_features import WIDTHS, Normalization, SmoothFeatures
from grfpp.typing import FloatArray


@dataclass(frozen=True)
class Profiles(Contrasts):
    """Return masses, then contrasts; see `grfpp.torch.AddProfilePE`."""

    returns: ReturnMasses

    @classmethod
    def of(
        cls,
        dim: int = 8,
        *,
        kernel: Kernel | str | Sequence[Kernel | str] = WIDTHS,
        normalization: Normalization = "rw",
        include_self: bool = False,
        scale: float = 1.0,
    ) -> Self:
        """Check what a user asks for, before any graph is seen."""
        smooth = SmoothFeatures.of(
            kernel=kernel, normalization=normalization, include_self=include_self, scale=scale
        )
        mine = {each.name: getattr(smooth, each.name) for each in fields(smooth)}
        return cls(**mine, returns=ReturnMasses.of(dim, scale=scale))

    def width(self, n_features: int) -> int:
        """One number for each length, and for each kernel and feature."""
        return self.returns.width(n_features) + super().width(n_features)

    def rows(self, graphs: NormalizedBatch) -> FloatArray:
        """Both, side by side."""
        return np.concatenate([self.returns.rows(graphs), super().rows(graphs)], axis=1)
