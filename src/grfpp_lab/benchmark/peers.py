"""Peers, asked by a command that runs in an environment of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from grfpp_lab.benchmark.settings import N_WALKS, P_HALT
from grfpp_lab.harness.process import TaskError, run_command


@dataclass(frozen=True)
class Peer:
    """A package that walks too."""

    #: What the command knows it by.
    name: str
    #: What it makes.
    about: str
    #: Whether it only gets small graphs.
    is_slow: bool = False


TORCH_CLUSTER = Peer("torch_cluster", "raw walks in C++")
PECANPY = Peer("PecanPy", "raw walks in numba")
FAST_GRAPH_GP = Peer("fast-graph-gp", "graph random features", is_slow=True)
PEERS = (TORCH_CLUSTER, PECANPY, FAST_GRAPH_GP)


def ask_peer(
    command: list[str] | None,
    peer: Peer,
    graph: str,
    *,
    threads: int,
    budget: float,
    timeout: float,
) -> dict[str, Any]:
    """Have a peer walk on a graph file; what goes wrong becomes a row that says so.

    Parameters
    ----------
    command
        What to start, such as ``[".venv-bench/bin/python", "benchmarks/peers"]``.
    peer, graph
        Who walks, and where: a file of `Graph.save`.
    threads, budget
        How many threads, and for how many seconds of repeated runs.
    timeout
        Seconds after which the peer is stopped.
    """
    if command is None:
        return _not_run(peer, "no peers' environment: `make bench` makes one and passes it")
    request = {
        "peer": peer.name,
        "graph": graph,
        "n_walks": N_WALKS,
        "p_halt": P_HALT,
        "threads": threads,
        "budget": budget,
    }
    try:
        answer = run_command(command, request, timeout=timeout, threads=threads)
        steps, seconds = float(answer["steps"]), float(answer["seconds"])
        return {
            "method": peer.name,
            "version": str(answer["version"]),
            "note": str(answer.get("note", peer.about)),
            "numbers": {
                "steps": steps,
                "seconds": seconds,
                "steps_per_second": steps / seconds,
            },
        }
    except TaskError as failure:
        return _not_run(peer, str(failure))
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        return _not_run(peer, f"its answer makes no sense ({error!r})")


def _not_run(peer: Peer, why: str) -> dict[str, Any]:
    return {"method": peer.name, "version": "", "status": "not run", "note": why}
