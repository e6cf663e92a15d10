"""What transformers of lists of graphs share: their parameters, and the kernels of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin

from grfpp.arguments import one_of
from grfpp.chain import Chain
from grfpp.factors import StoredFactor
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.operators import advice_by_parameters
from grfpp.parallel import in_order, thread_count
from grfpp.tasks.graphs.labelled import all_labels, plain_graphs
from grfpp.tasks.parameters import KernelParameters
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.batch import BatchWalks, GraphBatch


@dataclass(eq=False, repr=False)
class GraphListTransformer(KernelParameters, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # untyped base
    """Transformers whose samples are graphs: parameters about their kernels."""

    restrict: Literal["same-label"] | None = field(default=None, kw_only=True)

    def _batch(self, graphs: Any) -> GraphBatch:
        """The graphs side by side, without the edges that `restrict` takes out."""
        one_of(self.restrict, "restrict", ("same-label", None))
        batch = GraphBatch.of(plain_graphs(graphs))
        if self.restrict is None:
            return batch
        return batch.within(all_labels(graphs, "restrict='same-label'"))

    def _kernels(self, graphs: Any) -> BatchKernels:
        """Their kernels, as they were chosen in `fit`."""
        choice, batch = self._choice, self._batch(graphs)
        W, walks = choice.weights(batch.graph), None
        with advice_by_parameters():
            if choice.is_exact:
                choice.kernel.check_converges(W)
            else:
                walks = BatchWalks.of(batch, W, choice.kernel, choice.options)
        return BatchKernels(batch, W, choice.kernel, walks, thread_count(choice.options.n_jobs))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags


@dataclass(frozen=True, eq=False)
class BatchKernels:
    """The kernels of many graphs, exact or to be estimated by walks.

    Attributes
    ----------
    batch
        The graphs.
    W
        Their normalised weights, ``W = scale · D^-1/2 A D^-1/2``.
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


def stored_chain(factors: Sequence[sp.csr_array]) -> Chain:
    """``F_1 F_2ᵀ F_3 F_4ᵀ …`` of factors in memory, on one thread: the others have other graphs."""
    return Chain.stitched([StoredFactor(each) for each in factors], n_jobs=1)
