"""Citation graphs, and which of their labels are known, chosen by, and judged."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from grfpp.datasets import load_planetoid
from grfpp.graph import Graph
from grfpp.typing import IntArray
from grfpp_lab.label_graphs import Split, block_model, split_of

PLANETOID, RANDOM = "Planetoid", "random"
CORA, PUBMED, GENERATED = "cora", "pubmed", "generated"
#: About how many nodes they have.
N_NODES = {CORA: 2_708, PUBMED: 19_717, GENERATED: 400}


class LabelTask(NamedTuple):
    """A graph, the classes of its nodes, and a split."""

    graph: Graph
    labels: IntArray
    split: Split


def read(name: str) -> object:
    """Read the data, without a download; nothing where it is generated."""
    return None if name == GENERATED else load_planetoid(name, download=False)


@lru_cache(maxsize=4)
def label_task(name: str, kind: str, seed: int) -> LabelTask:
    """One split: the public one of the whole graph, or a random one of the largest component."""
    if name == GENERATED:
        made = block_model(400, 3, 6.0, 0.85, n_parts=2, seed=seed % 2**32)
        return LabelTask(made.graph, made.labels, split_of(made.labels, seed))
    data = load_planetoid(name, download=False)
    if kind == PLANETOID:
        split = Split(data.train, data.validation, data.test)
        return LabelTask(data.graph, data.labels, split)
    graph, nodes = largest_component(data.graph)
    labels = data.labels[nodes]
    return LabelTask(graph, labels, split_of(labels, seed))


def largest_component(graph: Graph) -> tuple[Graph, IntArray]:
    """The largest connected part, and the numbers that its nodes had."""
    _, part = connected_components(graph.adjacency, directed=False)
    nodes = np.flatnonzero(part == np.bincount(part).argmax())
    return Graph(graph.adjacency[nodes][:, nodes]), nodes


def title_of(name: str) -> str:
    """What people call the data."""
    return name.capitalize()
