"""Answers for many nodes: some at a time, on all threads, in the order of the nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TypeVar

from grfpp.local.plan import LocalPlan
from grfpp.parallel import in_order
from grfpp.typing import IntArray

Answer = TypeVar("Answer")

#: Edges that a thread follows before it asks for more: long enough to hide Python, short enough to
#: interrupt.
_TASK_EDGES = 1 << 19


def in_parts(
    work: Callable[[IntArray], Answer], plan: LocalPlan, nodes: IntArray, n_threads: int
) -> Iterator[Answer]:
    """What `work` makes of the nodes, part by part. Answers depend on nodes, not on the parts.

    A graph on disk that has changed since it was opened is refused.
    """
    size = max(1, int(_TASK_EDGES / (plan.budget + 64)))
    if len(nodes) <= size:
        plan.graph.require_unchanged()
        yield work(nodes)
        return
    starts = range(0, len(nodes), size)
    tasks = [range(start, min(start + size, len(nodes))) for start in starts]

    def answer(task: range) -> Answer:
        plan.graph.require_unchanged()
        return work(nodes[task.start : task.stop])

    with closing(in_order(answer, tasks, max(1, min(n_threads, len(tasks))))) as answers:
        yield from answers
