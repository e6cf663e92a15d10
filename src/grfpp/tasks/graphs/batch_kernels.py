"""What transformers of lists of graphs share: their parameters, and the kernels of a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.arguments import whole
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.options import WalkOptions
from grfpp.parallel import in_order
from grfpp.tasks.graphs.labelled import all_labels, plain_graphs
from grfpp.tasks.kernels import (
    advice_for_tasks,
    kernel_and_method,
    law_of,
    settled_seed,
    squared_width,
    threads_of,
)
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.batch import BatchWalks, GraphBatch


@dataclass(frozen=True, eq=False)
class BatchKernels:
    """The kernels of many graphs, exact or to be estimated by walks.

    Attributes
    ----------
    batch
        The graphs.
    W
        Their normalised weights, ``W = σ² D^-1/2 A D^-1/2``.
    kernel
        The function of ``W``.
    walks
        How it is estimated; ``None`` where it is exact.
    n_threads
        That work on it.
    """

    batch: GraphBatch
    W: Graph
    kernel: Kernel
    walks: BatchWalks | None
    n_threads: int

    @classmethod
    def of(cls, estimator: Any, graphs: Any) -> BatchKernels:
        """As the parameters of a transformer want it; its `seed_` is the seed."""
        batch = graph_batch(estimator, graphs)
        kernel, how = kernel_and_method(estimator.kernel, estimator.estimate)
        W = batch.graph.normalized("sym", squared_width(estimator.sigma))
        walks = None
        with advice_for_tasks():
            if how == "exact":
                kernel.check_converges(W)
            else:
                options = WalkOptions.of(
                    degree=estimator.degree,
                    n_walks=estimator.n_walks,
                    termination=estimator.termination,
                    seed=estimator.seed_,
                )
                walks = BatchWalks.of(batch, W, kernel, options)
        return cls(batch, W, kernel, walks, threads_of(estimator.n_jobs))

    def by_tasks(self, work: Callable[[range], FloatArray]) -> FloatArray:
        """What `work` makes of some graphs at a time, a row a graph, on all threads."""
        return np.concatenate(list(in_order(work, self.batch.tasks(), self.n_threads)))

    def nodes(self, graphs: range) -> slice:
        """The nodes of consecutive graphs."""
        return slice(*self.batch.starts[[graphs.start, graphs.stop]].tolist())

    def starts(self, graphs: range) -> IntArray:
        """Where each of consecutive graphs begins, counted from the first, and where they end."""
        starts = self.batch.starts[graphs.start : graphs.stop + 1]
        return np.asarray(starts - starts[0])

    def weights(self, graphs: range) -> sp.csr_array:
        """The block of consecutive graphs in the weight matrix."""
        nodes = self.nodes(graphs)
        return self.W.adjacency[nodes, nodes]


def graph_batch(estimator: Any, graphs: Any) -> GraphBatch:
    """The graphs side by side, without the edges that `restrict` takes out."""
    if estimator.restrict not in (None, "same-label"):
        raise InputError(f"restrict must be 'same-label' or None, not {estimator.restrict!r}")
    batch = GraphBatch.of(plain_graphs(graphs))
    if estimator.restrict is None:
        return batch
    return batch.within(all_labels(graphs, "restrict='same-label'"))


def check_parameters(estimator: Any) -> int:
    """Refuse parameters that cannot be used, and give the seed of the walks."""
    whole(estimator.degree, "degree", 1)
    whole(estimator.n_walks, "n_walks", 1)
    squared_width(estimator.sigma)
    kernel_and_method(estimator.kernel, estimator.estimate)
    law_of(estimator.termination)
    threads_of(estimator.n_jobs)
    return settled_seed(estimator.random_state)


def graph_list_tags(tags: Any) -> Any:
    """Tell scikit-learn that samples are graphs, not rows of an array."""
    tags.input_tags.two_d_array = False
    return tags
