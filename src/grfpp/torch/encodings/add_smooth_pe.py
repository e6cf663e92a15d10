"""`AddSmoothPE`: features of the nodes, smoothed over the graph by kernels, as encodings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grfpp.kernels import Kernel
from grfpp.torch.encodings.smooth_features import WIDTHS, Normalization
from grfpp.torch.encodings.transform import AddGRFPE, functional_transform


@functional_transform("add_smooth_pe")
class AddSmoothPE(AddGRFPE):
    """Add the nodes' own features ``x``, smoothed over the graph by one kernel after the other.

    Each is the mean of the features where walks from the node lead, near ones counted more: what a
    model with few layers does not see. There are as many numbers a node as kernels times features.

    Parameters
    ----------
    kernel
        One or several, as such or as the command line writes them. The heat kernel of time ``t``
        looks about ``√t`` edges far.
    normalization
        ``"rw"`` for means: constant features stay as they are. ``"sym"`` for ``g(W) x`` with
        ``W = scale · D^-1/2 A D^-1/2``, divided by ``g(scale)``, which tells degrees too.
    include_self
        Whether walks of no step count: a node's own features, which would outweigh those around
        and stand in ``x`` already.
    scale
        Of the weights.
    attr_name, **options
        As for `AddGRFPE`: `symmetrize`, `weight_attr`, `dtype`, `cache_mb`.

    Examples
    --------
    >>> import torch
    >>> from grfpp.torch import AddSmoothPE
    >>> from torch_geometric.data import Data
    >>> x = torch.tensor([[1.0], [0.0], [0.0]])
    >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), x=x)
    >>> AddSmoothPE(kernel=["heat:1", "heat:10"])(path).smooth_pe
    tensor([[0.1580, 0.2500],
            [0.3420, 0.2500],
            [0.1580, 0.2500]])
    """

    def __init__(
        self,
        *,
        kernel: Kernel | str | Sequence[Kernel | str] = WIDTHS,
        normalization: Normalization = "rw",
        include_self: bool = False,
        scale: float = 1.0,
        attr_name: str | None = "smooth_pe",
        **options: Any,
    ) -> None:
        mine: dict[str, Any] = {"normalization": normalization, "include_self": include_self}
        super().__init__(
            kind="smooth", attr_name=attr_name, kernel=kernel, scale=scale, **mine, **options
        )
