"""Dense blocks that stay on the workers between the factors of a chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from grfpp.distributed import tasks
from grfpp.distributed.cluster import Cluster
from grfpp.typing import FloatArray


class ClusterDense:
    """Rows of a dense matrix in blocks, each a future; `numpy.asarray` brings it here."""

    def __init__(self, cluster: Cluster, parts: Sequence[Any]) -> None:
        self._cluster = cluster
        self._parts = list(parts)

    @property
    def whole(self) -> Any:
        """One future of all rows: put together on one worker, from which others take it."""
        return self._cluster.submit(tasks.stack, self._parts)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return np.concatenate(self._cluster.gather(self._parts)).astype(
            np.float64 if dtype is None else dtype, copy=False
        )


def whole_of(cluster: Cluster, dense: Any) -> Any:
    """The future of a dense matrix, which is here or on the workers."""
    return dense.whole if isinstance(dense, ClusterDense) else cluster.put(np.asarray(dense))
