"""Can the workers run this package? Asked by a function that does not need it."""

from __future__ import annotations

import pickle
import sys
from typing import Any

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.imports.optional import require


def look() -> str | None:
    """The version of grfpp on a worker; sent as it is written here, since there may be none."""
    import importlib

    try:
        version: str = importlib.import_module("grfpp").__version__
    except ImportError:
        return None
    return version


def check_workers(client: Any) -> None:
    """Refuse a cluster without workers, and workers with another grfpp or without."""
    import grfpp

    found = _versions(client)
    if not found:
        raise InputError(
            f"the cluster at {client.scheduler.address} has no workers; start some (dask worker "
            f"{client.scheduler.address}), and client.wait_for_workers(1) waits for them"
        )
    problems = [
        f"{worker} has " + ("no grfpp" if version is None else f"grfpp {version}")
        for worker, version in sorted(found.items())
        if version != grfpp.__version__
    ]
    if problems:
        others = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise InputError(
            f"all workers need grfpp {grfpp.__version__}, as here: {', '.join(problems[:3])}"
            f"{others}; install it there, with the extra 'distributed', and restart them"
        )


def check_graph(client: Any, graph: Graph) -> None:
    """Refuse a graph on disk that some workers cannot open, or find changed, under its path."""
    if not graph.is_on_disk:
        return
    graph.require_unchanged()
    problems = opening_problems(client, graph)
    if problems:
        raise InputError(
            "not all workers can open the graph; put its folder where all of them see it under the "
            f"same path, or pass Graph(W.adjacency), which is sent to them: {problems[0]}"
        )


def opening_problems(client: Any, graph: Graph) -> list[str]:
    """What keeps workers from opening a graph on disk."""
    found: dict[str, str | None] = client.run(problem_with, pickle.dumps(graph))
    return [f"{worker}: {problem}" for worker, problem in sorted(found.items()) if problem]


def problem_with(packed: bytes) -> str | None:
    """Why a graph on disk cannot be opened here, if so; on a worker."""
    try:
        pickle.loads(packed)
    except InputError as error:
        return str(error)
    return None


def _versions(client: Any) -> dict[str, str | None]:
    """What `look` finds on each worker."""
    pickled, here = require("cloudpickle", "grfpp.distributed"), sys.modules[__name__]
    pickled.register_pickle_by_value(here)
    try:
        found: dict[str, str | None] = client.run(look)
    finally:
        pickled.unregister_pickle_by_value(here)
    return found
