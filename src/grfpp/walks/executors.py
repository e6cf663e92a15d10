"""Row blocks of factors on any executor of `concurrent.futures`: threads, processes, others'."""

from __future__ import annotations

import os
import pickle
import secrets
from collections import deque
from concurrent.futures import Executor, Future
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError, shown
from grfpp.linalg.growing import Block, GrowingMatrix
from grfpp.memory import require_bytes
from grfpp.walks.plan import WalkPlan
from grfpp.walks.sampler import Progress, sample_rows
from grfpp.walks.sizes import expected_entries, factor_bytes

#: Blocks for each that walks, so that none waits long for the last one; and so many at least.
_BLOCKS_EACH, _FEWEST = 4, 8
#: Steps of a block at most: a few seconds, after which an interruption is heard.
_MOST_STEPS = 50_000_000


class ExecutorSampler:
    """Walks factors on an executor; the same to the last bit as `sample_factor`.

    Executors whose workers are other processes send them the plan with every block of rows. It is
    packed once for all factors, and a process unpacks it once.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> with ThreadPoolExecutor(2) as pool:
    ...     K = grfpp.sample(W, grfpp.Diffusion(1.0), seed=0, executor=pool)
    >>> K.entry(0, 1) == grfpp.sample(W, grfpp.Diffusion(1.0), seed=0).entry(0, 1)
    True
    """

    def __init__(self, executor: Executor) -> None:
        if not callable(getattr(executor, "submit", None)):
            raise InputError(
                "must be an executor such as concurrent.futures.ProcessPoolExecutor(), not "
                f"{shown(executor)}",
                argument="executor",
            )
        self._executor = executor
        self._n_workers = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
        self._packed: dict[int, PackedPlan] = {}

    def factor(
        self, plan: WalkPlan, dtype: np.dtype[Any], progress: Progress | None = None
    ) -> sp.csr_array:
        """Walk from every node."""
        n, capacity = plan.graph.n_nodes, expected_entries(plan)
        require_bytes(
            factor_bytes(capacity, n, dtype),
            f"a factor of {n} nodes with {plan.n_walks} walks each",
            float32=dtype == np.float64,
        )
        matrix = GrowingMatrix(n, n, capacity, dtype)
        # Plans of several factors differ in their keys alone, and share what is large.
        packed = self._packed.setdefault(id(plan.layout), PackedPlan(plan))
        blocks = row_blocks(plan, self._n_workers)
        waiting: deque[Future[sp.csr_array]] = deque()
        try:
            for rows in blocks:
                waiting.append(self._executor.submit(walk_rows, packed, plan.key, rows, dtype))
            for rows in blocks:
                found = waiting.popleft().result()
                matrix.append(Block(found.indptr[1:].astype(np.int64), found.indices, found.data))
                if progress is not None:
                    progress(rows.stop, n)
        finally:  # early on an error or Ctrl-C: drop what has not begun
            for future in waiting:
                future.cancel()
        return matrix.finish()


def row_blocks(plan: WalkPlan, n_workers: int) -> list[range]:
    """Cut all rows into blocks of nearly the same length, for so many workers."""
    n = plan.graph.n_nodes
    wanted = max(_FEWEST, _BLOCKS_EACH * n_workers, int(n * plan.expected_steps / _MOST_STEPS))
    edges = [n * i // min(n, wanted) for i in range(min(n, wanted) + 1)]
    return [range(start, stop) for start, stop in pairwise(edges)]


class PackedPlan:
    """A plan that is pickled once however often it is sent, and unpickled once by a process."""

    def __init__(self, plan: WalkPlan) -> None:
        self.plan = plan
        self._packed: tuple[str, bytes] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        if self._packed is None:
            self._packed = secrets.token_hex(16), pickle.dumps(self.plan, protocol=5)
        return _unpacked, self._packed


#: What this process unpacked last, by its token.
_last: dict[str, PackedPlan] = {}


def _unpacked(token: str, content: bytes) -> PackedPlan:
    found = _last.get(token)
    if found is None:
        _last.clear()
        found = _last[token] = PackedPlan(pickle.loads(content))
    return found


def walk_rows(packed: PackedPlan, key: int, rows: range, dtype: np.dtype[Any]) -> sp.csr_array:
    """Walk one block on one thread; the key is that of the factor."""
    plan = replace(packed.plan, key=key)
    return sample_rows(plan, np.arange(rows.start, rows.stop, dtype=np.int64), dtype)
