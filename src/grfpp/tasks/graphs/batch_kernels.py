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
from grfpp.operators import advice_by_parameters
from grfpp.parallel import in_order, thread_count
from grfpp.tasks.graphs.labelled import all_labels, plain_graphs
from grfpp.tasks.kernels import KernelParameters
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.batch import BatchWalks, GraphBatch


class GraphListEstimator(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # untyped base
    """What scikit-learn is told of transformers whose samples are graphs."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags


@dataclass(eq=False, repr=False)
class GraphListTransformer(KernelParameters, GraphListEstimator):
    """Transformers whose samples are graphs: parameters about their kernels."""

    restrict: Literal["same-label"] | None = field(default=None, kw_only=True)

    def _batch(self, graphs: Any) -> GraphBatch:
        """The graphs side by side, without the edges that `restrict` takes out."""
        one_of(self.restrict, "restrict", ("same-label", None))
        batch = GraphBatch.of(plain_graphs(graphs))
        if self.restrict is None:
            return batch
        return batch.within(all_labels(graphs, "restrict='same-label'"))

    def _by_parts(
        self, batch: GraphBatch, features: Callable[[Any, slice, IntArray], FloatArray]
    ) -> FloatArray:
        """Features of graphs, a row a graph, by all threads.

        They are a function of some consecutive graphs: of the factors of their estimated kernels
        or, where kernels are exact, of their weights, block-diagonal in both cases; of which nodes
        of all graphs are theirs; and of where each begins, counted from the first of them, and
        the last ends.
        """
        choice = self._choice
        W, walks = choice.weights(batch.graph), None
        with advice_by_parameters():
            if choice.is_exact:
                choice.kernel.check_converges(W)
            else:
                walks = BatchWalks.of(batch, W, choice.kernel, choice.options)

        def work(part: range) -> FloatArray:
            starts = batch.starts[part.start : part.stop + 1]
            nodes = slice(int(starts[0]), int(starts[-1]))
            matrices = W.adjacency[nodes, nodes] if walks is None else walks.factors(part)
            return features(matrices, nodes, starts - starts[0])

        return np.concatenate(
            list(in_order(work, batch.tasks(), thread_count(choice.options.n_jobs)))
        )


def stored_chain(factors: Sequence[sp.csr_array]) -> Chain:
    """``F_1 F_2ᵀ F_3 F_4ᵀ …`` of factors in memory, on one thread: the others have other graphs."""
    return Chain.stitched([StoredFactor(each) for each in factors], n_jobs=1)
