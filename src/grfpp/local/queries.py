"""Rows and entries of a kernel as pure functions of a plan."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from grfpp._parallel import in_order
from grfpp.linalg.csr import Block
from grfpp.local.plan import LocalPlan
from grfpp.local.seeds import Seeds
from grfpp.typing import BoolArray, FloatArray, IntArray
from grfpp.walks.pool_arrays import WorkBuffers
from grfpp.walks.sampling import Output, filled

Answer = TypeVar("Answer")
_ALL: BoolArray = np.empty(0, bool)
_NOTHING = np.empty(0)

#: Largest initial room of the output, in entries: 12 MB.
_FIRST_OUTPUT = 1 << 20
#: Edges of one task of a thread: enough to hide the overhead of Python calls, few enough for Ctrl-C
#: to be noticed soon.
_TASK_EDGES = 1 << 19
#: Work buffers of each thread.
_LOCAL = threading.local()


def local_rows(plan: LocalPlan, nodes: IntArray | Seeds) -> sp.csr_array:
    """Rows of the kernel, one for each of `nodes`, which are indices, or for each set of seeds.

    A row depends on the plan and on its node or set alone. A plan of several kernels gives the rows
    of all of them for the first set, then for the second.
    """
    return as_matrix([pool_rows(plan, nodes)], plan.graph.n_nodes)


def pool_rows(plan: LocalPlan, nodes: IntArray | Seeds) -> Block:
    """The same as a block of arrays, with columns in the order in which they were reached."""
    from grfpp.local.loops import write_rows

    seeds, n_tables = Seeds.of_nodes(nodes), len(plan.tables)

    def call(done: int, out: Any) -> Any:
        rest = seeds[done // n_tables :].arrays
        with work_buffers() as work:
            buffers = work.of(plan.room, plan.n_traced)
            return write_rows(_law(plan), plan.residual, plan.tables, rest, buffers, out)

    return filled(call, len(seeds) * n_tables, first_output(plan), plan.enlarge_room)


class Choice(NamedTuple):
    """Which entries of rows are compared by `local_top_k`, and what they are divided by."""

    #: Whether seeds may be among their own nearest nodes.
    include_self: bool = True
    #: A truth value for each node; empty where all are allowed.
    is_allowed: BoolArray = _ALL
    #: Whether entries are divided by the degrees of their nodes; these, empty for degrees.
    by_degree: bool = False
    strength: FloatArray = _NOTHING


def degree_of(plan: LocalPlan, choice: Choice, nodes: IntArray) -> FloatArray:
    """The degrees of nodes that `choice` divides by, as `local_top_k` does; any for the node -1."""
    strength = choice.strength
    degrees = strength[nodes] if len(strength) else plan.graph.walked.degrees(nodes)
    return np.where(degrees > 0, degrees, 1.0)


def local_top_k(
    plan: LocalPlan,
    nodes: IntArray | Seeds,
    k: int,
    choice: Choice | bool = True,
    resolutions: FloatArray | None = None,
) -> tuple[IntArray, FloatArray]:
    """The `k` largest entries of rows: nodes and values of shape ``(len(nodes), k)``.

    Of equal entries the lower node comes first. Only positive entries have a node; where fewer than
    `k` are positive, the other nodes are -1 and their values 0. A plan of several kernels gives
    these for each kernel, along a second axis. A truth value is a choice of `include_self`.

    `resolutions`, an array with an entry for each row, receives those of `local_resolutions`; then
    no more candidates are recomputed than are listed.
    """
    from grfpp.local.loops import select_largest

    include_self, *filters = choice if isinstance(choice, Choice) else Choice(bool(choice))
    shape = (len(nodes), len(plan.tables), k)
    best, values = np.empty(shape, np.int64), np.empty(shape)
    n_candidates = plan.candidates(k) if resolutions is None else k
    candidates = (np.empty(n_candidates, np.int64), np.empty(n_candidates))
    more = ((bool(include_self), plan.pull_edges, *filters), candidates)
    by_row = (best, values, np.empty(len(nodes)) if resolutions is None else resolutions)
    _fill(select_largest, plan, nodes, more, by_row, (plan.tables,), plan.n_traced)
    return (best, values) if plan.n_traced else (best[:, 0], values[:, 0])


def local_values(plan: LocalPlan, nodes: IntArray | Seeds, columns: IntArray) -> FloatArray:
    """Entries of rows at the given columns of each, computed as by `local_top_k`."""
    from grfpp.local.loops import write_values

    values = np.empty(columns.shape)
    chosen = np.ascontiguousarray(columns, np.int64)
    _fill(write_values, plan, nodes, (plan.pull_edges,), (chosen, values))
    return values


def local_resolutions(plan: LocalPlan, rows: IntArray | Seeds) -> FloatArray:
    """The largest amount that a missed pick could have added to rows, in units of their columns.

    An entry may have missed this times ``plan.weights.inverse_potential`` of its column; zero where
    pools followed all edges.
    """
    from grfpp.local.loops import write_resolutions

    resolutions = np.empty(len(rows))
    _fill(write_resolutions, plan, rows, (), (resolutions,))
    return resolutions


def _law(plan: LocalPlan) -> tuple[Any, ...]:
    return plan.layout, plan.pool_series, plan.series.scale, plan.key


def _fill(
    loop: Callable[..., int],
    plan: LocalPlan,
    nodes: IntArray | Seeds,
    more: tuple[Any, ...],
    by_row: tuple[Any, ...],
    tables: tuple[Any, ...] = (),
    n_traced: int = 0,
) -> None:
    """Call a compiled loop until all rows are done, with larger buffers where it ends early."""
    seeds, law = Seeds.of_nodes(nodes), _law(plan)
    done = 0
    while done < len(seeds):
        out = tuple(array[done:] for array in by_row)
        with work_buffers() as work:
            buffers = work.of(plan.room, n_traced)
            rest = seeds[done:].arrays
            n_done = loop(law, plan.residual, *tables, rest, buffers, *more, out)
        done += n_done
        if done < len(seeds):
            plan.enlarge_room()


@contextmanager
def work_buffers() -> Iterator[WorkBuffers]:
    """The work buffers of this thread, which are dropped if anything is raised.

    A loop that ends early leaves entries in its hash table, which later rows would take for theirs.
    """
    buffers = _LOCAL.__dict__.pop("buffers", None) or WorkBuffers()
    yield buffers
    _LOCAL.buffers = buffers


def first_output(plan: LocalPlan, dtype: Any = np.int32) -> Output:
    """Initial memory for rows, which grows."""
    return Output(min(4 * plan.room, _FIRST_OUTPUT), np.dtype(np.float64), dtype)


def joined(blocks: list[Block]) -> Block:
    """Concatenate blocks of consecutive rows, without the unused rest of their memory."""
    ends, columns, values = zip(*blocks, strict=True)
    starts = np.cumsum([0, *map(len, columns[:-1])])
    shifted = [end + start for end, start in zip(ends, starts, strict=True)]
    return Block(*map(np.concatenate, (shifted, columns, values)))


def as_matrix(blocks: list[Block], n_columns: int) -> sp.csr_array:
    """Consecutive blocks of rows as a matrix with sorted columns."""
    matrix = joined(blocks).matrix(n_columns)
    matrix.sort_indices()
    return matrix


def in_parts(
    work: Callable[[Any], Answer], plan: LocalPlan, nodes: IntArray | Seeds, n_threads: int
) -> Iterator[Answer]:
    """The results of `work` for consecutive parts of the nodes, on several threads.

    They must not depend on the split into parts. A graph on disk that has changed since it was
    opened is refused.
    """
    size = max(1, int(_TASK_EDGES / (plan.budget + 64)))
    starts = range(0, max(1, len(nodes)), size)
    tasks = [range(start, min(start + size, len(nodes))) for start in starts]

    def answer(task: range) -> Answer:
        plan.graph.require_unchanged()
        return work(nodes[task.start : task.stop])

    with closing(in_order(answer, tasks, max(1, min(n_threads, len(tasks))))) as answers:
        yield from answers
