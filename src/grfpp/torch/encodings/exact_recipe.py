"""What recipes without random numbers share: graphs in tasks, each as if it were alone."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from grfpp.memory import require_bytes
from grfpp.parallel import in_order, thread_count
from grfpp.torch.encodings.series import NormalizedBatch
from grfpp.typing import FloatArray
from grfpp.walks.batch import TASK_NODES, GraphBatch


class ExactRecipe(ABC):
    """An encoding that is a function of the graph and of nothing else.

    Nodes that are numbered otherwise have the same rows in the new order, to rounding.
    """

    scale: float
    #: Whether features of the nodes are a part of it.
    needs_features = False

    @abstractmethod
    def width(self, n_features: int) -> int:
        """Numbers a node."""

    @abstractmethod
    def rows(self, graphs: NormalizedBatch) -> FloatArray:
        """Encodings of all nodes of some graphs, on one thread."""

    def encode(
        self, batch: GraphBatch, n_jobs: int = -1, features: FloatArray | None = None
    ) -> FloatArray:
        """Encodings of all nodes of a batch, a row a node.

        The rows of a graph are the same to the last bit in every batch and for every number of
        threads.
        """
        n_threads = thread_count(n_jobs)
        n, width = batch.graph.n_nodes, self.width(0 if features is None else features.shape[1])
        in_task = min(n, TASK_NODES)
        require_bytes(
            8 * width * (3 * n + 6 * n_threads * in_task),
            f"encodings of {width} numbers for {n} nodes",
        )
        # Numbers beyond float64 are refused by whoever asked.
        with np.errstate(over="ignore", invalid="ignore"):
            normalized = NormalizedBatch.of(batch, self.scale, features)

        def rows(graphs: range) -> FloatArray:
            with np.errstate(over="ignore", invalid="ignore"):
                return self.rows(normalized.part(graphs))

        tasks = batch.tasks()
        return np.concatenate(list(in_order(rows, tasks, min(n_threads, len(tasks)))))
