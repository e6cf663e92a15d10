"""Attention masks from graph kernels (paper, "Image Classification" and App. vit).

The mask ``M`` is the estimated kernel, scaled. The paper adds ``λ M`` to the logits of attention,
``softmax(Q Kᵀ / √d + λ M) V`` with ``λ = 0.5``, and leaves open how it scales; see `graph_mask`.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
import torch

from grfpp.arguments import one_of, whole
from grfpp.datasets.generators import grid
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.exact_kernel import ExactKernel
from grfpp.graph import as_graph
from grfpp.kernels import Kernel
from grfpp.memory import require_bytes
from grfpp.operators import KernelChoice
from grfpp.torch.arguments import device_of, floating
from grfpp.torch.attention.factored import FactoredMask
from grfpp.torch.attention.padding import is_batch, padded
from grfpp.typing import FloatArray

Scaling = Literal["cosine", "rows"] | None


def graph_mask(
    graph: Any,
    *,
    nodes: Any = None,
    n_walks: int = 64,
    kernel: str | Kernel = "diffusion",
    scale: float = 1.0,
    normalization: str | None = "sym",
    scaling: Scaling = "cosine",
    estimate: Literal["walks", "exact"] = "walks",
    class_token: bool | int = False,
    seed: int = 0,
    dtype: torch.dtype | None = None,
    device: Any = None,
    sigma: float | None = None,
    **walks: Any,
) -> torch.Tensor:
    """Make the mask ``M`` of a graph whose nodes are tokens, to be added to logits as ``λ M``.

    Parameters
    ----------
    graph
        A `Graph`, or anything that `Graph` takes; node ``i`` is token ``i``. Or a list of graphs,
        for a batch of sequences: their masks, each as it would be alone, padded to the length of
        the longest. Columns of padding are minus infinity, so that nothing attends to it.
    nodes
        Which nodes are tokens, in this order, by their numbers or names; all of them by default.
    n_walks
        Walks from every node for every factor.
    kernel
        The kernel, or how the command line writes it: ``"diffusion"``, ``"diffusion:2"``, …
    scale, normalization
        The weights are ``scale · D^-1/2 A D^-1/2`` with ``"sym"``, ``scale · D^-1 A`` with
        ``"rw"``, ``scale · A`` with ``None``.
    scaling
        ``"cosine"`` divides by the roots of the diagonal, ``K[i, j] / √(K[i, i] K[j, j])``, so that
        every node is worth 1 to itself. ``"rows"`` makes rows add up to 1. ``None`` leaves the
        kernel as it is. (The paper says only that it is normalised.)
    estimate
        ``"walks"``, or ``"exact"`` for the kernel itself.
    class_token
        How many tokens come before the nodes and are none, such as a class token (``True`` for
        one). Their rows and columns are zero: they are neither near to any node nor far. (The paper
        does not say. In their rows any constant would do the same, since softmax drops it.)
    seed
        Of the walks. A model's mask is not saved with its weights: the same seed gives it again.
    dtype, device
        Of the tensor; torch's defaults.
    sigma
        The root of `scale`, as which that was once given.
    **walks
        `degree`, `termination`, `n_jobs`, …: see `grfpp.WalkOptions`.

    Returns
    -------
    torch.Tensor
        Of shape ``(n, n)``, ``n`` counting all tokens; ``(len(graph), n, n)`` for a list.

    Examples
    --------
    >>> import networkx as nx, torch
    >>> from grfpp.torch import graph_mask
    >>> mask = graph_mask(nx.karate_club_graph())
    >>> mask.shape, bool(torch.allclose(mask.diagonal(), torch.ones(34)))
    (torch.Size([34, 34]), True)
    >>> graph_mask([nx.path_graph(3), nx.karate_club_graph()]).shape
    torch.Size([2, 34, 34])
    """
    walks |= {"kernel": kernel, "scale": scale, "sigma": sigma, "normalization": normalization}
    if is_batch(graph):
        if nodes is not None:
            raise InputError("nodes is for the mask of one graph, not for a list of graphs")
        walks |= {"n_walks": n_walks, "scaling": scaling, "estimate": estimate, "seed": seed}
        walks |= {"class_token": class_token, "dtype": dtype, "device": device}
        return padded([graph_mask(each, **walks) for each in graph])
    n_prefix, kind, where = _prefix(class_token), floating(dtype), device_of(device)
    one_of(scaling, "scaling", ("cosine", "rows", None))
    source = as_graph(graph)
    chosen = np.arange(source.n_nodes) if nodes is None else source.names.numbers(nodes)
    if not len(chosen):
        raise InputError("nodes must hold one node at least, found none")
    n = len(chosen) + n_prefix
    require_bytes(24 * n * n, f"a mask of {n} x {n} numbers, with room to compute it,")
    K = _operator(source, n_walks, seed, estimate=estimate, **walks)
    rows, columns = (scales[chosen] for scales in _scales(K, scaling))
    mask = torch.zeros(n, n, dtype=kind, device=where)
    values = rows[:, None] * (K.toarray() if nodes is None else K[np.ix_(chosen, chosen)]) * columns
    mask[n_prefix:, n_prefix:] = torch.from_numpy(values).to(mask)
    return mask


def patch_grid_mask(height: int, width: int, degree: int = 2, **options: Any) -> torch.Tensor:
    """Make the mask of a picture that is cut into ``height × width`` patches, row by row.

    Patches side by side or one above the other are joined, as in the paper.

    Parameters
    ----------
    height, width
        Numbers of patches.
    degree
        Stitching degree of the estimate.
    options
        As for `graph_mask`; ``class_token=True`` where the model has one.

    Examples
    --------
    >>> from grfpp.torch import patch_grid_mask
    >>> patch_grid_mask(14, 14, class_token=True).shape
    torch.Size([197, 197])
    """
    patches = grid(whole(height, "height", 1), whole(width, "width", 1))
    return graph_mask(patches, degree=degree, **options)


def factored_mask(
    graph: Any,
    *,
    nodes: Any = None,
    n_walks: int = 16,
    scaling: Scaling = "cosine",
    class_token: bool | int = False,
    dtype: torch.dtype | None = None,
    device: Any = None,
    **options: Any,
) -> FactoredMask:
    """Make the mask of a graph as a product of sparse matrices, for `LinearMaskedAttention`.

    With the same parameters, `graph_mask` gives the same mask as one dense matrix. Memory grows
    with the number of nodes and of walks, not with the square of the former.

    Parameters
    ----------
    graph, nodes, n_walks, scaling, class_token, dtype, device, **options
        As for `graph_mask`, with fewer walks, and one graph only.

    Examples
    --------
    >>> import torch
    >>> from grfpp.datasets import grid
    >>> from grfpp.torch.attention.masks import factored_mask, patch_grid_mask
    >>> mask = factored_mask(grid(8, 8), n_walks=64)
    >>> bool(torch.allclose(mask.dense(), patch_grid_mask(8, 8), atol=1e-6))
    True
    """
    n_prefix, kind = _prefix(class_token), floating(dtype)
    one_of(scaling, "scaling", ("cosine", "rows", None))
    if is_batch(graph):
        raise InputError("a factored mask is of one graph; graph_mask takes a list of graphs")
    K = _operator(graph, n_walks, **options)
    if not isinstance(K, KernelEstimate):
        raise InputError("a factored mask is made of walks: an exact kernel has no factors")
    factors = _scaled_factors(K, scaling)
    if nodes is not None:
        chosen = K.names.numbers(nodes)
        factors = [factors[0][chosen], *factors[1:-1], factors[-1][:, chosen]]
    return FactoredMask(factors, n_prefix=n_prefix, dtype=kind, device=device)


def _operator(
    graph: Any, n_walks: int, seed: int = 0, **choice: Any
) -> KernelEstimate | ExactKernel:
    """The kernel that a mask is made of."""
    # Masks are not saved with the weights of a model: a seed that nobody knows is refused.
    seed = whole(seed, "seed", 0)
    return KernelChoice.of(n_walks=n_walks, seed=seed, **choice).operator(graph)


def _scaled_factors(K: KernelEstimate, scaling: Scaling) -> list[sp.csr_array]:
    """The matrices whose product is the scaled estimate: the outer ones take the scales."""
    rows, columns = _scales(K, scaling)
    first, *inner, last = K.matrices()
    return [sp.diags_array(rows) @ first, *inner, last @ sp.diags_array(columns)]


def _scales(K: KernelEstimate | ExactKernel, scaling: Scaling) -> tuple[FloatArray, FloatArray]:
    """What rows and columns are multiplied by."""
    ones = np.ones(K.n_nodes)
    if scaling is None:
        return ones, ones
    divisors = K.diagonal() if scaling == "cosine" else K @ ones
    if not (np.isfinite(divisors).all() and (divisors > 0).all()):
        what = "diagonal entries" if scaling == "cosine" else "sums of rows"
        raise InputError(
            f"scaling={scaling!r} divides by the {what} of the kernel, which must be positive; "
            f"found {divisors.min():.3g}; use more walks, another kernel, or scaling=None"
        )
    if scaling == "rows":
        return 1 / divisors, ones
    return 1 / np.sqrt(divisors), 1 / np.sqrt(divisors)


def _prefix(class_token: bool | int) -> int:
    return (
        int(class_token) if isinstance(class_token, bool) else whole(class_token, "class_token", 0)
    )
