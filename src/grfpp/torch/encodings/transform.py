"""Positional encodings of nodes from walks: `grf_pe`, and `AddGRFPE` for PyG pipelines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import fields
from itertools import pairwise
from typing import Any

import torch

from grfpp.arguments import finite, truth
from grfpp.errors import InputError, shown
from grfpp.imports.optional import require
from grfpp.parallel import thread_count
from grfpp.torch.arguments import floating
from grfpp.torch.encodings.cache import EncodingCache, key_of
from grfpp.torch.encodings.edge_lists import (
    EdgeList,
    joined,
    joined_features,
    listed,
    read_batch,
    read_graphs,
)
from grfpp.torch.encodings.kinds import Kind, recipe_of

require("torch_geometric")

# Below the check, so that a missing package is named.
from torch_geometric.data import Batch, Data  # noqa: E402 - below the check above
from torch_geometric.data.datapipes import functional_transform  # noqa: E402 - below the check above
from torch_geometric.transforms import BaseTransform  # noqa: E402 - below the check above

__all__ = ["AddGRFPE", "functional_transform", "grf_pe"]


def grf_pe(
    graphs: Iterable[Any],
    dim: int | None = None,
    degree: int | None = None,
    n_walks: int | None = None,
    *,
    kind: Kind = "projected",
    n_jobs: int = -1,
    **options: Any,
) -> list[torch.Tensor]:
    """Positional encodings of the nodes of many graphs.

    By default the recipe is that of the paper's graph transformers: sparse random features of the
    nodes from each stitched factor, each set projected at random to `dim` numbers, and the sets
    summed. All graphs are walked together, as one block-diagonal graph.

    Parameters
    ----------
    graphs
        A list (or a PyG data set) of PyG ``Data``, or of anything that `grfpp.Graph` takes. They
        must be undirected: every edge with its opposite. Self-loops, isolated nodes, several
        components and single nodes are fine; repeated edges add up.
    dim
        Numbers a node, 8 if not given. (Not for `kind` ``"smooth"`` and ``"contrast"``.)
    degree
        Stitching degree: 1 for GRFs, more for GRFs++; 2 if not given.
    n_walks
        Walks from every node for every factor, 16 if not given.
    kind
        ``"projected"``, the paper's, with the options below. The others have no random numbers,
        and options of their own: ``"return"``, what returns to a node (see `AddReturnPE`);
        ``"smooth"``, features of the nodes smoothed by kernels (`AddSmoothPE`); ``"contrast"``,
        what the smoothing takes away (`AddContrastPE`); ``"profile"``, returns and contrasts
        together (`AddProfilePE`); ``"landmark"``, closeness to nodes that the graph singles out
        (`AddLandmarkPE`).
    n_jobs
        Threads; -1 for all cores.
    kernel
        A kernel, or how the command line writes it, ``"diffusion"`` if not given. Wider ones
        (``"diffusion:5"``) tell nodes further apart from each other.
    scale
        The weights are ``W = scale · D^-1/2 A D^-1/2``; 1 if not given.
    seed
        Of the walks and of the projections, 0 if not given. ``None`` draws one.
    features
        ``"factors"``, the default and the paper's: one set a pair of factors, with mean
        ``g(W)^(1/2l)``, so that a higher degree looks less far. ``"stitched"``: the two sets ``X``
        and ``Y`` of `KernelEstimate.features`, with mean ``g(W)^(1/2)`` at every degree.
    projection
        ``"graph"``, the default: every graph has its own, made from the seed and from what the
        graph is. ``"shared"``: one for all, by the numbers of the nodes. That is for graphs whose
        numbering means something (a lattice, the pixels of an image); elsewhere it shows a model
        the order in which the nodes happen to be listed.
    rotation
        ``"principal"`` turns every graph's encoding to its principal axes, the longest first:
        what is left depends on ``PE PEᵀ`` only, but for ties. ``"none"`` leaves it as it is.
    symmetrize
        Take the mean of both directions of every edge, instead of refusing directed graphs.
    weight_attr
        Which attribute of a ``Data`` holds the weights of its edges; ``None`` for weights of one.
        ``edge_weight`` may be missing, which is the same. ``edge_attr`` is not read unless it is
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
    So its encoding is the same to the last bit alone, in any batch, at any place in it, for any
    number of threads and of worker processes. Two equal graphs have equal encodings. A graph whose
    nodes are numbered otherwise has another hash: its encoding is another draw from the same law,
    with rows in the new order.

    Examples
    --------
    >>> import networkx as nx
    >>> from grfpp.torch import grf_pe
    >>> ring, club = grf_pe([nx.cycle_graph(5), nx.karate_club_graph()])
    >>> ring.shape, club.shape
    (torch.Size([5, 8]), torch.Size([34, 8]))
    """
    for name in sorted({"attr_name", "cache_mb"} & options.keys()):
        raise InputError("is for AddGRFPE", argument=name)
    transform = AddGRFPE(dim, degree, n_walks, kind=kind, **options)
    thread_count(n_jobs)
    given = listed(graphs)
    encodings = transform._encoded(transform._read(given), n_jobs)
    return [pe.to(_device(each)) for pe, each in zip(encodings, given, strict=True)]


@functional_transform("add_grf_pe")
class AddGRFPE(BaseTransform):  # type: ignore[misc]  # untyped base
    """Add positional encodings from walks and kernels to PyG graphs, by default those of GRF++.

    Use it like PyG's ``AddRandomWalkPE``: as ``transform`` or ``pre_transform`` of a data set, in
    ``Compose``, in a ``DataLoader`` with any number of workers, on a ``Data`` or on a whole
    ``Batch``. The encoding of a graph is the same to the last bit in all of these. To encode a
    data set in one go, many times faster than graph by graph, call `transform_all`.

    Parameters
    ----------
    dim, degree, n_walks, kind, symmetrize, weight_attr, dtype, **recipe
        As for `grf_pe`: `kernel`, `scale`, `features`, …. A `seed` of ``None`` draws one here and
        now, for all workers.
    attr_name
        The attribute that gets the encoding; ``None`` to append it to ``data.x``.
    cache_mb
        Megabytes of encodings that are kept, so that a graph is walked once and not once an epoch.
        Every worker process keeps its own.

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
    """

    def __init__(
        self,
        dim: int | None = None,
        degree: int | None = None,
        n_walks: int | None = None,
        *,
        kind: Kind = "projected",
        attr_name: str | None = "grf_pe",
        symmetrize: bool = False,
        weight_attr: str | None = "edge_weight",
        dtype: torch.dtype = torch.float32,
        cache_mb: float = 64.0,
        **recipe: Any,
    ) -> None:
        walks = {"dim": dim, "degree": degree, "n_walks": n_walks}
        self.recipe = recipe_of(kind, **walks, **recipe)
        self.kind = kind
        if attr_name is not None and (not isinstance(attr_name, str) or not attr_name):
            raise InputError(f"attr_name must be a name or None, found {shown(attr_name)}")
        if finite(cache_mb, "cache_mb") < 0:
            raise InputError(f"cache_mb must not be negative, found {shown(cache_mb)}")
        self.attr_name = attr_name
        self.symmetrize = truth(symmetrize, "symmetrize")
        self.weight_attr = weight_attr
        self.dtype = floating(dtype)
        self.cache = EncodingCache(int(cache_mb * 1e6))

    def forward(self, data: Any) -> Any:
        """Add the encoding to a ``Data`` or a ``Batch``, which has been copied already."""
        if not isinstance(data, Data):
            raise InputError(
                f"{type(self).__name__} takes a Data or a Batch of them, found "
                f"{type(data).__name__}; for several types of nodes or edges pass "
                "data.to_homogeneous()"
            )
        is_batch = isinstance(data, Batch)
        needs = (self.weight_attr, self.recipe.needs_features)
        lists = read_batch(data, *needs) if is_batch else self._read([data])
        encodings = self._encodings(lists, n_jobs=1)
        return self._with(data, encodings[0] if len(encodings) == 1 else torch.cat(encodings))

    def transform_all(self, graphs: Iterable[Any], n_jobs: int = -1) -> list[Any]:
        """Encode many ``Data`` together and give copies that have their encodings.

        Parameters
        ----------
        graphs
            A list or a PyG data set.
        n_jobs
            Threads; -1 for all cores.

        Examples
        --------
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> edge = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
        >>> [data.grf_pe.shape for data in AddGRFPE(dim=4).transform_all([edge, edge])]
        [torch.Size([2, 4]), torch.Size([2, 4])]
        """
        thread_count(n_jobs)
        kept = listed(graphs)
        for number, each in enumerate(kept):
            if not isinstance(each, Data) or isinstance(each, Batch):
                raise InputError(
                    f"graph {number} must be a Data, found {type(each).__name__}; grf_pe takes "
                    "other graphs"
                )
        encodings = self._encodings(self._read(kept), n_jobs)
        return [self._with(copy(each), pe) for each, pe in zip(kept, encodings, strict=True)]

    def _read(self, graphs: Sequence[Any]) -> list[EdgeList]:
        return read_graphs(graphs, self.weight_attr, self.recipe.needs_features)

    def _encodings(self, lists: Sequence[EdgeList], n_jobs: int) -> list[torch.Tensor]:
        """Encodings from the cache, and of the others together."""
        keys = [key_of(each) for each in lists]
        found = [self.cache.get(key) for key in keys]
        wanted = [number for number, pe in enumerate(found) if pe is None]
        if wanted:
            graphs = [lists[number] for number in wanted]
            try:
                made = self._encoded(graphs, n_jobs)
            except InputError:
                # Again with all of them, for a message that tells the right number.
                joined(lists, self.symmetrize)
                raise
            for number, pe in zip(wanted, made, strict=True):
                found[number] = pe
                self.cache.put(keys[number], pe)
        return found

    def _encoded(self, lists: Sequence[EdgeList], n_jobs: int) -> list[torch.Tensor]:
        """Encode graphs together; every tensor has memory of its own."""
        batch = joined(lists, self.symmetrize)
        features = joined_features(lists) if self.recipe.needs_features else None
        rows = torch.from_numpy(self.recipe.encode(batch, n_jobs, features)).to(self.dtype)
        if not rows.isfinite().all():
            raise InputError(
                f"encodings exceed the range of {self.dtype}: scale features and weights down"
            )
        return [rows[start:stop].clone() for start, stop in pairwise(batch.starts.tolist())]

    def _with(self, data: Any, encoding: torch.Tensor) -> Any:
        """Put an encoding into a graph, as a tensor of its own: the cache's stays as it is."""
        x = data.x if self.attr_name is None else None
        if x is None:
            data[self.attr_name or "x"] = encoding.to(_device(data), copy=True)
            return data
        if not x.is_floating_point():
            raise InputError(
                f"x holds {x.dtype}, to which encodings cannot be appended; make it floating-point "
                "first, or pass attr_name"
            )
        columns = x.view(-1, 1) if x.dim() == 1 else x
        if columns.dim() != 2 or len(columns) != len(encoding):
            raise InputError(
                f"x must have shape ({len(encoding)}, n) for encodings to be appended, found "
                f"{tuple(x.shape)}; pass attr_name"
            )
        data.x = torch.cat([columns, encoding.to(x.device, x.dtype)], dim=-1)
        return data

    def __repr__(self) -> str:
        recipe = {"kind": self.kind, **vars(self.recipe)}
        if (walks := recipe.pop("options", None)) is not None:
            for each in fields(walks):
                # Options that are as ever say nothing.
                if getattr(walks, each.name) != each.default:
                    recipe[each.name] = getattr(walks, each.name)
        names = ("attr_name", "symmetrize", "weight_attr", "dtype")
        recipe |= {name: getattr(self, name) for name in names}
        told = ", ".join(f"{name}={value!r}" for name, value in recipe.items())
        return f"{type(self).__name__}({told})"


def _device(graph: Any) -> Any:
    """Where the encoding of a graph belongs: beside its edges."""
    edges = graph.edge_index if isinstance(graph, Data) else None
    return torch.device("cpu") if edges is None else edges.device
