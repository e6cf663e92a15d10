"""Run one measurement: ``python -m grfpp_lab.benchmark.child NAME < request.json``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from grfpp.warmup import warmup
from grfpp_lab.benchmark import growth, paper_table, sampling, uses

#: A request becomes a list of results: method, numbers, and what else the row says.
Task = Callable[[dict[str, Any]], list[dict[str, Any]]]

TASKS: dict[str, Task] = {
    "sample": sampling.sample_graph,
    "limit": sampling.machine_limit,
    "plain": sampling.plain_python,
    "growth": growth.sample_grid,
    "recompute": growth.recompute_product,
    "mesh": paper_table.mesh_products,
    "dense-mesh": paper_table.dense_kernel,
    "local": uses.local_block,
    "dense": uses.dense_products,
    "sparse": uses.sparse_product,
}


def main() -> None:
    """Answer the request on stdin."""
    request = json.load(sys.stdin)
    warmup()
    print(json.dumps(TASKS[sys.argv[1]](request), allow_nan=False), flush=True)


if __name__ == "__main__":
    main()
