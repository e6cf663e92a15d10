"""Encodings that are functions of the graph alone: no random numbers, no order of nodes.

To add one: write a subclass of `ExactEncoding` here, as a dataclass, and list it in the stub
``grfpp/torch/__init__.pyi``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence, Set
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise, zip_longest
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp._checks import listed, one_of, truth, whole
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import Kernel, kernel_of
from grfpp.linalg.chebyshev import MARGIN, block_products, coefficients_of, power_diagonals
from grfpp.options import WalkOptions
from grfpp.torch.encodings.base import Encoder, NodeEncoding
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.batch import GraphBatch
from grfpp.walks.by_length import plan_by_length, sample_by_length

from torch_geometric.data.datapipes import functional_transform  # isort: skip - base requires it

Kernels = Kernel | str | Sequence[Kernel | str]
Normalization = Literal["rw", "sym"]

#: Accuracy of products, relative to the kernel's largest value.
_TOLERANCE = 1e-10
#: Kernels of smoothing: within one, two and four edges, since heat reaches about ``√t`` edges.
_WIDTHS = ("heat:1", "heat:4", "heat:16")
#: Smallest share of a kernel beyond the node itself; below, rounding errors dominate.
_MIN_SHARE_BEYOND_SELF = 1e-6
#: Walks of ten steps on average: the logarithm falls in proportion to the distance.
_LANDMARK_KERNEL = "personalized-pagerank:0.1"
#: Relative difference of scores that count as equal: sums in another order differ by less.
_TIE = 1e-7
#: Kernel values below this share of the landmark's count as zero; products are far more exact.
_MIN_CLOSENESS = 1e-5
#: Longest walks of return masses: memory and time grow with every length.
_MAX_LENGTH = 512
#: Share of a kernel's value that truncated lengths may add up to.
_MAX_NEGLECTED_SHARE = 1e-10
#: Multiplications per graph, about ten seconds, beyond which walks estimate return masses.
_MAX_PRODUCTS = 1e10


@dataclass(frozen=True, eq=False)
class NormalizedBatch:
    """Graphs side by side with the weights ``W = scale · D^-1/2 A D^-1/2``.

    Their spectral radius is at most the scale, whatever the graphs. So the result of a graph does
    not depend on the others in the batch, to the last bit.
    """

    W: sp.csr_array
    #: The first node of each graph, and the number of all nodes.
    starts: IntArray
    #: Square roots of the weighted degrees; one for isolated nodes.
    roots: FloatArray
    is_isolated: npt.NDArray[np.bool_]
    scale: float
    #: Features of the nodes, one row each, where they are needed.
    features: Any = None

    @classmethod
    def of(
        cls, batch: GraphBatch, graphs: range, scale: float, features: FloatArray | None
    ) -> NormalizedBatch:
        """Normalise some consecutive graphs of a batch."""
        starts = batch.starts[graphs.start : graphs.stop + 1]
        nodes = slice(int(starts[0]), int(starts[-1]))
        part = Graph(batch.graph.adjacency[nodes, nodes])
        is_isolated = part.out_degree == 0
        roots = np.sqrt(np.where(is_isolated, 1.0, part.adjacency.sum(axis=1)))
        W = part.normalized("sym", scale).adjacency
        rows = None if features is None else features[nodes]
        return cls(W, starts - starts[0], roots, is_isolated, scale, rows)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all graphs."""
        return len(self.roots)

    def products(self, kernels: Sequence[Kernel], vectors: FloatArray) -> FloatArray:
        """``g(W) @ vectors`` for every kernel, from one recurrence."""
        radius = self.scale * (1 + MARGIN)
        series = [coefficients_of(kernel.value, radius, _TOLERANCE) for kernel in kernels]
        table = np.array(list(zip_longest(*series, fillvalue=0.0)), order="F").T
        return block_products(self.W, self.starts, radius, table, vectors)


class ExactEncoding(NodeEncoding):
    """An encoding that is a function of the graph; nodes in another order have the same rows."""

    @abstractmethod
    def _rows(self, graphs: NormalizedBatch) -> FloatArray:
        """Encodings of all nodes of some graphs, on one thread."""

    def _encoder(self, batch: GraphBatch, features: FloatArray | None) -> Encoder:
        def rows(graphs: range) -> FloatArray:
            # The caller checks for overflow.
            with np.errstate(over="ignore", invalid="ignore"):
                return self._rows(NormalizedBatch.of(batch, graphs, self.scale, features))

        return rows


