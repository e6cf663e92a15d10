"""How fast this machine is: a few constants, measured once, and corrected by observed times."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from grfpp.graph import Graph
from grfpp.linalg.csr import CsrProduct

#: Version of the file: raised when the constants mean something else.
_VERSION = 2
#: Measured constants are trusted within this factor of the built-in values.
_MAX_DEVIATION = 100.0
#: Bytes of the cache of one core.
_CACHE_BYTES = 2**20
#: Exponent of an observed ratio of times in the correction, and bound of the correction.
_LEARNING_RATE, _MAX_CORRECTION = 0.2, 2.0
#: Rows of a block of 16 columns in a page of memory.
_ROWS_PER_PAGE = 32
#: Successive rows of one sample of `scattering`, and the number of samples.
_SAMPLE_ROWS, _N_SAMPLES = 128, 16
#: Entries of a row of the random graphs that are timed.
_TIMED_DEGREE = 8


@dataclass(frozen=True)
class MachineCosts:
    """Seconds of the pieces that methods are made of.

    Examples
    --------
    >>> costs = MachineCosts()
    >>> costs.product(10_000, 1_000, 16) < 16 * costs.product(10_000, 1_000, 1)
    True
    """

    #: One step of an iteration, however small: Python and the library's checks.
    step: float = 1.2e-5
    #: One check of Lanczos' method.
    check: float = 1.5e-4
    #: One entry of ``W`` times one number, for one column and in wide blocks; the same where blocks
    #: exceed the cache and each entry leads to another page.
    narrow: float = 1.0e-9
    wide: float = 3.5e-10
    far_narrow: float = 2.0e-9
    far: float = 1.5e-9
    #: One number of one pass over a block, in the cache and beyond.
    number: float = 2.5e-10
    far_number: float = 6.0e-10
    #: One multiplication with addition of dense matrices.
    dense: float = 2.0e-11
    #: All eigenvectors of ``n`` nodes: times ``n²`` and times ``n³``.
    eigen_square: float = 5.0e-8
    eigen_cube: float = 5.0e-11
    #: One step of a pooled walk, on all cores.
    walk: float = 3.0e-8

    @classmethod
    def read(cls, path: Path) -> Self:
        """Constants from a file; the built-in ones where there are none that can be trusted."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            values = cls(**{key: float(value) for key, value in content["seconds"].items()})
            ratios = [value / asdict(cls())[key] for key, value in asdict(values).items()]
            plausible = all(1 / _MAX_DEVIATION <= ratio <= _MAX_DEVIATION for ratio in ratios)
            if plausible and content["version"] == _VERSION:
                return values
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            pass
        return cls()

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
    return 8 * n_nodes * width <= _CACHE_BYTES


