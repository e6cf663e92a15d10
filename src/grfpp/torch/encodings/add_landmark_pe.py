"""`AddLandmarkPE`: closeness to nodes that the graph singles out, as encodings."""

from __future__ import annotations

from typing import Any

from grfpp.kernels import Kernel
from grfpp.torch.encodings.landmarks import KERNEL
from grfpp.torch.encodings.transform import AddGRFPE, functional_transform


@functional_transform("add_landmark_pe")
class AddLandmarkPE(AddGRFPE):
    """Add closeness to landmarks: to the most central node, then always to the farthest from all.

    The first landmark is where the row sum of the kernel is largest; each further one is the node
    that is least close to those before. Nodes that tie are one landmark together, so that nothing
    depends on how nodes are numbered. Closeness is 1 at the landmark, falls like the logarithm of
    the kernel between two nodes, per unit of the random walk's measure at both, and is 0 where that
    is below ``10⁻⁵`` of its value at the landmark. Where a graph has fewer nodes that can be told
    apart than `dim`, the last numbers are 0.

    Parameters
    ----------
    dim
        Landmarks; 8 if not given.
    kernel
        As such or as the command line writes it. Its logarithm should fall slowly.
    scale
        Of the weights ``W = scale · D^-1/2 A D^-1/2``.
    attr_name, **options
        As for `AddGRFPE`: `symmetrize`, `weight_attr`, `dtype`, `cache_mb`.

    Examples
    --------
    >>> import torch
    >>> from grfpp.torch import AddLandmarkPE
    >>> from torch_geometric.data import Data
    >>> star = Data(edge_index=torch.tensor([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]]), num_nodes=5)
    >>> pe = AddLandmarkPE(dim=3)(star).landmark_pe
    >>> pe.shape, pe[0, 0].item(), pe[4].tolist()             # the hub; a node without edges
    (torch.Size([5, 3]), 1.0, [0.0, 1.0, 0.0])
    """

    def __init__(
        self,
        dim: int | None = None,
        *,
        kernel: Kernel | str = KERNEL,
        scale: float = 1.0,
        attr_name: str | None = "landmark_pe",
        **options: Any,
    ) -> None:
        mine: dict[str, Any] = {"kernel": kernel, "scale": scale}
        super().__init__(dim, kind="landmark", attr_name=attr_name, **mine, **options)
