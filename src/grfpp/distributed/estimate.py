"""Kernel estimates whose factors are stored on a cluster in blocks of rows: `sample`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import scipy.sparse as sp

from grfpp._checks import one_of
from grfpp._memory import readable_bytes, require_bytes
from grfpp.distributed import tasks
from grfpp.distributed.cluster import Cluster
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.estimate.batches import Backend
from grfpp.estimate.chain import Chain, require_features, row_products
from grfpp.estimate.factor import Factor
from grfpp.estimate.sampling import sample_estimate
from grfpp.io.atomic import atomic_folder
from grfpp.io.shards import HEADER, write_columns, write_header
from grfpp.kernels import Kernel
from grfpp.linalg.csr import Block, GrowingMatrix, stack_rows, times
from grfpp.options import Degree, WalkOptions
from grfpp.termination import Termination
from grfpp.typing import FloatArray, IntArray
from grfpp.walks import WalkPlan
from grfpp.walks.sampling import Progress, expected_entries, factor_bytes, row_blocks

#: Share of the workers' memory that factors may take: beyond it Dask writes to disk.
_MEMORY_SHARE = 0.6
#: Largest number of column ranges whose entries are counted, which bounds the histograms' size.
_MAX_COLUMN_BINS = 1024
#: Parts of a transposed factor for each thread of the cluster, for an even load.
_PARTS_PER_THREAD = 2


@dataclass(eq=False)
class ClusterDense:
    """Rows of a dense matrix in blocks, each a future; `numpy.asarray` fetches it."""

    cluster: Cluster
    parts: list[Any]

    def whole(self) -> Any:
        """One future of all rows, concatenated on one worker, from which the others fetch them."""
        return self.cluster.submit(np.concatenate, self.parts)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        rows = np.concatenate(self.cluster.gather(self.parts))
        return rows.astype(np.float64 if dtype is None else dtype, copy=False)


@dataclass(eq=False)
class ClusterFactor(Factor):
    """A factor in blocks of rows, each a future that stays on its worker.

    A product is one task per block, without partial sums: vectors are sent, factors are not. The
    transposed factor is a second set of blocks, which the workers make when it is first needed. The
    entries of its rows are in the order of their sources, so that its products are summed in the
    order in which one machine sums them.

    Parameters
    ----------
    cluster
        The workers that hold the blocks.
    ranges
        The rows of each block, in order.
    make
        Returns the futures of several sets of rows, each a range or an array of nodes.
    """

    cluster: Cluster
    ranges: list[range]
    dtype: np.dtype[Any]
    make: Callable[[list[Any]], list[Any]]

    @property
    def n_nodes(self) -> int:
        """Number of rows and of columns."""
        return self.ranges[-1].stop

    @cached_property
    def blocks(self) -> list[Any]:
        """Futures of the blocks of rows."""
        return self.make(self.ranges)

    def futures(self, rows: list[Any]) -> list[Any]:
        """Futures of several sets of rows."""
        return self.blocks if rows is self.ranges else self.make(rows)

    @cached_property
    def _transposed(self) -> tuple[IntArray, list[Any]]:
        """The columns at which the transpose is cut, and the futures of its blocks."""
        cluster, n, blocks = self.cluster, self.n_nodes, self.blocks
        # Four or more parts, for clusters that grow.
        n_parts = min(n, len(blocks), max(4, _PARTS_PER_THREAD * cluster.n_threads))
        bins = np.unique(np.linspace(0, n, min(n, _MAX_COLUMN_BINS) + 1).astype(np.int64))
        counts = cluster.gather(cluster.map_colocated(tasks.count_columns, blocks, bins))
        edges = _balanced(bins, np.sum(counts, axis=0), n_parts)
        split = cluster.map_colocated(tasks.split_columns, blocks, edges)
        by_part = [cluster.map(operator.getitem, split, part) for part in range(len(edges) - 1)]
        parts = cluster.map(tasks.join_transposed, by_part)
        cluster.wait(parts)  # products run on the workers that hold them
        return edges, parts

    def sides(self, *, transposed: bool) -> tuple[IntArray, list[Any]]:
        """The rows at which the factor or its transpose is cut, and the futures of the blocks."""
        if transposed:
            return self._transposed
        return np.array([0, *(rows.stop for rows in self.ranges)], dtype=np.int64), self.blocks

    def matmat(self, dense: Any, n_jobs: int, *, transposed: bool = False) -> FloatArray:
        """``factor @ dense``, which stays on the workers until it is needed here."""
        cluster, (_, blocks) = self.cluster, self.sides(transposed=transposed)
        block = dense.whole() if isinstance(dense, ClusterDense) else cluster.put(np.asarray(dense))
        parts = cluster.map_colocated(times, blocks, block, 1)
        return cast(FloatArray, ClusterDense(cluster, parts))

    def rows(self, nodes: IntArray, n_jobs: int, *, transposed: bool = False) -> sp.csr_array:
        """Selected rows; if the blocks have not been made yet, only these rows are sampled."""
        if not len(nodes):
            return sp.csr_array((0, self.n_nodes), dtype=self.dtype)
        if not transposed and "blocks" not in vars(self):
            return sp.csr_array(*self.cluster.gather(self.make([nodes])))
        edges, blocks = self.sides(transposed=transposed)
        order = np.argsort(nodes, kind="stable")
        ordered = nodes[order]
        cuts = np.searchsorted(ordered, edges)
        requests = [
            (block, ordered[start:stop] - edge)
            for block, edge, (start, stop) in zip(blocks, edges[:-1], pairwise(cuts), strict=True)
            if stop > start
        ]
        parts, indices = map(list, zip(*requests, strict=True))
        selected = self.cluster.map_colocated(operator.getitem, parts, indices)
        return sp.csr_array(stack_rows(self.cluster.gather(selected))[np.argsort(order)])

    @cached_property
    def n_entries(self) -> int:
        """Number of entries of all rows."""
        counts = self.cluster.map_colocated(tasks.count_entries, self.blocks)
        return sum(self.cluster.gather(counts))

    def csr_bytes(self, *, transposed: bool = False) -> int:
        """Memory of all rows in this process, in bytes."""
        return factor_bytes(self.n_entries, self.n_nodes, self.dtype)

    def to_csr(self, n_jobs: int = -1, *, transposed: bool = False) -> sp.csr_array:
        """The factor, fetched."""
        require_bytes(self.csr_bytes(), f"a factor of {self.n_nodes} nodes")
        _, blocks = self.sides(transposed=transposed)
        return stacked(self.cluster, blocks, self.n_nodes, self.n_entries)


def stacked(cluster: Cluster, blocks: Sequence[Any], n_rows: int, n_entries: int) -> sp.csr_array:
    """All blocks of rows as one matrix in this process; a few blocks are fetched at a time."""
    matrix: GrowingMatrix | None = None
    for part in cluster.one_by_one(blocks):
        if matrix is None:
            matrix = GrowingMatrix(n_rows, part.shape[1], n_entries, part.dtype)
        matrix.append(Block.of(part))
    assert matrix is not None
    return matrix.finish()


def _balanced(bins: IntArray, counts: IntArray, n_parts: int) -> IntArray:
    """Cut columns, counted in bins, into parts with nearly as many entries each.

    Examples
    --------
    >>> _balanced(np.arange(6), np.array([8, 1, 1, 2, 4]), 2)
    array([0, 2, 5])
    """
    before = np.concatenate([[0], np.cumsum(counts + 1)])  # empty bins count too
    cuts = np.searchsorted(before, np.linspace(0, before[-1], n_parts + 1)[1:-1])
    return np.unique(np.concatenate([[0], bins[cuts], [bins[-1]]]))


class DistributedEstimate(KernelEstimate):
    """A `KernelEstimate` on a Dask cluster, the same to the last bit as one that is sampled here.

    It has the methods of any estimate. The factors stay on the workers, in blocks of rows; only
    vectors and requested rows are sent. The workers' memory is freed when the estimate is deleted
    (``del K``), or when the client closes.

    `factors`, `matrices`, `to_torch` and `save` fetch the factors, and raise an error if they do
    not fit into memory.

    Examples
    --------
    >>> import grfpp, networkx as nx, tempfile
    >>> from distributed import Client
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> folder = f"{tempfile.mkdtemp()}/features"
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     K = grfpp.distributed.sample(client, W, grfpp.Diffusion(1.0), seed=0)
    ...     K.save_features(folder, format="npz")
    >>> X, Y = grfpp.distributed.load_features(folder)
    >>> X.shape, Y.shape
    ((34, 68), (34, 68))
    """

    @property
    def cluster(self) -> Cluster:
        """The workers that hold the factors."""
        return cast(ClusterFactor, self.chain.links[0].factor).cluster

    def _half_blocks(self) -> tuple[Sequence[range], list[Any], list[Any]]:
        """Rows of the blocks, and futures of both halves ``X Yᵀ`` of the chain in these blocks."""
        X, Y = self.chain.halves()
        ranges = cast(ClusterFactor, X.links[0].factor).ranges
        return ranges, self._product_blocks(X), self._product_blocks(Y)

    def _product_blocks(self, chain: Chain) -> list[Any]:
        """Futures of blocks of rows of a chain; factors are multiplied row by row, on demand."""
        (_, blocks), *others = (
            cast(ClusterFactor, link.factor).sides(transposed=link.transposed)
            for link in chain.links
        )
        map_colocated, n = self.cluster.map_colocated, len(blocks)
        for edges, parts in others:
            needed = map_colocated(tasks.columns_by_part, blocks, edges)
            rows_by_part = [
                map_colocated(tasks.take_rows, [part] * n, needed, number)
                for number, part in enumerate(parts)
            ]
            by_block = list(map(list, zip(*rows_by_part, strict=True)))
            blocks = map_colocated(tasks.multiply, blocks, by_block)
        return blocks

    def _feature_blocks(self) -> tuple[Sequence[range], list[Any]]:
        """Rows of the blocks, and futures of both sides of their features."""
        ranges, left, right = self._half_blocks()
        low_rank: list[Any] = [None] * len(ranges)
        if self.low_rank is not None:
            A, B = self.low_rank
            low_rank = [(A[rows.start : rows.stop], B[rows.start : rows.stop]) for rows in ranges]
        options = self.sign, self.symmetrized
        return ranges, self.cluster.map(tasks.features, left, right, *options, low_rank)

    def _chain_diagonal(self) -> FloatArray:
        _, left, right = self._half_blocks()
        parts = self.cluster.gather(self.cluster.map(row_products, left, right))
        return np.asarray(self.sign * np.concatenate(parts))

    def features(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Sparse feature matrices ``X, Y`` with ``K̂ = X Yᵀ``, computed by the workers and fetched.

        `save_features` leaves them there.
        """
        X, Y = self._feature_sides(0, 1)
        return X, Y

    def feature_side(self, side: Literal["left", "right"]) -> sp.csr_array:
        """One of the two matrices of `features`."""
        return self._feature_sides(int(one_of(side, "side", ("left", "right")) == "right"))[0]

    def _feature_sides(self, *sides: int) -> list[sp.csr_array]:
        cluster, (_, blocks) = self.cluster, self._feature_blocks()
        parts = [cluster.map(operator.getitem, blocks, side) for side in sides]
        counts = [sum(cluster.gather(cluster.map(tasks.count_entries, part))) for part in parts]
        require_features(sum(counts), self.n_nodes, self.degree)
        sized = zip(parts, counts, strict=True)
        return [stacked(cluster, part, self.n_nodes, count) for part, count in sized]

    def save_features(
        self, folder: str | Path, format: Literal["parquet", "npz"] = "parquet"
    ) -> None:
        """Write the features ``X, Y`` to a folder, in shards of consecutive nodes.

        The folder appears when it is complete. Workers write the shards if they see the folder, as
        on one machine or a shared file system; else this process fetches and writes them, a few at
        a time. `grfpp.distributed.load_features` reads it.

        Parameters
        ----------
        folder
            A new one, or one of features, which is replaced.
        format
            ``"parquet"``: one row for each node with its index, the columns and the values of its
            entries as lists; needs the extra ``frames``. ``"npz"``: arrays of a CSR matrix.

        Notes
        -----
        The folder holds ``features.json`` (format, shapes, what made the estimate, the nodes,
        entries and checksums of all shards), ``left-00000.parquet``, ``right-00000.parquet``, …,
        and ``nodes.parquet`` (or ``.npz``) where nodes have names.
        """
        one_of(format, "format", ("parquet", "npz"))
        cluster, (ranges, blocks) = self.cluster, self._feature_blocks()
        names = self.names.to_array()
        with atomic_folder(Path(folder), HEADER) as temporary:
            path = str(temporary.resolve())
            positions = list(range(len(ranges))), [rows.start for rows in ranges]
            if cluster.sees(path):
                futures = cluster.map(tasks.write_features, blocks, *positions, path, format)
                shards = cluster.gather(futures)
            else:
                write = partial(tasks.write_features, folder=path, format=format)
                shards = list(map(write, cluster.one_by_one(blocks), *positions))
            header: dict[str, Any] = {
                "file_format": format,
                "n_nodes": self.n_nodes,
                "n_columns": shards[0]["n_columns"],
                "dtype": shards[0]["dtype"],
                "made_by": dict(self._made_by),
                "shards": [shard["sides"] for shard in shards],
            }
            if names is not None:
                header["names"] = write_columns(temporary, "nodes", format, {"name": names})
            write_header(temporary, header)


