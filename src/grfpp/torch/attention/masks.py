"""Attention masks from graph kernels.

The mask ``M`` is the kernel, scaled; attention adds ``λ M`` to its logits. `graph_mask` makes a
dense tensor, `factored_mask` keeps the sparse factors of the estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from grfpp._checks import one_of, whole
from grfpp._memory import require_bytes
from grfpp.datasets.generators import grid
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Kernel
from grfpp.linalg.tensors import from_scipy
from grfpp.operators import KernelOperator
from grfpp.operators.kernel_choice import KernelChoice
from grfpp.torch.arguments import device_of, floating
from grfpp.torch.kernels.chain import FactorChain, Link, SparsePattern
from grfpp.typing import FloatArray, IntArray

Scaling = Literal["cosine", "rows", None]


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
    **walks: Any,
) -> Tensor:
    """Make the mask ``M`` of a graph whose nodes are tokens, to be added to logits as ``λ M``.

    Parameters
    ----------
    graph
        A `Graph`, or anything that `Graph` takes; node ``i`` is token ``i``. Or a list of graphs
        for a batch of sequences: their masks, padded to the length of the longest. Columns of
        padding are minus infinity, so that nothing attends to them.
    nodes
        The nodes that are tokens, in this order, by index or name; by default all.
    n_walks
        Walks from every node for every factor.
    kernel
        The kernel, or its name on the command line: ``"diffusion"``, ``"diffusion:2"``, …
    scale, normalization
        The weights are ``scale · D^-1/2 A D^-1/2`` with ``"sym"``, ``scale · D^-1 A`` with
        ``"rw"``, ``scale · A`` with ``None``.
    scaling
        ``"cosine"`` divides by the roots of the diagonal, ``K[i, j] / √(K[i, i] K[j, j])``.
        ``"rows"`` makes rows sum to 1. ``None`` leaves the kernel as it is. (The paper says only
        that the mask is normalised.)
    estimate
        ``"walks"``, or ``"exact"`` for the kernel itself.
    class_token
        Number of tokens before the nodes, such as a class token (``True`` for one). Their rows and
        columns are zero, which the paper leaves open. (In their rows any constant has the same
        effect, since softmax is invariant to it.)
    seed
        Of the walks. A mask is not saved with a model's weights: the same seed gives it again.
    dtype, device
        Of the tensor; torch's defaults.
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

    References
    ----------
    Choromanski et al., "Computationally-efficient graph modeling with refined graph random
    features", 2026, paragraph "Image Classification". Choromanski et al., "From block-Toeplitz
    matrices to differential equations on graphs: towards a general theory for scalable masked
    Transformers", 2022.
    """
    walks |= {"kernel": kernel, "scale": scale, "normalization": normalization, "seed": seed}
    walks |= {"n_walks": n_walks, "estimate": estimate}
    if is_batch(graph):
        if nodes is not None:
            raise InputError("is for the mask of one graph, found several", argument="nodes")
        options = {"scaling": scaling, "class_token": class_token, "dtype": dtype, "device": device}
        return _padded([graph_mask(single, **walks, **options) for single in graph])
    dtype, device = floating(dtype), device_of(device)
    source, chosen, n_prefix = _tokens(graph, nodes, scaling, class_token)
    n = len(chosen) + n_prefix
    require_bytes(24 * n * n, f"a mask of {n} x {n} numbers, with room to compute it,")
    K, rows, columns = _scaled_kernel(source, scaling, **walks)
    values = K.toarray() if nodes is None else K[np.ix_(chosen, chosen)]
    mask = torch.zeros(n, n, dtype=dtype, device=device)
    scaled = rows[chosen, None] * values * columns[chosen]
    mask[n_prefix:, n_prefix:] = torch.from_numpy(scaled).to(mask)
    return mask


def patch_grid_mask(height: int, width: int, degree: int = 2, **options: Any) -> Tensor:
    """Make the mask of an image that is cut into ``height × width`` patches, row by row.

    Horizontal and vertical neighbours are joined, as in the paper.

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

    References
    ----------
    Choromanski et al., "Computationally-efficient graph modeling with refined graph random
    features", 2026, paragraph "Image Classification" and appendix "Vision Transformer Attention
    Masking".
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
    linearly with the number of nodes and of walks.

    Parameters
    ----------
    graph, nodes, n_walks, scaling, class_token, dtype, device, **options
        As for `graph_mask`, with fewer walks, and for one graph only.

    Examples
    --------
    >>> import torch
    >>> from grfpp.datasets import grid
    >>> from grfpp.torch import factored_mask, patch_grid_mask
    >>> mask = factored_mask(grid(8, 8), n_walks=64)
    >>> bool(torch.allclose(mask.dense(), patch_grid_mask(8, 8), atol=1e-6))
    True

    References
    ----------
    Choromanski et al., "Computationally-efficient graph modeling with refined graph random
    features", 2026, eq. (3). Reid et al., "Linear Transformer topological masking with graph random
    features", 2025.
    """
    if is_batch(graph):
        advice = "use graph_mask, which takes lists"
        raise InputError("must be one graph, found a list", argument="graph", advice=advice)
    source, chosen, n_prefix = _tokens(graph, nodes, scaling, class_token)
    K, rows, columns = _scaled_kernel(source, scaling, n_walks=n_walks, **options)
    if not isinstance(K, KernelEstimate):
        raise InputError("must be 'walks': an exact kernel has no factors", argument="estimate")
    first, *inner, last = K.matrices()
    first = (sp.diags_array(rows) @ first).tocsr()[chosen]
    last = (last @ sp.diags_array(columns)).tocsr()[:, chosen]
    return FactoredMask([first, *inner, last], n_prefix=n_prefix, dtype=dtype, device=device)


class FactoredMask(nn.Module):  # type: ignore[misc]  # untyped base
    """``M = S_1 S_2 … S_2l``: the scaled kernel estimate of a graph, as sparse matrices.

    Usually made by `grfpp.torch.factored_mask`. Calling it multiplies: ``mask(x)`` is ``M x`` for
    ``x`` of shape ``(…, n_tokens, d)``, with gradients to ``x``. The factors are buffers that move
    with the module and are not saved with its weights: the same graph and seed give them again.

    Parameters
    ----------
    steps
        The sparse matrices ``S_1 … S_2l``.
    n_prefix
        Tokens before the nodes, such as a class token: their rows and columns of ``M`` are zero.
    dtype, device
        Of the values; torch's defaults.

    Examples
    --------
    >>> import torch
    >>> from grfpp.datasets import grid
    >>> from grfpp.torch import factored_mask
    >>> mask = factored_mask(grid(4, 4), class_token=True)
    >>> mask
    FactoredMask(n_tokens=17, n_prefix=1, n_steps=4)
    >>> x = torch.ones(2, 17, 3)
    >>> bool(torch.allclose(mask(x), mask.dense() @ x, atol=1e-6))
    True

    References
    ----------
    Choromanski et al., "Computationally-efficient graph modeling with refined graph random
    features", 2026, eq. (3) and Option III.
    """

    def __init__(
        self,
        steps: Sequence[sp.csr_array],
        *,
        n_prefix: int = 0,
        dtype: torch.dtype | None = None,
        device: Any = None,
    ) -> None:
        super().__init__()
        shapes = [step.shape for step in steps]
        if not shapes or [width for _, width in shapes] != [n for n, _ in shapes[1:] + shapes[:1]]:
            raise InputError(f"must have a square product, found shapes {shapes}", argument="steps")
        self.n_nodes = int(shapes[0][0])
        self.n_prefix = whole(n_prefix, "n_prefix", 0)
        dtype, device = floating(dtype), device_of(device)
        self.patterns = nn.ModuleList()
        for index, step in enumerate(steps):
            # A copy, which does not share memory with the caller's arrays.
            tensor = from_scipy(step.copy(), dtype=dtype, device=device, sort=False)
            self.patterns.append(SparsePattern.of(tensor))
            self.register_buffer(f"values_{index}", tensor.values(), persistent=False)
        self.chain = FactorChain(tuple(map(Link, self.patterns, range(len(steps)))))

    @property
    def n_tokens(self) -> int:
        """Number of nodes and of tokens before them."""
        return self.n_nodes + self.n_prefix

    @property
    def n_entries(self) -> int:
        """Number of stored values."""
        return sum(values.numel() for values in self._values())

    @property
    def is_nonnegative(self) -> bool:
        """Whether no entry of any factor is negative, and so none of ``M``."""
        return all(bool((values >= 0).all()) for values in self._values())

    def forward(self, x: Tensor) -> Tensor:
        """``M x``."""
        if not x.is_floating_point() or x.ndim < 2 or x.shape[-2] != self.n_tokens:
            problem = f"must be floating-point numbers of shape (…, {self.n_tokens}, d)"
            problem += f", found {x.dtype} of shape {tuple(x.shape)}"
            raise InputError(problem, argument="x")
        nodes = x[..., self.n_prefix :, :].movedim(-2, 0)
        # Half precision has few sparse products, and would lose the small entries.
        block = nodes.reshape(self.n_nodes, -1).to(torch.promote_types(x.dtype, torch.float32))
        product = self.chain.matmat([v.to(block.dtype) for v in self._values()], block)
        product = product.to(x.dtype).reshape(nodes.shape).movedim(0, -2)
        return nn.functional.pad(product, (0, 0, self.n_prefix, 0)) if self.n_prefix else product

    def dense(self) -> Tensor:
        """The whole matrix, N×N; refused where it does not fit into memory."""
        n, like = self.n_tokens, self.values_0
        require_bytes(4 * like.element_size() * n * n, f"a dense mask of {n} x {n} numbers")
        return self(torch.eye(n, dtype=like.dtype, device=like.device))

    def _values(self) -> list[Tensor]:
        return [getattr(self, f"values_{index}") for index in range(len(self.patterns))]

    def __repr__(self) -> str:
        n_steps = len(self.patterns)
        return f"FactoredMask(n_tokens={self.n_tokens}, n_prefix={self.n_prefix}, {n_steps=})"


def is_batch(graphs: Any) -> bool:
    """Whether this is a list of graphs, rather than one graph given as a list.

    Examples
    --------
    >>> import networkx as nx
    >>> is_batch([nx.path_graph(3), nx.path_graph(5)]), is_batch([[0, 1], [1, 0]])
    (True, False)
    """

    def is_row_or_edge(item: Any) -> bool:
        return isinstance(item, list | tuple | int | float) or getattr(item, "ndim", 2) < 2

    return isinstance(graphs, list) and bool(graphs) and not any(map(is_row_or_edge, graphs))


def _padded(masks: Sequence[Tensor]) -> Tensor:
    """Masks of shape ``(n_i, n_i)`` as one tensor of shape ``(len(masks), n, n)``.

    Columns of padding are minus infinity. Rows of padding are zero elsewhere, so that softmax is
    finite there; their results have no meaning.
    """
    n = max(mask.shape[0] for mask in masks)
    size = len(masks) * n * n * masks[0].element_size()
    require_bytes(size, f"masks of {len(masks)} graphs with {n} tokens")
    batch = masks[0].new_zeros(len(masks), n, n)
    for padded, mask in zip(batch, masks, strict=True):
        padded[: len(mask), : len(mask)] = mask
        padded[:, len(mask) :] = float("-inf")
    return batch


def _tokens(
    graph: Any, nodes: Any, scaling: Scaling, class_token: bool | int
) -> tuple[Graph, IntArray, int]:
    """The graph, the nodes that are tokens, and the number of tokens before them."""
    one_of(scaling, "scaling", get_args(Scaling))
    is_bool = isinstance(class_token, bool)
    n_prefix = int(class_token) if is_bool else whole(class_token, "class_token", 0)
    source = as_graph(graph)
    chosen = np.arange(source.n_nodes) if nodes is None else source.names.numbers(nodes)
    if not len(chosen):
        raise InputError("must hold at least one node, found none", argument="nodes")
    return source, chosen, n_prefix


def _scaled_kernel(
    graph: Graph, scaling: Scaling, *, seed: int = 0, **choice: Any
) -> tuple[KernelEstimate | KernelOperator, FloatArray, FloatArray]:
    """The kernel, and the factors of its rows and of its columns."""
    # Masks are not saved with the weights of a model, so a drawn seed would be lost: no None.
    K = KernelChoice.of(seed=whole(seed, "seed", 0), **choice).operator(graph)
    ones = np.ones(K.n_nodes)
    if scaling is None:
        return K, ones, ones
    divisors = K.diagonal() if scaling == "cosine" else K @ ones
    if not (np.isfinite(divisors).all() and (divisors > 0).all()):
        divisor = "diagonal entries" if scaling == "cosine" else "row sums"
        problem = f"={scaling!r} needs positive {divisor} of the kernel, found {divisors.min():.3g}"
        advice = "use more walks, another kernel, or scaling=None"
        raise InputError(problem, argument="scaling", advice=advice)
    if scaling == "rows":
        return K, 1 / divisors, ones
    return K, divisors**-0.5, divisors**-0.5
