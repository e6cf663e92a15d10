"""How budgets were settled: on other graphs, other nodes and other walks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from grfpp.graph import Graph
from grfpp_lab.families import scale_free
from grfpp_lab.studies.local_answers.asking import (
    QUESTIONS,
    SETTLING_SEED,
    drawn,
    enron,
    ours,
    precisions,
)
from grfpp_lab.studies.local_answers.rows import Lines, Measured

#: Edges that a row may follow.
BUDGETS = tuple(1 << bits for bits in range(10, 18))


def graphs() -> dict[str, Graph]:
    """Graphs on which budgets were settled; email-Enron is judged too, on other nodes."""
    found = {"scale-free 200,000": scale_free(200_000, 5, seed=9)}
    path = Path(os.environ.get("GRFPP_DATA", ""), "nodes/musae-facebook-edges.csv.gz")
    if os.environ.get("GRFPP_DATA") and path.exists():
        found["MUSAE Facebook"] = Graph(path)
    title, graph = enron()
    return {**found, title: graph}


def lines(graph: Graph, budgets: Sequence[int], n_asked: int = 60) -> Lines:
    """Seconds and precision of several budgets."""
    nodes = drawn(graph.n_nodes, n_asked, SETTLING_SEED)
    found = {
        f"{name}, budget {budget:,}": (
            question.kernel,
            ours(graph, question._replace(budget=budget), nodes, nodes, SETTLING_SEED),
        )
        for name, question in QUESTIONS.items()
        for budget in budgets
    }
    right = precisions(graph, {name: (k, each.nodes) for name, (k, each) in found.items()}, nodes)
    return [Measured(name, each.seconds, right[name]) for name, (_, each) in found.items()]
