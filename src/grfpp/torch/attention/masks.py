"""Attention masks from graph kernels (paper, "Image Classification" and App. vit).

The mask ``M`` is the estimated kernel, scaled. The paper adds ``λ M`` to the logits of attention,
``softmax(Q Kᵀ / √d + λ M) V`` with ``λ = 0.5``, and leaves open how it scales; see `graph_mask`.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
import torch

from grfpp.arguments import whole
from grfpp.datasets.generators import grid
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.exact_kernel import ExactKernel
from grfpp.graph import as_graph
from grfpp.kernels import Kernel
from grfpp.memory import require_bytes
from grfpp.tasks.kernels import kernel_operator
from grfpp.termination import Termination
from grfpp.torch.attention.factored import FactoredMask
from grfpp.torch.floating import floating_or_default
from grfpp.typing import FloatArray

Scaling = Literal["cosine", "rows"] | None


def graph_mask(
    graph: Any,
    *,
    degree: int = 2,
    n_walks: int = 64,
    kernel: str | Kernel = "diffusion",
    sigma: float = 1.0,
    normalization: str | None = "sym",
    termination: str | Termination = "geometric:0.1",
    scaling: Scaling = "cosine",
    estimate: Literal["walks", "exact"] = "walks",
    class_token: bool | int = False,
    seed: int = 0,
    n_jobs: int = -1,
    dtype: torch.dtype | None = None,
    device: Any = None,
) -> torch.Tensor:
    """Make the mask ``M`` of a graph whose nodes are tokens, to be added to logits as ``λ M``.

    Parameters
    ----------
    graph
        A `Graph`, or anything that `Graph` takes; node ``i`` is token ``i``.
    degree
        Stitching degree of the estimate; 1 is the method of regular graph random features.
    n_walks
        Walks from every node for every factor.
    kernel
        The kernel, or how the command line writes it: ``"diffusion"``, ``"diffusion:2"``, …
    sigma, normalization
        The weights are ``σ² D^-1/2 A D^-1/2`` with ``"sym"``, ``σ² D^-1 A`` with ``"rw"``, ``σ² A``
        with ``None``.
    termination
        The law of the walk lengths: a law, or how the command line writes it.
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
    n_jobs
        Threads; the result is the same for any number of them.
    dtype, device
        Of the tensor; torch's defaults.

    Returns
    -------
    torch.Tensor
        Of shape ``(n, n)``, ``n`` counting all tokens.

    Examples
    --------
    >>> import networkx as nx, torch
    >>> from grfpp.torch import graph_mask
    >>> mask = graph_mask(nx.karate_club_graph())
    >>> mask.shape, bool(torch.allclose(mask.diagonal(), torch.ones(34)))
    (torch.Size([34, 34]), True)
    """
    n_prefix, scaling, kind = _prefix(class_token), _known(scaling), floating_or_default(dtype)
    nodes = as_graph(graph)
    n = nodes.n_nodes + n_prefix
    require_bytes(24 * n * n, f"a mask of {n} x {n} numbers, with room to compute it,")
    K = kernel_operator(
        nodes,
        kernel=kernel,
        estimate=estimate,
        degree=degree,
        n_walks=n_walks,
        termination=termination,
        sigma=sigma,
        normalization=normalization,
        random_state=whole(seed, "seed", 0),
        n_jobs=n_jobs,
    )
    rows, columns = _scales(K, scaling)
    mask = torch.zeros(n, n, dtype=kind, device=device)
    values = rows[:, None] * K.toarray() * columns
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
    degree: int = 2,
    n_walks: int = 16,
    kernel: str | Kernel = "diffusion",
    sigma: float = 1.0,
    normalization: str | None = "sym",
    termination: str | Termination = "geometric:0.1",
    scaling: Scaling = "cosine",
    class_token: bool | int = False,
    seed: int = 0,
    n_jobs: int = -1,
    dtype: torch.dtype | None = None,
    device: Any = None,
) -> FactoredMask:
    """Make the mask of a graph as a product of sparse matrices, for `LinearMaskedAttention`.

    With the same parameters, `graph_mask` gives the same mask as one dense matrix. Memory grows
    with the number of nodes and of walks, not with the square of the former.

    Parameters
    ----------
    graph, degree, n_walks, kernel, sigma, normalization, termination, scaling, class_token, seed
        As for `graph_mask`, with fewer walks.
    n_jobs, dtype, device
        Likewise.

    Examples
    --------
    >>> import torch
    >>> from grfpp.datasets import grid
    >>> from grfpp.torch.attention.masks import factored_mask, patch_grid_mask
    >>> mask = factored_mask(grid(8, 8), n_walks=64)
    >>> bool(torch.allclose(mask.dense(), patch_grid_mask(8, 8), atol=1e-6))
    True
    """
    n_prefix, scaling, kind = _prefix(class_token), _known(scaling), floating_or_default(dtype)
    K = kernel_operator(
        graph,
        kernel=kernel,
        degree=degree,
        n_walks=n_walks,
        termination=termination,
        sigma=sigma,
        normalization=normalization,
        random_state=whole(seed, "seed", 0),
        n_jobs=n_jobs,
    )
    if not isinstance(K, KernelEstimate):
        raise InputError("a factored mask is made of walks: kernel='exact' has no factors")
    return FactoredMask(_scaled_chain(K, scaling), n_prefix=n_prefix, dtype=kind, device=device)


def _scaled_chain(K: KernelEstimate, scaling: Scaling) -> list[sp.csr_array]:
    """The matrices whose product is the scaled estimate: the outer ones take the scales."""
    rows, columns = _scales(K, scaling)
    steps = [step for left, right in K.factors for step in (left, right.T.tocsr())]
    first, last = steps[0], steps[-1]
    values = first.data * np.repeat(K.sign * rows, np.diff(first.indptr))
    steps[0] = sp.csr_array((values, first.indices, first.indptr), shape=first.shape)
    values = last.data * columns[last.indices]
    steps[-1] = sp.csr_array((values, last.indices, last.indptr), shape=last.shape)
    return steps


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


def _known(scaling: Any) -> Scaling:
    if scaling not in ("cosine", "rows", None):
        raise InputError(f"scaling must be 'cosine', 'rows' or None, not {scaling!r}")
    known: Scaling = scaling
    return known


def _prefix(class_token: bool | int) -> int:
    return (
        int(class_token) if isinstance(class_token, bool) else whole(class_token, "class_token", 0)
    )
