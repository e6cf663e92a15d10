"""How positional encodings are made of walks: features of every factor, projected and summed.

With ``factors``, the recipe is the one of the paper's appendix on graph transformers. A stitching
degree ``l`` gives ``l`` independent sets of sparse features, the left factor of every pair, each
with mean ``F = h(W)``, ``h = g^(1/2l)``. Set ``s`` is projected by a Gaussian matrix ``G_s`` with
entries ``N(0, 1/dim)``, and the sum ``Σ_s K_s G_s`` is the encoding: the order of the sets does
not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from grfpp.arguments import positive, whole
from grfpp.errors import InputError
from grfpp.kernels import Kernel, kernel_of
from grfpp.options import MAX_DEGREE, WalkOptions, drawn_seed, law_of
from grfpp.parallel import in_order, thread_count
from grfpp.termination import Termination
from grfpp.torch.encodings.gaussians import gaussian_rows, mix64
from grfpp.torch.encodings.principal_axes import on_principal_axes
from grfpp.typing import FloatArray
from grfpp.walks.batch import BatchWalks, GraphBatch, alike
from grfpp.walks.streams import factor_key

Features = Literal["factors", "stitched"]
Projection = Literal["graph", "shared"]
Rotation = Literal["none", "principal"]

#: Numbers of the projections' streams; those below are the factors'.
_FIRST_PROJECTION = 2 * MAX_DEGREE


#: So large a scale no power series survives.
_MOST_SCALE = 1e100


@dataclass(frozen=True)
class EncodingRecipe:
    """Everything that an encoding depends on, beside the graph; see `grfpp.torch.grf_pe`."""

    dim: int
    degree: int
    n_walks: int
    kernel: Kernel
    termination: Termination
    scale: float
    seed: int
    features: Features
    projection: Projection
    rotation: Rotation

    @classmethod
    def of(
        cls,
        dim: int,
        degree: int,
        n_walks: int,
        kernel: Kernel | str,
        termination: Termination | str,
        scale: float,
        seed: int | None,
        features: Features,
        projection: Projection,
        rotation: Rotation,
    ) -> EncodingRecipe:
        """Check what a user asks for, before any graph is seen."""
        for name, value, known in (
            ("features", features, get_args(Features)),
            ("projection", projection, get_args(Projection)),
            ("rotation", rotation, get_args(Rotation)),
        ):
            if value not in known:
                raise InputError(f"{name} must be {' or '.join(map(repr, known))}, not {value!r}")
        recipe = cls(
            dim=whole(dim, "dim", 1),
            degree=whole(degree, "degree", 1),
            n_walks=whole(n_walks, "n_walks", 1),
            kernel=kernel_of(kernel),
            termination=law_of(termination),
            scale=_scale(scale),
            seed=drawn_seed() if seed is None else whole(seed, "seed", 0),
            features=features,
            projection=projection,
            rotation=rotation,
        )
        # An edge has the spectral radius of every graph: what cannot work is refused here.
        recipe._walks(GraphBatch.of([[[0, 1], [1, 0]]]))
        return recipe

    def encode(self, batch: GraphBatch, n_jobs: int = -1) -> FloatArray:
        """Encodings of all nodes of a batch, a row a node.

        The rows of a graph are the same to the last bit in every batch and for every number of
        threads.
        """
        n_threads = thread_count(n_jobs)
        result = np.empty((batch.graph.n_nodes, self.dim))
        for nodes, part in alike(batch):
            walks, tasks = self._walks(part), part.tasks()
            parts = in_order(partial(self._encode, walks), tasks, min(n_threads, len(tasks)))
            result[nodes] = np.concatenate(list(parts))
        return result

    def _walks(self, batch: GraphBatch) -> BatchWalks:
        options = WalkOptions(
            degree=self.degree, n_walks=self.n_walks, termination=self.termination, seed=self.seed
        )
        return BatchWalks.normalized(batch, self.kernel, options, self.scale)

    def _encode(self, walks: BatchWalks, graphs: range) -> FloatArray:
        batch, degree = walks.batch, self.degree
        starts = batch.starts[graphs.start : graphs.stop + 1]
        if self.features == "factors":
            chains = [[walks.factor(graphs, 2 * pair)] for pair in range(degree)]
        else:
            factors = [walks.factor(graphs, number) for number in range(2 * degree)]
            left = [K if number % 2 == 0 else K.T for number, K in enumerate(factors[:degree])]
            right = [
                K.T if number % 2 == 0 else K
                for number, K in enumerate(factors[degree:], start=degree)
            ]
            chains = [left, right[::-1]]
        encoding = np.zeros((int(starts[-1] - starts[0]), self.dim))
        for number, chain in enumerate(chains):
            encoding += _product(chain, self._projection(batch, graphs, number))
        return on_principal_axes(encoding, starts) if self.rotation == "principal" else encoding

    def _projection(self, batch: GraphBatch, graphs: range, number: int) -> FloatArray:
        """``G_s`` of consecutive graphs, one below the other."""
        sizes = batch.sizes[graphs.start : graphs.stop]
        key = np.uint64(factor_key(self.seed, _FIRST_PROJECTION + number))
        words = np.array(batch.words[graphs.start : graphs.stop], dtype=np.uint64)
        if self.projection == "shared":
            words = np.zeros_like(words)
        nodes = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows = gaussian_rows(np.repeat(mix64(words ^ key), sizes), nodes, self.dim)
        return np.asarray(rows / np.sqrt(self.dim))


def _product(chain: list[Any], dense: FloatArray) -> FloatArray:
    """Multiply from the right, so that everything stays as narrow as the projection."""
    for matrix in reversed(chain):
        dense = matrix @ dense
    return dense


def _scale(scale: float) -> float:
    found = positive(scale, "scale")
    if found > _MOST_SCALE:
        raise InputError(f"scale must be at most {_MOST_SCALE:g}, found {found:g}")
    return found
