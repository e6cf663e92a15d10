"""A gpytorch kernel on the nodes of a graph."""

from __future__ import annotations

from typing import Any

import torch

from grfpp.imports.optional import require
from grfpp.torch.gp.inputs import node_column
from grfpp.torch.gp.operator import KernelLinearOperator
from grfpp.torch.kernels.entries import chain_entries
from grfpp.torch.kernels.learnable import LearnableKernel
from grfpp.torch.kernels.modulation import DiffusionModulation, LearnableModulation

gpytorch = require("gpytorch")


class GRFKernel(gpytorch.kernels.Kernel):  # type: ignore[misc, name-defined]  # untyped base
    """A learnable graph kernel for Gaussian processes; inputs are numbers of nodes.

    ``K = X Xᵀ`` with the stitched walk features ``X``: positive semidefinite whatever the
    modulation, with a cost linear in the number of nodes. See `grfpp.torch.LearnableKernel` for its
    small bias. Wrap it in ``gpytorch.kernels.ScaleKernel`` to learn the size too.

    Parameters
    ----------
    W
        The weight matrix of an undirected graph, usually normalised.
    modulation
        What is learned, with the stitching degree and where training begins;
        ``DiffusionModulation(16, degree=4, laplacian=True)`` if not given, that is ``exp(−λ L)``.
    n_walks, n_exact, **options
        As for `grfpp.torch.LearnableKernel`, which is symmetric here: `walks`, `dtype`, `seed`, …
        40 pooled walks leave errors within 0.2 % of an exact process (`docs/torch.md`).
    active_dims
        Which column of the inputs holds the nodes, where others hold something else, for products
        and sums with other gpytorch kernels. Batches of kernels (``batch_shape``) there are none.

    Examples
    --------
    >>> import grfpp, networkx as nx, torch
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> kernel = GRFKernel(W, seed=0)
    >>> kernel(torch.tensor([0, 3, 7])).shape
    torch.Size([3, 3])
    """

    def __init__(
        self,
        W: Any,
        modulation: LearnableModulation | None = None,
        *,
        n_walks: int = 40,
        n_exact: int = 0,
        active_dims: tuple[int, ...] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(active_dims=active_dims)
        if modulation is None:
            modulation = DiffusionModulation(16, degree=4, laplacian=True)
        self.graph_kernel = LearnableKernel(
            W, modulation, n_walks=n_walks, n_exact=n_exact, symmetric=True, **options
        )

    @property
    def modulation(self) -> LearnableModulation:
        """What is learned."""
        return self.graph_kernel.modulation

    def forward(
        self,
        x1: torch.Tensor,
        x2: torch.Tensor,
        diag: bool = False,
        last_dim_is_batch: bool = False,
        **params: Any,
    ) -> Any:
        """The kernel between two lists of nodes, each of shape ``(n, 1)``."""
        rows, columns = (self.graph_kernel.nodes(node_column(x)) for x in (x1, x2))
        values = self.graph_kernel.values()
        chain = self.graph_kernel.chain
        if diag:
            return chain_entries(chain, values, rows, columns)
        chosen, numbers = chain.select(values, rows, columns)
        return KernelLinearOperator(*numbers, chain=chosen)