def _checked_kernels(kernel: Kernels, scale: float) -> tuple[Kernel, ...]:
    """One kernel or several, whose series converge at the scale."""
    if isinstance(kernel, Set | Mapping):
        raise InputError("must have an order", argument="kernel", advice="pass a list")
    choices = [kernel] if isinstance(kernel, Kernel | str) else listed(kernel, "kernel")
    if not choices:
        raise InputError("must be one kernel or several, found none", argument="kernel")
    kernels = tuple(map(kernel_of, choices))
    for g in kernels:
        g.check_radius(scale)
        if not np.isfinite(g.value([-scale, 0.0, scale])).all():
            problem = f"{g!r} exceeds the range of float64 at scale {scale:g}"
            raise InputError(problem, argument="kernel")
    return kernels


@functional_transform("add_return_pe")
@dataclass(eq=False, repr=False)
class AddReturnPE(ExactEncoding):
    """Add return masses: the diagonals of powers of the weights, or of kernels.

    Column ``k`` is the diagonal of ``W^k``, ``W = scale · D^-1/2 A D^-1/2``: the probability that a
    random walk of ``k`` steps from the node ends there, as in PyG's ``AddRandomWalkPE``, for all
    graphs of a data set at once. With kernels it is ``diag(g(W))``, such as the heat that remains
    at the node after some time. Exact, except for graphs that need more than ``10¹⁰``
    multiplications: there pooled walks estimate it without bias.

    Parameters
    ----------
    dim
        Lengths ``1 … dim``; 8 if not given.
    lengths
        Lengths to use instead of ``1 … dim``, up to 512.
    kernel
        Kernels to use instead of lengths, one column each: kernels, or their names on the command
        line.
    n_walks, seed
        Number of walks and seed, for very large graphs.
    attr_name, scale, symmetrize, weight_attr, dtype, cache_mb
        As for `AddGRFPE`.

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

    References
    ----------
    Dwivedi et al., "Graph neural networks with learnable structural and positional
    representations", 2022.
    """

    kind = "return"

    dim: int | None = None
    _: KW_ONLY
    lengths: Sequence[int] | None = None
    kernel: Kernels | None = None
    n_walks: int = 64
    seed: int | None = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        exclusive = [n for n in ("dim", "lengths", "kernel") if getattr(self, n) is not None]
        if len(exclusive) > 1:
            raise InputError("exclude each other", argument=" and ".join(exclusive))
        self.options = WalkOptions.of(n_walks=self.n_walks, seed=self.seed)
        kernels = () if self.kernel is None else _checked_kernels(self.kernel, self.scale)
        self.kernel = kernels or None
        n_lengths = whole(8 if self.dim is None else self.dim, "dim", 1, _MAX_LENGTH)
        lengths = range(1, 1 + n_lengths) if self.lengths is None else self.lengths
        self.lengths = [whole(k, "lengths", 1, _MAX_LENGTH) for k in listed(lengths, "lengths")]
        if not self.lengths:
            raise InputError("must hold at least one length, found none", argument="lengths")
        self._columns = np.array(self.lengths) - 1
        #: Coefficients of power series, one per column.
        self._series = [_power_series(g, self.scale) for g in kernels]
        self._n_columns = len(self._series or self.lengths)

    def _rows(self, graphs: NormalizedBatch) -> FloatArray:
        if not self._series:
            masses = self._masses(graphs, int(self._columns.max()) + 1)
            return np.ascontiguousarray(masses[:, self._columns])
        masses = self._masses(graphs, max(1, *(len(series) - 1 for series in self._series)))
        result = np.empty((graphs.n_nodes, len(self._series)))
        for column, (constant, *series) in enumerate(self._series):
            # Not by BLAS, whose bits may depend on the number of rows.
            result[:, column] = constant
            for coefficient, powers in zip(series, masses.T, strict=False):
                result[:, column] += coefficient * powers
        return result

    def _masses(self, graphs: NormalizedBatch, n_lengths: int) -> FloatArray:
        """``diag(W^k)`` for ``k = 1 … n_lengths``; of very large graphs an estimate by walks."""
        W, starts = graphs.W, graphs.starts
        n_products = np.diff(starts) * np.diff(W.indptr[starts]) * (0.5 * n_lengths)
        if (n_products <= _MAX_PRODUCTS).all():
            return power_diagonals(W, starts, n_lengths)
        masses = []
        for (first, last), n_of_graph in zip(pairwise(starts), n_products, strict=True):
            part = W[first:last, first:last]
            if n_of_graph > _MAX_PRODUCTS:
                masses.append(self._estimated(Graph(part), n_lengths))
            else:
                masses.append(power_diagonals(part, np.array([0, last - first]), n_lengths))
        return np.concatenate(masses)

    def _estimated(self, W: Graph, n_lengths: int) -> FloatArray:
        """Products of rows of ``Φ_a`` and of an independent ``Φ'_b``: mean ``diag(W^(a+b))``."""
        half = (n_lengths + 1) // 2
        plan = plan_by_length(W, half + 1, self.options)
        left, right = (sample_by_length(plan.with_factor(side), n_jobs=1) for side in range(2))
        result, units = np.empty((W.n_nodes, n_lengths)), np.eye(half + 1)
        for k in range(1, n_lengths + 1):
            longer = left.factor(units[(k + 1) // 2])
            result[:, k - 1] = longer.multiply(right.factor(units[k // 2])).sum(axis=1)
        return result


def _power_series(kernel: Kernel, scale: float) -> FloatArray:
    """The leading coefficients of a kernel, whose neglected tail is rounding at this scale."""
    terms = kernel.coefficients(_MAX_LENGTH, scale=scale)
    sizes, value = np.abs(terms), float(kernel.value([scale])[0])
    tails = np.cumsum(sizes[::-1])[::-1]
    limit = _MAX_NEGLECTED_SHARE * max(abs(value), float(sizes[0]))
    # The last terms may be small before the first ones are.
    if tails[-1] > limit or abs(terms.sum() - value) > limit:
        problem = f"{kernel!r} needs more than {_MAX_LENGTH} lengths for return masses"
        raise InputError(problem, argument="kernel", advice="use a narrower kernel")
    return kernel.coefficients(max(1, int(np.count_nonzero(tails > limit))))


@functional_transform("add_smooth_pe")
@dataclass(kw_only=True, eq=False, repr=False)
class AddSmoothPE(ExactEncoding):
    """Add the nodes' features ``x``, smoothed over the graph by one kernel after the other.

    Each is a mean of features over random walks from the node, near nodes weighted more: what a
    model with few layers does not see. The number of columns is that of kernels times that of
    features.

    Parameters
    ----------
    kernel
        One or several kernels, or their names on the command line. The heat kernel of time ``t``
        reaches about ``√t`` edges.
    normalization
        ``"rw"`` for means: constant features stay as they are. ``"sym"`` for ``g(W) x`` with
        ``W = scale · D^-1/2 A D^-1/2``, divided by ``g(scale)``, which depends on degrees too.
    include_self
        Whether walks of length zero count, that is the node's features themselves, which outweigh
        those of other nodes and are in ``x`` already.
    attr_name, scale, symmetrize, weight_attr, dtype, cache_mb
        As for `AddGRFPE`.

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

    References
    ----------
    Gasteiger, Weißenberger and Günnemann, "Diffusion improves graph learning", 2019.
    """

    kind = "smooth"
    needs_features = True

    kernel: Kernels = _WIDTHS
    normalization: Normalization = "rw"
    include_self: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.normalization, "normalization", ("rw", "sym"))
        self.include_self = truth(self.include_self, "include_self")
        self.kernel = self._kernels = _checked_kernels(self.kernel, self.scale)
        self._n_columns_per_feature = len(self._kernels)
        for g in self._kernels:
            values = g.value([self.scale, 0.0])
            share = np.ptp(values) / np.abs(values).max()
            if not self.include_self and share < _MIN_SHARE_BEYOND_SELF:
                problem = f"must reach beyond the node itself, found {g!r}"
                advice = "use a wider kernel, or include_self=True"
                raise InputError(problem, argument="kernel", advice=advice)

    def _rows(self, graphs: NormalizedBatch) -> FloatArray:
        return np.concatenate(self._smoothed(graphs), axis=1)

    def _smoothed(self, graphs: NormalizedBatch) -> list[FloatArray]:
        """Smoothed features, by kernels."""
        X, roots = graphs.features, graphs.roots[:, None]
        is_mean = self.normalization == "rw"
        vectors = X * roots if is_mean else X
        products = graphs.products(self._kernels, vectors)
        at_scale, at_zero = np.array([g.value([self.scale, 0.0]) for g in self._kernels]).T
        if not self.include_self:
            products -= at_zero[:, None, None] * vectors
            at_scale = at_scale - at_zero
        # The row sums of g(D^-1 A): constant features stay as they are.
        products /= np.where(at_scale == 0, 1.0, at_scale)[:, None, None]
        if is_mean:
            products /= roots
        products[:, graphs.is_isolated] = X[graphs.is_isolated]
        return list(products)


@functional_transform("add_contrast_pe")
class AddContrastPE(AddSmoothPE):
    """Add what smoothing removes from the nodes' features ``x``, from one width to the next.

    First the features minus their means nearby, then those minus the means further around, and so
    on: the bands of a diffusion wavelet. Unlike the means themselves (`AddSmoothPE`) they are
    nearly uncorrelated, and contain no constant by which a model could recognise single training
    graphs. The number of columns is that of kernels times that of features.

    Parameters
    ----------
    kernel
        One or several kernels, or their names on the command line; narrow ones first. The heat
        kernel of time ``t`` reaches about ``√t`` edges.
    normalization, include_self
        Of the smoothing, as for `AddSmoothPE`. With ``"rw"``, constant features give zeros.
    attr_name, scale, symmetrize, weight_attr, dtype, cache_mb
        As for `AddGRFPE`.

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

    References
    ----------
    Coifman and Maggioni, "Diffusion wavelets", 2006.
    """

    kind = "contrast"

    def _rows(self, graphs: NormalizedBatch) -> FloatArray:
        bands = pairwise([graphs.features, *self._smoothed(graphs)])
        return np.concatenate([near - far for near, far in bands], axis=1)


@functional_transform("add_profile_pe")
@dataclass(eq=False, repr=False)
class AddProfilePE(AddContrastPE):
    """Add return masses and contrasts of features: the columns of two encodings.

    Those of `AddReturnPE`, which depend on the edges alone, and then those of `AddContrastPE`.

    Parameters
    ----------
    dim
        Numbers per node: those of the contrasts, kernels times features, and return masses of
        walks of ``1 … dim - kernels · features`` steps. `dim` must leave room for one at least.
    lengths
        Steps of the walks that return, instead of `dim`; ``1 … 8`` if neither is given, which makes
        ``8 + kernels · features`` numbers per node.
    kernel, normalization, include_self
        As for `AddContrastPE`.
    attr_name, scale, symmetrize, weight_attr, dtype, cache_mb
        As for `AddGRFPE`; `scale` is that of both encodings.

    Examples
    --------
    >>> import torch
    >>> from grfpp.torch import AddProfilePE
    >>> from torch_geometric.data import Data
    >>> x = torch.tensor([[1.0], [0.0], [0.0]])
    >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), x=x)
    >>> AddProfilePE(dim=4, kernel=["heat:1", "heat:10"])(path).profile_pe
    tensor([[ 0.0000,  0.5000,  0.8420, -0.0920],
            [ 0.0000,  1.0000, -0.3420,  0.0920],
            [ 0.0000,  0.5000, -0.1580, -0.0920]])

    References
    ----------
    Dwivedi et al., "Graph neural networks with learnable structural and positional
    representations", 2022. Coifman and Maggioni, "Diffusion wavelets", 2006.
    """

    kind = "profile"

    dim: int | None = None
    _: KW_ONLY
    lengths: Sequence[int] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.returns = AddReturnPE(lengths=self.lengths, scale=self.scale)
        self._n_kernels = self._n_columns_per_feature
        self._n_columns = self.returns._n_columns
        if self.dim is None:
            return
        if self.lengths is not None:
            raise InputError("exclude each other", argument="dim and lengths")
        self._n_columns, self._n_columns_per_feature = whole(self.dim, "dim", 1), 0

    def _rows(self, graphs: NormalizedBatch) -> FloatArray:
        returns, n_contrasts = self.returns, self._n_kernels * graphs.features.shape[1]
        if self.dim is not None:
            if self.dim <= n_contrasts:
                problem = f"must be above {n_contrasts}, the contrasts of {self._n_kernels} "
                problem += f"kernels and {graphs.features.shape[1]} features, found {self.dim}"
                advice = "use fewer kernels, or lengths=… for the return masses alone"
                raise InputError(problem, argument="dim", advice=advice)
            returns = AddReturnPE(self.dim - n_contrasts, scale=self.scale)
        return np.concatenate([returns._rows(graphs), super()._rows(graphs)], axis=1)


@functional_transform("add_landmark_pe")
@dataclass(eq=False, repr=False)
class AddLandmarkPE(ExactEncoding):
    """Add closeness to landmarks: the most central node, then always the farthest from all.

    The first landmark has the largest row sum of the kernel; each further one is the node that is
    least close to those before. Nodes that tie form one landmark, so that nothing depends on the
    order of nodes. Closeness is 1 at the landmark, falls like the logarithm of the kernel between
    two nodes, divided by the square roots of their degrees, and is 0 where that is below ``10⁻⁵``
    of its value at the landmark. Graphs with fewer distinguishable nodes than `dim` have zeros in
    the last columns.

    Parameters
    ----------
    dim
        Number of landmarks; 8 if not given.
    kernel
        A kernel, or its name on the command line. Its logarithm should fall slowly.
    attr_name, scale, symmetrize, weight_attr, dtype, cache_mb
        As for `AddGRFPE`.

    Examples
    --------
    >>> import torch
    >>> from grfpp.torch import AddLandmarkPE
    >>> from torch_geometric.data import Data
    >>> star = Data(edge_index=torch.tensor([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]]), num_nodes=5)
    >>> pe = AddLandmarkPE(dim=3)(star).landmark_pe
    >>> pe.shape, pe[0, 0].item(), pe[4].tolist()             # the hub; a node without edges
    (torch.Size([5, 3]), 1.0, [0.0, 1.0, 0.0])

    References
    ----------
    Gonzalez, "Clustering to minimize the maximum intercluster distance", 1985, for the choice of
    landmarks. You, Ying and Leskovec, "Position-aware graph neural networks", 2019.
    """

    kind = "landmark"

    dim: int | None = None
    _: KW_ONLY
    kernel: Kernels = _LANDMARK_KERNEL

    def __post_init__(self) -> None:
        super().__post_init__()
        self.dim = self._n_columns = whole(8 if self.dim is None else self.dim, "dim", 1)
        kernel = kernel_of(self.kernel)  # type: ignore[arg-type]  # refuses lists
        self.kernel = self._kernels = _checked_kernels(kernel, self.scale)

    def _rows(self, graphs: NormalizedBatch) -> FloatArray:
        starts = graphs.starts
        graph_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        result = np.zeros((graphs.n_nodes, self._n_columns))
        score = graphs.products(self._kernels, np.ones((graphs.n_nodes, 1)))[0, :, 0]
        nearest = np.full(graphs.n_nodes, -np.inf)
        for landmark in range(self._n_columns):
            best = np.maximum.reduceat(score, starts[:-1])
            ties = score >= (best - _TIE * np.maximum(1.0, np.abs(best)))[graph_of]
            chosen = ties & (nearest < 1 - _TIE)
            if not chosen.any():
                break
            result[:, landmark] = self._closeness(graphs, chosen, graph_of)
            nearest = np.maximum(nearest, result[:, landmark])
            score = -nearest
        return result

    def _closeness(
        self, graphs: NormalizedBatch, chosen: npt.NDArray[np.bool_], graph_of: IntArray
    ) -> FloatArray:
        """Closeness to the chosen nodes; zero in all of a graph without any."""
        n_graphs = len(graphs.starts) - 1
        counts = np.maximum(np.bincount(graph_of[chosen], minlength=n_graphs), 1)
        share = np.where(chosen, 1.0 / counts[graph_of], 0.0)
        spread = graphs.products(self._kernels, (share / graphs.roots)[:, None])
        mass = spread[0, :, 0] / graphs.roots
        at_landmark = np.bincount(graph_of, share * mass, minlength=n_graphs)[graph_of]
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(at_landmark > 0, mass / at_landmark, 0.0)
        logarithms = np.log(np.maximum(relative, _MIN_CLOSENESS))
        return np.asarray(1 - logarithms / np.log(_MIN_CLOSENESS))
