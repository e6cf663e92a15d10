"""`AddReturnPE`: what returns to a node, as its encoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grfpp.kernels import Kernel
from grfpp.torch.encodings.transform import AddGRFPE, functional_transform


@functional_transform("add_return_pe")
class AddReturnPE(AddGRFPE):
    """Add what returns to a node: the diagonals of powers of the weights, or of kernels.

    Number ``k`` is entry ``(i, i)`` of ``W^k``, ``W = scale · D^-1/2 A D^-1/2``: the probability
    that a random walk of ``k`` steps from the node ends there, as of PyG's ``AddRandomWalkPE``, for
    all graphs of a data set in one go. With kernels it is ``diag(g(W))``, such as the heat that is
    left at the node after some time. Exact for all but very large graphs, which would take more
    than ``10¹⁰`` multiplications: there pools of walks estimate it without bias.

    Parameters
    ----------
    dim
        Lengths ``1 … dim``; 8 if not given.
    lengths
        Others instead, up to 512.
    kernel
        Or kernels, one number each, as such or as the command line writes them.
    scale
        Of the weights.
    n_walks, seed
        Of walks on very large graphs.
    attr_name, **options
        As for `AddGRFPE`: `symmetrize`, `weight_attr`, `dtype`, `cache_mb`.

    Examples
    --------
    >>> import torch
    >>> from grfpp.torch import AddReturnPE
    >>> from torch_geometric.data import Data
    >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
    >>> AddReturnPE(dim=4)(path).return_pe
    tensor([[0.0000, 0.5000, 0.0000, 0.5000],
            [0.0000, 1.0000, 0.0000, 1.0000],
            [0.0000, 0.5000, 0.0000, 0.5000]])
    """

    def __init__(
        self,
        dim: int | None = None,
        *,
        lengths: Sequence[int] | None = None,
        kernel: Kernel | str | Sequence[Kernel | str] | None = None,
        scale: float = 1.0,
        n_walks: int = 64,
        seed: int | None = 0,
        attr_name: str | None = "return_pe",
        **options: Any,
    ) -> None:
        mine: dict[str, Any] = {"lengths": lengths, "kernel": kernel, "scale": scale, "seed": seed}
        super().__init__(
            dim, n_walks=n_walks, kind="return", attr_name=attr_name, **mine, **options
        )
