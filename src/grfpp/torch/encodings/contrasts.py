"""Encodings by how features of the nodes differ from those around, near and far."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from grfpp.torch.encodings.series import NormalizedBatch
from grfpp.torch.encodings.smooth_features import SmoothFeatures
from grfpp.typing import FloatArray


@dataclass(frozen=True)
class Contrasts(SmoothFeatures):
    """Features less smooth ones, and those less smoother ones; see `grfpp.torch.AddContrastPE`."""

    def rows(self, graphs: NormalizedBatch) -> FloatArray:
        """The differences, all features for the first kernel first."""
        assert graphs.features is not None
        smooth = np.split(super().rows(graphs), len(self.kernel), axis=1)
        steps = pairwise([graphs.features, *smooth])
        return np.concatenate([near - far for near, far in steps], axis=1)
