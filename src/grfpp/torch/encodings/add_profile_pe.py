"""`AddProfilePE`: return masses and contrasts of features side by side, as encodings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grfpp.kernels import Kernel
from grfpp.torch.encodings.smooth_features import WIDTHS, Normalization
from grfpp.torch.encodings.transform import AddGRFPE, functional_transform


@functional_transform("add_profile_pe")
class AddProfilePE(AddGRFPE):
    """Add what the graph is like around a node, and how the node's features ``x`` stand out there.

    The numbers of `AddReturnPE`, which know the edges and no features, and after them those of
    `AddContrastPE`, which know what features are around.

    Parameters
    ----------
    dim
        Lengths of the walks that return, ``1 … dim``; 8 if not given.
    kernel, normalization, include_self
        As for `AddContrastPE`.
    scale
        Of the weights, for both.
    attr_name, **options
        As for `AddGRFPE`: `symmetrize`, `weight_attr`, `dtype`, `cache_mb`.

    Examples
    --------
    >>> import torch
    >>> from grfpp.torch import AddProfilePE
    >>> from torch_geometric.data import Data
    >>> x = torch.tensor([[1.0], [0.0], [0.0]])
    >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), x=x)
    >>> AddProfilePE(dim=2, kernel=["heat:1", "heat:10"])(path).profile_pe
    tensor([[ 0.0000,  0.5000,  0.8420, -0.0920],
            [ 0.0000,  1.0000, -0.3420,  0.0920],
            [ 0.0000,  0.5000, -0.1580, -0.0920]])
    """

    def __init__(
        self,
        dim: int | None = None,
        *,
        kernel: Kernel | str | Sequence[Kernel | str] = WIDTHS,
        normalization: Normalization = "rw",
        include_self: bool = False,
        scale: float = 1.0,
        attr_name: str | None = "profile_pe",
        **options: Any,
    ) -> None:
        mine: dict[str, Any] = {"normalization": normalization, "include_self": include_self}
        super().__init__(
            dim, kind="profile", attr_name=attr_name, kernel=kernel, scale=scale, **mine, **options
        )
