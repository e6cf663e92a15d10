"""How fast a machine is: a few constants, and a correction of each method by observed times."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from grfpp.graph import Graph
from grfpp.operators import thresholds


@dataclass(frozen=True)
class MachineCosts:
    """Seconds of the elementary operations of the methods.

    Examples
    --------
    >>> costs = MachineCosts()
    >>> costs.product(10_000, 1_000, 16) < 16 * costs.product(10_000, 1_000, 1)
    True
    """

    #: One step of an iteration, however small: Python and the library's checks.
    step: float = 1.2e-5
    #: One check of the error in Lanczos' method.
    check: float = 1.5e-4
    #: One entry of ``W`` times one number of a single column.
    narrow: float = 1.0e-9
    #: The same for each column of a wide block.
    wide: float = 3.5e-10
    #: As `narrow`, where blocks exceed the cache and each entry leads to another page.
    far_narrow: float = 2.0e-9
    #: As `wide`, where blocks exceed the cache and each entry leads to another page.
    far: float = 1.5e-9
    #: One number of one pass over a block in the cache.
    number: float = 2.5e-10
    #: One number of one pass over a block that exceeds the cache.
    far_number: float = 6.0e-10
    #: One multiplication with addition of dense matrices.
    dense: float = 2.0e-11
    #: All eigenvectors of ``n`` nodes: the factor of ``n²``.
    eigen_square: float = 5.0e-8
    #: All eigenvectors of ``n`` nodes: the factor of ``n³``.
    eigen_cube: float = 5.0e-11
    #: One step of a pooled walk, on all cores.
    walk: float = 3.0e-8

    def product(
        self,
        n_entries: float,
        n_nodes: float,
        width: float,
        passes: float = 3,
        scattered: float = 1.0,
    ) -> float:
        """A step of an iteration: a product with ``W``, and some passes over a block.

        `scattered` is the share of entries that lead to another page of memory (`scattering`).
        """
        # Interpolated between one column and sixteen, on a logarithmic scale.
        share = min(1.0, math.log2(max(width, 1)) / 4)
        entry = self.narrow * math.exp(share * math.log(self.wide / self.narrow))
        number = self.number
        if not stays_in_cache(n_nodes, width):
            far = self.far_narrow * math.exp(share * math.log(self.far / self.far_narrow))
            entry += scattered * max(far - entry, 0.0)
            number += max(self.far_number - self.number, 0.0) * (passes > 3)
        return self.step + width * (n_entries * entry + passes * n_nodes * number)


def stays_in_cache(n_nodes: float, width: float) -> bool:
    """Whether a block of `width` columns is still in the cache at the next step.

    Examples
    --------
    >>> stays_in_cache(1_000, 16), stays_in_cache(1_000_000, 1)
    (True, False)
    """
    return 8 * n_nodes * width <= thresholds.CACHE_BYTES


def scattering(graph: Graph) -> float:
    """The share of entries of ``W`` for which a product reads another page of memory.

    Near 0 on grids and meshes, whose neighbours have nearby indices; near 1 on random graphs, whose
    products are bound by the latency of memory.

    Examples
    --------
    >>> import networkx as nx
    >>> scattering(Graph(nx.path_graph(100_000))) < 0.1
    True
    """
    n, n_rows = graph.n_nodes, thresholds.SAMPLE_ROWS
    n_pages = n_entries = 0
    for start in np.linspace(0, max(0, n - n_rows), thresholds.N_SAMPLES).astype(np.int64):
        first, last = graph.indptr[[start, min(start + n_rows, n)]]
        # Rows of hubs have many entries, of which some suffice.
        columns = graph.indices[first : min(last, first + 64 * n_rows)]
        n_pages += len(np.unique(columns // thresholds.ROWS_PER_PAGE))
        n_entries += len(columns)
    return n_pages / max(n_entries, 1)


class Costs:
    """The machine's constants, with a correction for each method from observed times.

    Examples
    --------
    >>> costs = Costs()
    >>> costs.observe("dense", predicted=1.0, seconds=1.5)
    >>> 1 < costs.correction("dense") < 1.5
    True
    """

    def __init__(self, machine: MachineCosts | None = None, *, learns: bool = True) -> None:
        self.machine = machine or MachineCosts()
        #: Whether observed times change predictions; else these depend on the arguments alone.
        self.learns = learns
        self._corrections: dict[str, float] = {}

    def correction(self, method: str) -> float:
        """Factor of the predictions of a method."""
        return self._corrections.get(method, 1.0)

    def observe(self, method: str, predicted: float, seconds: float) -> None:
        """Move the correction towards the ratio of observed and predicted time.

        By a small step, since times are noisy; not at all unless `learns`.
        """
        if not (self.learns and predicted > 0 and seconds > 0):
            return
        bounds = 1 / thresholds.MAX_CORRECTION, thresholds.MAX_CORRECTION
        ratio = float(np.clip(seconds / predicted, *bounds))
        corrected = self.correction(method) * ratio**thresholds.LEARNING_RATE
        self._corrections[method] = float(np.clip(corrected, *bounds))


@lru_cache(maxsize=1)
def current_costs() -> Costs:
    """The costs of this process, which learn from all its products."""
    return Costs()