@dataclass(eq=False)
class ClusterBackend(Backend):
    """Samples and stores factors on the workers of a cluster."""

    estimate = DistributedEstimate
    cluster: Cluster
    #: The rows of each block, the same for all factors, so that means have the same blocks.
    ranges: list[range] = field(default_factory=list)

    def factors(
        self, plans: Sequence[WalkPlan], options: WalkOptions, progress: bool | Progress
    ) -> list[Factor]:
        """Factors whose blocks are all sampled when this returns."""
        self.cluster.check(plans[0].graph)
        self._require_memory(plans, options)
        factors = self._factors(plans, options)
        blocks = [block for factor in factors for block in factor.blocks]
        self.cluster.wait(blocks, [len(rows) for rows in self.ranges] * len(factors), progress)
        return list(factors)

    def lazy_factors(self, plans: Sequence[WalkPlan], options: WalkOptions) -> list[Factor]:
        """Factors whose rows are sampled when they are first needed."""
        return list(self._factors(plans, options))

    def mean(self, factors: Sequence[Factor], weights: Sequence[float]) -> Factor:
        """A weighted mean of factors, on the workers."""
        parts = cast(Sequence[ClusterFactor], factors)

        def make(rows: list[Any]) -> list[Any]:
            same_rows = list(map(list, zip(*(part.futures(rows) for part in parts), strict=True)))
            return self.cluster.map(tasks.mean_block, tuple(weights), same_rows)

        return ClusterFactor(self.cluster, self.ranges, parts[0].dtype, make)

    def _factors(self, plans: Sequence[WalkPlan], options: WalkOptions) -> list[ClusterFactor]:
        cluster, dtype = self.cluster, options.dtype
        if not self.ranges:
            self.ranges.extend(row_blocks(plans[0], cluster.n_threads))
        # Plans of one layout differ only in their keys.
        layouts = {id(plan.layout): plan for plan in plans}
        shared = {key: cluster.put(tasks.SharedPlan(plan)) for key, plan in layouts.items()}

        def factor(plan: WalkPlan) -> ClusterFactor:
            source = shared[id(plan.layout)]
            make = partial(cluster.map, tasks.sample_block, source, plan.key, dtype)
            return ClusterFactor(cluster, self.ranges, dtype, make)

        return [factor(plan) for plan in plans]

    def _require_memory(self, plans: Sequence[WalkPlan], options: WalkOptions) -> None:
        """Refuse factors that the workers cannot store, before the first is sampled."""
        limit, n = self.cluster.memory, plans[0].graph.n_nodes
        # Twice: every factor has a transpose.
        n_bytes = 2 * len(plans) * factor_bytes(expected_entries(plans[0]), n, options.dtype)
        if limit is not None and n_bytes > _MEMORY_SHARE * limit:
            needed, allowed = map(readable_bytes, (n_bytes, int(_MEMORY_SHARE * limit)))
            problem = f"{len(plans)} factors of {n} nodes need {needed}, but workers may use "
            problem += f"{_MEMORY_SHARE:.0%} of their memory, that is {allowed}"
            raise InputError(problem, advice="start more workers, or use dtype='float32'")


