"""How positional encodings are made of walks: features of every factor, projected and summed.

With ``factors``, the recipe is the one of the paper's appendix on graph transformers. A stitching
degree ``l`` gives ``l`` independent sets of sparse features, the left factor of every pair, each
with mean ``F = h(W)``, ``h = g^(1/2l)``. Set ``s`` is projected by a Gaussian matrix ``G_s`` with
entries ``N(0, 1/dim)``, and the sum ``Σ_s K_s G_s`` is the encoding: the order of the sets does
not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from grfpp.arguments import one_of, whole
from grfpp.chain import Chain
from grfpp.factors import StoredFactor
from grfpp.kernels import Kernel, kernel_of
from grfpp.memory import require_bytes
from grfpp.options import MAX_DEGREE, OF_ESTIMATES, WalkOptions
from grfpp.parallel import in_order, thread_count
from grfpp.torch.encodings.gaussians import gaussian_rows
from grfpp.torch.encodings.principal_axes import on_principal_axes
from grfpp.torch.encodings.series import scale_of
from grfpp.typing import FloatArray
from grfpp.walks.batch import TASK_NODES, BatchWalks, GraphBatch, alike
from grfpp.walks.normalized import check_normalized
from grfpp.walks.streams import factor_key, mix64

Features = Literal["factors", "stitched"]
Projection = Literal["graph", "shared"]
Rotation = Literal["none", "principal"]

#: Numbers of the projections' streams; those below are the factors'.
_FIRST_PROJECTION = 2 * MAX_DEGREE


@dataclass(frozen=True)
class EncodingRecipe:
    """Everything that an encoding depends on, beside the graph; see `grfpp.torch.grf_pe`."""

    dim: int
    kernel: Kernel
    scale: float
    features: Features
    projection: Projection
    rotation: Rotation
    options: WalkOptions

    #: Features of the nodes are no part of it.
    needs_features = False

    @classmethod
    def of(
        cls,
        dim: int = 8,
        *,
        kernel: Kernel | str = "diffusion",
        scale: float = 1.0,
        features: Features = "factors",
        projection: Projection = "graph",
        rotation: Rotation = "none",
        **walks: Any,
    ) -> EncodingRecipe:
        """Check what a user asks for, before any graph is seen."""
        recipe = cls(
            dim=whole(dim, "dim", 1),
            kernel=kernel_of(kernel),
            scale=scale_of(scale),
            features=one_of(features, "features", get_args(Features)),
            projection=one_of(projection, "projection", get_args(Projection)),
            rotation=one_of(rotation, "rotation", get_args(Rotation)),
            options=WalkOptions.of(without=(*OF_ESTIMATES, "n_jobs"), **walks),
        )
        check_normalized(recipe.kernel, recipe.options, recipe.scale)
        return recipe

    def encode(
        self, batch: GraphBatch, n_jobs: int = -1, features: FloatArray | None = None
    ) -> FloatArray:
        """Encodings of all nodes of a batch, a row a node.

        The rows of a graph are the same to the last bit in every batch and for every number of
        threads.
        """
        n_threads = thread_count(n_jobs)
        # The result, its parts and in another type; and what a task has on its way.
        n, in_task = batch.graph.n_nodes, min(batch.graph.n_nodes, TASK_NODES)
        require_bytes(
            8 * self.dim * (3 * n + 4 * n_threads * in_task),
            f"encodings of {self.dim} numbers for {n} nodes",
        )
        result = np.empty((batch.graph.n_nodes, self.dim))
        for nodes, part in alike(batch):
            walks, tasks = self._walks(part), part.tasks()
            parts = in_order(partial(self._encode, walks), tasks, min(n_threads, len(tasks)))
            result[nodes] = np.concatenate(list(parts))
        return result

    def _walks(self, batch: GraphBatch) -> BatchWalks:
        return BatchWalks.normalized(batch, self.kernel, self.options, self.scale)

    def _encode(self, walks: BatchWalks, graphs: range) -> FloatArray:
        starts = walks.batch.starts[graphs.start : graphs.stop + 1]
        encoding = np.zeros((int(starts[-1] - starts[0]), self.dim))
        for number, chain in enumerate(self._feature_chains(walks, graphs)):
            encoding += chain @ self._projection(walks.batch, graphs, number)
        return on_principal_axes(encoding, starts) if self.rotation == "principal" else encoding

    def _feature_chains(self, walks: BatchWalks, graphs: range) -> Iterator[Chain]:
        """The sets of features, on one thread each: threads have graphs of their own."""
        if self.features == "factors":
            for number in range(0, 2 * self.options.stitching_degree, 2):
                yield Chain.by_rows([StoredFactor(walks.factor(graphs, number))], n_jobs=1)
        else:
            factors = [StoredFactor(each) for each in walks.factors(graphs)]
            yield from Chain.stitched(factors, n_jobs=1).halves()

    def _projection(self, batch: GraphBatch, graphs: range, number: int) -> FloatArray:
        """``G_s`` of consecutive graphs, one below the other."""
        sizes = batch.sizes[graphs.start : graphs.stop]
        key = np.uint64(factor_key(self.options.seed, _FIRST_PROJECTION + number))
        words = np.array(batch.words[graphs.start : graphs.stop], dtype=np.uint64)
        if self.projection == "shared":
            words = np.zeros_like(words)
        nodes = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows = gaussian_rows(np.repeat(mix64(words ^ key), sizes), nodes, self.dim)
        return np.asarray(rows / np.sqrt(self.dim))
