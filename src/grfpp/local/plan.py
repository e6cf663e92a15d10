"""What a local query will do, as one immutable value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.linalg.sparse import readonly
from grfpp.local.series import Series
from grfpp.local.weights import LocalWeights
from grfpp.walks.budget import Budget
from grfpp.walks.streams import factor_key

#: Neighbours are in an array.
NO_FILE = -1
#: Buffers begin with room for no more nodes.
_LARGEST_FIRST_ROOM = 1 << 12
#: Bytes of neighbours on disk that entries and blocks look at in a map. Pools look at almost every
#: page of it, which then counts as memory of this process; the file is read instead if that is
#: much, in 2.6 times the time.
_MOST_MAPPED = 1 << 27


@dataclass(frozen=True, eq=False)
class LocalPlan:
    """Everything that rows of a kernel need, and nothing about where they are walked.

    Small beside the graph, and picklable as that is. `local_rows` and `local_top_k` are pure
    functions of it.
    """

    #: The graph whose edges are followed.
    graph: Graph
    #: What is summed, and how.
    series: Series
    #: Edges that a row may follow.
    budget: float
    #: What the random streams derive from, beside the node and the step.
    seed: int
    #: Which of several independent answers.
    replicate: int = 0
    #: Whether random numbers are those of the right side of a product.
    is_right: bool = False

    @classmethod
    def of(cls, graph: Graph, kernel: Kernel, budget: float, seed: int) -> LocalPlan:
        """Plan rows of a kernel; refuse series that diverge."""
        return cls(graph, Series.of(graph, kernel), budget, seed)

    def __getstate__(self) -> dict[str, Any]:
        names = ("graph", "series", "budget", "seed", "replicate", "is_right")
        return {name: self.__dict__[name] for name in names}

    def with_replicate(self, replicate: int) -> LocalPlan:
        """The same with random numbers of its own."""
        return self._like(replace(self, replicate=replicate), "law", "half_law")

    @cached_property
    def right(self) -> LocalPlan:
        """The same for the other ends of entries, independent of this one."""
        return self._like(replace(self, is_right=True), "law", "half_law")

    def with_budget(self, budget: float) -> LocalPlan:
        """The same with another budget."""
        return self._like(replace(self, budget=budget))

    def _like(self, plan: LocalPlan, *names: str) -> LocalPlan:
        """Let a plan know what has been found out about this one."""
        known = self.__dict__
        shared = ("weights", "graph_arrays", "read_arrays", "_room", *names)
        plan.__dict__.update({name: known[name] for name in shared if name in known})
        return plan

    @property
    def room(self) -> int:
        """Nodes that buffers have room for, a power of two; what rows need is remembered."""
        room: int = self.__dict__.setdefault("_room", self._first_room)
        return room

    def enlarge_room(self, room: int) -> None:
        """A row has needed more than so much."""
        self.__dict__["_room"] = max(2 * room, self.room)

    @property
    def _first_room(self) -> int:
        likely = min(self.budget + 64, self.graph.n_nodes + 64, _LARGEST_FIRST_ROOM)
        return 1 << int(likely).bit_length()

    @property
    def pull_edges(self) -> float:
        """Edges into candidates that may be looked at."""
        return float(self.budget) if self.weights.is_reversible else 0.0

    def candidates(self, k: int) -> int:
        """How many nodes are looked at for the `k` nearest."""
        return 2 * k + 16 if self.weights.is_reversible else k

    @cached_property
    def weights(self) -> LocalWeights:
        """How the weights are scaled."""
        return LocalWeights.of(self.graph)

    @cached_property
    def key(self) -> Any:
        """The word that the streams start from."""
        return np.uint64(factor_key(self.seed, 2 * self.replicate + self.is_right))

    @cached_property
    def graph_arrays(self) -> tuple[Any, ...]:
        """The graph as the compiled loops want it; `pools.fetch` tells of the last one."""
        graph, weights = self.graph, self.weights
        arrays = (graph.indptr, graph.indices, weights.base, weights.out, weights.into)
        return *(readonly(each) for each in arrays), np.array([NO_FILE, 0])

    @cached_property
    def read_arrays(self) -> tuple[Any, ...]:
        """The same, but neighbours of a large graph on disk are read from the file, not mapped."""
        is_large = self.graph.indices.nbytes > _MOST_MAPPED
        file = self.graph.indices_file() if is_large else None
        return self.graph_arrays if file is None else (*self.graph_arrays[:-1], np.array([file, 0]))

    def require_read(self) -> None:
        """Raise `InputError` where neighbours could not be read."""
        if self.read_arrays[-1][1]:
            raise InputError(
                f"neighbours of {self.graph!r} cannot be read from its folder any more: open it "
                "again"
            )

    @cached_property
    def law(self) -> tuple[Any, ...]:
        """What is summed and how, as the compiled loops want it."""
        return self._law(self.series.steps)

    @cached_property
    def half_law(self) -> tuple[Any, ...]:
        """The same for one of two sides, each of which takes half of the steps."""
        return self._law(self.series.half_steps)

    def _law(self, steps: Budget) -> tuple[Any, ...]:
        series = self.series
        return (
            self.weights.kind,
            series.unit,
            series.scale,
            steps.share,
            steps.rest,
            series.deposits,
            float(self.budget),
            series.ratio,
            series.most_rounds,
        )
