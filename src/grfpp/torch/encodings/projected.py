"""`grf_pe` and `AddGRFPE`: sparse features of every factor, projected at random and summed.

The recipe is that of the paper's appendix "GRF++ in Graph GPS": a stitching degree ``l`` gives
``l`` independent sets of features ``K_s`` with mean ``g(W)^(1/2l)``, and the encoding is
``Σ_s K_s G_s``, where the entries of the Gaussian matrices ``G_s`` are ``N(0, 1/dim)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from grfpp._checks import one_of, whole
from grfpp.estimate.chain import Chain
from grfpp.estimate.factor import StoredFactor
from grfpp.kernels import kernel_of
from grfpp.options import MAX_DEGREE, OF_ESTIMATES, WalkOptions
from grfpp.torch.encodings import exact as _registers_the_other_kinds  # noqa: F401
from grfpp.torch.encodings.base import KINDS, Encoder, NodeEncoding
from grfpp.typing import FloatArray, WordArray
from grfpp.walks.batch import BatchWalks, GraphBatch
from grfpp.walks.planning import check_normalized
from grfpp.walks.streams import NODE_STRIDE, WALK_STRIDE, factor_key, mix64

from torch_geometric.data.datapipes import functional_transform  # isort: skip - base requires it

#: Options of encodings of every kind.
_SHARED_OPTIONS = ("scale", "symmetrize", "weight_attr", "dtype", "cache_mb")
#: The first stream of projections; those below belong to factors.
_FIRST_PROJECTION = 2 * MAX_DEGREE


def grf_pe(
    graphs: Iterable[Any],
    dim: int | None = None,
    degree: int | None = None,
    n_walks: int | None = None,
    *,
    kind: str = "projected",
    n_jobs: int = -1,
    **options: Any,
) -> list[Tensor]:
    """Positional encodings of the nodes of many graphs.

    The default is the encoding of the paper's graph transformers: sparse random features of the
    nodes from each stitched factor, each set projected at random to `dim` numbers, and the sets
    summed. All graphs are encoded together, as one block-diagonal graph.

    Parameters
    ----------
    graphs
        A list (or a PyG data set) of PyG ``Data``, or of anything that `grfpp.Graph` takes. They
        must be undirected: every edge with its opposite. Self-loops, isolated nodes, several
        components and single nodes are fine; repeated edges add up.
    dim
        Numbers per node, 8 if not given. (Not for `kind` ``"smooth"`` and ``"contrast"``; of
        ``"profile"`` with its contrasts, to which 8 are added if it is not given.)
    degree
        Stitching degree: 1 for GRFs, more for GRFs++; 2 if not given.
    n_walks
        Walks from every node for every factor, 16 if not given.
    kind
        ``"projected"``, the paper's, with the options below. The others are deterministic and have
        other options: ``"return"`` (see `AddReturnPE`), ``"smooth"`` (`AddSmoothPE`),
        ``"contrast"`` (`AddContrastPE`), ``"profile"`` (`AddProfilePE`), ``"landmark"``
        (`AddLandmarkPE`).
    n_jobs
        Threads; -1 for all cores.
    kernel
        A kernel, or its name on the command line, ``"diffusion"`` if not given. Wider ones
        (``"diffusion:5"``) distinguish nodes that are further apart.
    scale
        The weights are ``W = scale · D^-1/2 A D^-1/2``; 1 if not given.
    seed
        Seed of the walks and of the projections, 0 if not given. ``None`` draws one.
    features
        ``"factors"``, the default and the paper's: one set per pair of factors, with mean
        ``g(W)^(1/2l)``, so that a higher degree reaches less far. ``"stitched"``: the two sets
        ``X`` and ``Y`` of `KernelEstimate.features`, with mean ``g(W)^(1/2)`` at every degree.
    projection
        ``"graph"``, the default: another one for every graph, a function of the seed and of the
        graph. ``"shared"``: one for all, by node indices. That is for graphs whose order of nodes
        has a meaning (a lattice, the pixels of an image); elsewhere it leaks that order to a model.
    rotation
        ``"principal"`` rotates every graph's encoding to its principal axes, the longest first:
        the result depends on ``PE PEᵀ`` only, except for ties. ``"none"`` does not rotate.
    symmetrize
        Use the mean of both directions of every edge, instead of refusing directed graphs.
    weight_attr
        The attribute of a ``Data`` that holds edge weights; ``None`` for weights of one.
        ``edge_weight`` may be missing, which means the same. ``edge_attr`` is only read if it is
        named here: it may hold the types of chemical bonds.
    dtype
        Of the encodings, float32 if not given; they are computed in float64.
    termination, …
        More about walks: see `grfpp.WalkOptions`.

    Returns
    -------
    list of tensors
        One of shape ``(n_nodes, dim)`` for each graph, on the device of its edges.

    Notes
    -----
    The random numbers of a graph are a function of the seed and of its nodes, edges and weights.
    So its encoding has the same bits alone, in any batch and at any position in it, for any number
    of threads and of worker processes. Equal graphs have equal encodings. A graph with another
    order of nodes has another hash: its encoding is another draw from the same distribution.

    Examples
    --------
    >>> import networkx as nx
    >>> from grfpp.torch import grf_pe
    >>> ring, club = grf_pe([nx.cycle_graph(5), nx.karate_club_graph()])
    >>> ring.shape, club.shape
    (torch.Size([5, 8]), torch.Size([34, 8]))

    References
    ----------
    Choromanski et al., "Computationally-efficient graph modeling with refined graph random
    features", 2026, appendix "GRF++ in Graph GPS" and eq. (7). Rampášek et al., "Recipe for a
    general, powerful, scalable graph transformer", 2022.
    """
    encoding = _encoding_of(kind, dim, degree, n_walks, attr_name="grf_pe", cache_mb=0, **options)
    return encoding.encode_all(graphs, n_jobs)


def _encoding_of(kind: str, dim: Any, degree: Any, n_walks: Any, **options: Any) -> NodeEncoding:
    """The encoding of a kind; ``None`` for its defaults."""
    walks = {"dim": dim, "degree": degree, "n_walks": n_walks}
    options |= {name: value for name, value in walks.items() if value is not None}
    return KINDS[one_of(kind, "kind", tuple(KINDS))](**options)


@functional_transform("add_grf_pe")
class AddGRFPE(NodeEncoding):
    """Add positional encodings from walks and kernels to PyG graphs, by default those of GRF++.

    Use it like PyG's ``AddRandomWalkPE``: as ``transform`` or ``pre_transform`` of a data set, in
    ``Compose``, in a ``DataLoader`` with any number of workers, on a ``Data`` or on a whole
    ``Batch``. The encoding of a graph is the same to the last bit in all of these. To encode a
    data set at once, many times faster than graph by graph, call `transform_all`.

    Parameters
    ----------
    dim, degree, n_walks, kind, symmetrize, weight_attr, dtype, **options
        As for `grf_pe`: `kernel`, `scale`, `features`, …. A `seed` of ``None`` is drawn in the
        constructor, for all workers.
    attr_name
        The attribute that gets the encoding; ``None`` to append it to ``data.x``.
    cache_mb
        Megabytes of cached encodings, so that a graph is encoded once and not once an epoch. Every
        worker process has its own cache.

    Examples
    --------
    >>> import torch
    >>> from grfpp.torch import AddGRFPE
    >>> from torch_geometric.data import Data
    >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
    >>> AddGRFPE(dim=4)(path)
    Data(edge_index=[2, 4], num_nodes=3, grf_pe=[3, 4])
    >>> AddGRFPE(dim=4, attr_name=None)(path).x.shape
    torch.Size([3, 4])

    References
    ----------
    Choromanski et al., "Computationally-efficient graph modeling with refined graph random
    features", 2026, appendix "GRF++ in Graph GPS" and eq. (7).
    """

    kind = "projected"

    def __init__(
        self,
        dim: int | None = None,
        degree: int | None = None,
        n_walks: int | None = None,
        *,
        kind: str = "projected",
        attr_name: str | None = "grf_pe",
        **options: Any,
    ) -> None:
        shared = {name: options[name] for name in _SHARED_OPTIONS if name in options}
        #: The encoding of another kind that does the work, if any.
        self.other: NodeEncoding | None = None
        if kind != "projected":
            self.other = _encoding_of(kind, dim, degree, n_walks, **options)
            self.needs_features = self.other.needs_features
            self._n_columns = self.other._n_columns
            self._n_columns_per_feature = self.other._n_columns_per_feature
        super().__init__(attr_name=attr_name, **shared)
        if self.other is not None:
            return
        options = {name: value for name, value in options.items() if name not in shared}
        names = {"features": ("factors", "stitched"), "projection": ("graph", "shared")}
        names["rotation"] = ("none", "principal")
        self.features, self.projection, self.rotation = (
            one_of(options.pop(name, known[0]), name, known) for name, known in names.items()
        )
        self.dim = self._n_columns = whole(8 if dim is None else dim, "dim", 1)
        self.kernel = kernel_of(options.pop("kernel", "diffusion"))
        walks = {"degree": 2 if degree is None else degree, "seed": 0, **options}
        walks["n_walks"] = 16 if n_walks is None else n_walks
        self.options = WalkOptions.of(without=(*OF_ESTIMATES, "n_jobs"), **walks)
        check_normalized(self.kernel, self.options, self.scale)

    def _encoder(self, batch: GraphBatch, features: FloatArray | None) -> Encoder:
        if self.other is not None:
            return self.other._encoder(batch, features)
        walks = BatchWalks.of(batch, self.kernel, self.options, scale=self.scale)
        return partial(self._encode_part, walks)

    def _encode_part(self, walks: BatchWalks, graphs: range) -> FloatArray:
        starts = walks.batch.starts[graphs.start : graphs.stop + 1]
        encoding = np.zeros((int(starts[-1] - starts[0]), self.dim))
        for index, chain in enumerate(self._feature_chains(walks, graphs)):
            encoding += chain @ self._projection(walks.batch, graphs, index)
        return on_principal_axes(encoding, starts) if self.rotation == "principal" else encoding

    def _feature_chains(self, walks: BatchWalks, graphs: range) -> Iterator[Chain]:
        """The sets of features; on one thread, since threads share the graphs."""
        if self.features == "factors":
            for number in range(0, 2 * self.options.stitching_degree, 2):
                yield Chain.by_rows([StoredFactor(walks.factor(graphs, number))], n_jobs=1)
        else:
            factors = [StoredFactor(factor) for factor in walks.factors(graphs)]
            yield from Chain.stitched(factors, n_jobs=1).halves()

    def _projection(self, batch: GraphBatch, graphs: range, index: int) -> FloatArray:
        """``G_s`` of consecutive graphs, one below the other."""
        sizes = batch.sizes[graphs.start : graphs.stop]
        key = np.uint64(factor_key(self.options.seed, _FIRST_PROJECTION + index))
        words = np.array(batch.words[graphs.start : graphs.stop], dtype=np.uint64)
        if self.projection == "shared":
            words = np.zeros_like(words)
        nodes = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows = gaussian_rows(np.repeat(mix64(words ^ key), sizes), nodes, self.dim)
        return np.asarray(rows / np.sqrt(self.dim))


def gaussian_rows(words: WordArray, nodes: npt.NDArray[Any], n_columns: int) -> FloatArray:
    """Standard normal numbers of shape ``(len(nodes), n_columns)``, without a generator.

    A row is a pure function of its word and its node.

    Examples
    --------
    >>> rows = gaussian_rows(np.array([5, 5, 5], dtype=np.uint64), np.array([0, 1, 0]), 4)
    >>> bool((rows[0] == rows[2]).all()), bool((rows[0] == rows[1]).any())
    (True, False)
    """
    from scipy.special import ndtri

    rows = mix64(words + (nodes.astype(np.uint64) + np.uint64(1)) * np.uint64(NODE_STRIDE))
    columns = np.arange(1, n_columns + 1, dtype=np.uint64) * np.uint64(WALK_STRIDE)
    bits = mix64(rows[:, None] + columns[None, :])
    # 52 bits and half a unit, which float64 holds exactly: neither 0 nor 1 can occur.
    uniform = ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    return np.asarray(ndtri(uniform))


def on_principal_axes(rows: FloatArray, starts: npt.NDArray[np.int64]) -> FloatArray:
    """Rotate the encoding of each graph so that its columns are orthogonal, the longest first.

    The result does not depend on a rotation of the input, except within planes of equally long
    columns. The entry of largest size in a column is positive. `starts` holds the first row of each
    graph, and the end of the last.

    Examples
    --------
    >>> rows = np.array([[3.0, 4.0], [0.0, 0.0], [-6.0, -8.0]])
    >>> on_principal_axes(rows, np.array([0, 3])).round(12) + 0.0
    array([[-5.,  0.],
           [ 0.,  0.],
           [10.,  0.]])
    """
    rotated = np.empty_like(rows)
    for start, stop in pairwise((starts - starts[0]).tolist()):
        block = rows[start:stop]
        # Not by BLAS, whose bits may depend on the number of its threads.
        _, axes = np.linalg.eigh(np.einsum("ni,nj->ij", block, block))
        block = np.einsum("ni,ij->nj", block, axes[:, ::-1])
        largest = block[np.abs(block).argmax(axis=0), np.arange(block.shape[1])]
        rotated[start:stop] = block * np.where(largest < 0, -1.0, 1.0)
    return rotated
