"""`AddContrastPE`: how features of a node differ from those around, as its encoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grfpp.kernels import Kernel
from grfpp.torch.encodings.smooth_features import WIDTHS, Normalization
from grfpp.torch.encodings.transform import AddGRFPE, functional_transform


@functional_transform("add_contrast_pe")
class AddContrastPE(AddGRFPE):
    """Add what smoothing takes away from the nodes' own features ``x``, from one width to the next.

    First the features less their means nearby, then those less the means further around, and so
    on: the bands of a diffusion wavelet. Unlike the means themselves (`AddSmoothPE`) they have
    little in common with each other, and nothing that is the same all over a graph, by which a
    model could tell the graphs it learns from one by one. There are as many numbers a node as
    kernels times features.

    Parameters
    ----------
    kernel
        One or several, narrow ones first, as such or as the command line writes them. The heat
        kernel of time ``t`` looks about ``√t`` edges far.
    normalization, include_self, scale
        Of the smoothing, as for `AddSmoothPE`. With ``"rw"``, constant features give zeros.
    attr_name, **options
        As for `AddGRFPE`: `symmetrize`, `weight_attr`, `dtype`, `cache_mb`.

    Examples
    --------
    >>> import torch
    >>> from grfpp.torch import AddContrastPE
    >>> from torch_geometric.data import Data
    >>> x = torch.tensor([[1.0], [0.0], [0.0]])
    >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), x=x)
    >>> AddContrastPE(kernel=["heat:1", "heat:10"])(path).contrast_pe
    tensor([[ 0.8420, -0.0920],
            [-0.3420,  0.0920],
            [-0.1580, -0.0920]])
    """

    def __init__(
        self,
        *,
        kernel: Kernel | str | Sequence[Kernel | str] = WIDTHS,
        normalization: Normalization = "rw",
        include_self: bool = False,
        scale: float = 1.0,
        attr_name: str | None = "contrast_pe",
        **options: Any,
    ) -> None:
        mine: dict[str, Any] = {"normalization": normalization, "include_self": include_self}
        super().__init__(
            kind="contrast", attr_name=attr_name, kernel=kernel, scale=scale, **mine, **options
        )