def sample(
    client: Any,
    W: Any,
    kernel: Kernel | str,
    degree: Degree = 2,
    n_walks: int = 16,
    termination: Termination | str | None = None,
    seed: int | None = None,
    *,
    progress: bool | Progress = False,
    **options: Any,
) -> DistributedEstimate:
    """`grfpp.sample` on the workers of a Dask cluster, the same to the last bit.

    Parameters
    ----------
    client
        A ``distributed.Client``, not asynchronous, whose workers have this version of grfpp.
    W
        A `Graph`, or anything that `Graph` takes. The workers open a graph on disk under the same
        path; other graphs are sent to them, once.
    kernel, degree, n_walks, termination, seed, options
        As for `grfpp.sample`. Factors stay on the workers: ``storage`` is not an option.
    progress
        ``True`` for a progress bar on the terminal, or a function that is called with the number of
        finished rows and that of all.

    Returns
    -------
    DistributedEstimate
        A `KernelEstimate` whose factors are stored on the workers until it is deleted, or the
        client closes.

    Raises
    ------
    InputError
        If there are no workers, if some have another version of grfpp or cannot open the graph's
        folder, or if the factors would not fit into their memory.

    Examples
    --------
    >>> import grfpp, networkx as nx, numpy as np
    >>> from distributed import Client
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     K = grfpp.distributed.sample(client, W, grfpp.Diffusion(1.0), seed=0)
    ...     product = K @ np.ones(34)
    >>> np.array_equal(product, grfpp.sample(W, grfpp.Diffusion(1.0), seed=0) @ np.ones(34))
    True

    References
    ----------
    Choromanski et al., "Computationally-efficient graph modeling with refined graph random
    features", 2026, eq. (3) and Algorithm 2.
    """
    options |= {"degree": degree, "n_walks": n_walks, "termination": termination, "seed": seed}
    chosen = WalkOptions.of(without=("storage",), **options)
    backend = ClusterBackend(Cluster(client))
    return cast(DistributedEstimate, sample_estimate(W, kernel, chosen, progress, backend))