def scattering(graph: Graph) -> float:
    """The share of entries for which a product goes to another page of memory.

    Near 0 on grids and meshes, whose rows follow each other as their neighbours do, near 1 where
    neighbours are drawn at random: there a product waits for memory.

    Examples
    --------
    >>> import networkx as nx
    >>> scattering(Graph(nx.path_graph(100_000))) < 0.1
    True
    """
    n = graph.n_nodes
    n_pages = n_entries = 0
    for start in np.linspace(0, max(0, n - _SAMPLE_ROWS), _N_SAMPLES).astype(np.int64):
        first, last = graph.indptr[[start, min(start + _SAMPLE_ROWS, n)]]
        # Rows of hubs have many entries; some of them suffice.
        columns = graph.indices[first : min(last, first + 64 * _SAMPLE_ROWS)]
        n_pages += len(np.unique(columns // _ROWS_PER_PAGE))
        n_entries += len(columns)
    return n_pages / max(n_entries, 1)


class Costs:
    """The machine's constants, with a correction for each method from observed times.

    Examples
    --------
    >>> costs = Costs(MachineCosts())
    >>> costs.observe("dense", predicted=1.0, seconds=1.5)
    >>> 1 < costs.correction("dense") < 1.5
    True
    """

    def __init__(self, machine: MachineCosts, *, learns: bool = True) -> None:
        self.machine = machine
        self._learns = learns
        self._corrections: dict[str, float] = {}

    def correction(self, method: str) -> float:
        """Factor of the predictions of a method."""
        return self._corrections.get(method, 1.0)

    def observe(self, method: str, predicted: float, seconds: float) -> None:
        """Learn from a product: a little, since machines are disturbed.

        Not at all where the same call is to give the same numbers.
        """
        if not (self._learns and predicted > 0 and seconds > 0):
            return
        least, most = 1 / _MAX_CORRECTION, _MAX_CORRECTION
        ratio = min(max(seconds / predicted, least), most)
        corrected = self.correction(method) * ratio**_LEARNING_RATE
        self._corrections[method] = min(max(corrected, least), most)


def costs_file() -> Path:
    """Where the constants of this machine are kept."""
    from grfpp.datasets.fetch import cache_folder

    return cache_folder() / "machine.json"


@lru_cache(maxsize=1)
def current_costs() -> Costs:
    """Those of this process: as measured on this machine, or the built-in ones."""
    try:
        return Costs(MachineCosts.read(costs_file()))
    except (OSError, RuntimeError):  # no home
        return Costs(MachineCosts())


def measure_and_keep() -> bool:
    """Measure this machine, use the constants and write them to a file; whether that was done."""
    from grfpp.io.atomic import atomic_write

    path, machine = costs_file(), measure_costs()
    current_costs().machine = machine
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as stream:
            content = {"version": _VERSION, "seconds": asdict(machine)}
            stream.write(json.dumps(content, indent=1).encode())
    except (OSError, ValueError):
        return False
    return True


def measure_costs(seconds: float = 0.3) -> MachineCosts:
    """Time each piece for about so long; the shortest run counts.

    Examples
    --------
    >>> measure_costs(1e-4).step > 0
    True
    """
    from grfpp.estimate.sampling import sample
    from grfpp.kernels import Diffusion
    from grfpp.linalg import loops  # noqa: F401 - large products are compiled from here on
    from grfpp.linalg.lanczos import function_times

    rng = np.random.default_rng(0)

    def best(work: Callable[[], Any]) -> float:
        runs: list[float] = []
        while not runs or (sum(runs) < seconds and len(runs) < 50):
            began = perf_counter()
            work()
            runs.append(perf_counter() - began)
        return min(runs)

    def chebyshev_step(n: int, width: int) -> float:
        product = CsrProduct(_random_graph(n, rng))
        current, previous, total = rng.standard_normal((3, n, width))
        options: Any = {"base": previous, "keep": -1.0, "out": previous, "total": total}
        return best(lambda: product(current, scale=2.0, weight=0.5, **options))

    def entry(n: int, width: int) -> float:
        taken = chebyshev_step(n, width) - step
        return max(taken / (n * width) - 3 * number, 0.1 * number) / _TIMED_DEGREE

    def addition(size: int) -> float:
        block = rng.standard_normal(size)
        other = block.copy()
        return best(lambda: np.add(block, other, out=other)) / size

    step = 2 * chebyshev_step(4, 1)  # as much again around it
    number = addition(2**18)
    narrow = entry(8_000, 1)
    square = rng.standard_normal((768, 768))
    symmetric = square + square.T
    few, many = 128, 768
    eigen_few = best(lambda: np.linalg.eigh(symmetric[:few, :few]))
    eigen_many = best(lambda: np.linalg.eigh(symmetric))
    path = sp.csr_array(np.diag(np.ones(15), 1) + np.diag(np.ones(15), -1))

    random_walk = Graph(_random_graph(4000, rng), directed=True).normalized("rw")
    n_steps = 4000 * sample(random_walk, Diffusion(1.0), seed=0).meta["steps_per_node"]

    def lanczos() -> None:
        function_times(lambda v: path @ v, lambda x: np.exp(3 * x), 2.0, np.eye(16, 1), 1e-3, 10)

    return MachineCosts(
        step=step,
        check=best(lanczos) / 6,
        narrow=narrow,
        wide=min(entry(8_000, 16), narrow),
        far_narrow=entry(250_000, 1),
        far=entry(250_000, 16),
        number=number,
        far_number=addition(2**22),
        dense=best(lambda: square @ square) / 768**3,
        eigen_square=eigen_few / few**2,
        eigen_cube=max((eigen_many - eigen_few * (many / few) ** 2) / many**3, 1e-12),
        walk=best(lambda: sample(random_walk, Diffusion(1.0), seed=0)) / n_steps,
    )


def _random_graph(n: int, rng: np.random.Generator) -> sp.csr_array:
    n_entries = n * _TIMED_DEGREE
    indices = rng.integers(0, n, n_entries, dtype=np.int32)
    indptr = np.arange(0, n_entries + 1, _TIMED_DEGREE, dtype=np.int32)
    return sp.csr_array((np.full(n_entries, 1 / _TIMED_DEGREE), indices, indptr), shape=(n, n))
