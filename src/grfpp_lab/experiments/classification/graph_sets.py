"""The data sets of graph classification, by name, and which of them are at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from grfpp.datasets import cache_folder, data_folder, read_tudataset
from grfpp.graph import Graph
from grfpp.tasks.graphs.labelled import LabelledGraph, labelled_graphs
from grfpp.typing import IntArray

#: A small set that needs no data: random trees and rings with chords.
GENERATED = "generated"
#: Number of graphs and of nodes a graph, to guess how long things take.
SIZES = {
    **{"MUTAG": (188, 18), "PTC_MR": (344, 14), "ENZYMES": (600, 33), "PROTEINS": (1113, 39)},
    **{"DD": (1178, 284), "IMDB-BINARY": (1000, 20), "IMDB-MULTI": (1500, 13), "NCI1": (4110, 30)},
    **{"COLLAB": (5000, 74), "REDDIT-BINARY": (2000, 430), "REDDIT-MULTI-5K": (4999, 509)},
    **{"REDDIT-MULTI-12K": (11929, 391), GENERATED: (40, 12)},
}


@dataclass(frozen=True, eq=False)
class GraphSet:
    """Graphs with a class each."""

    #: Labelled ones where the data have labels.
    graphs: Sequence[Graph | LabelledGraph]
    #: The class of each.
    classes: IntArray
    #: Whether nodes have labels.
    has_labels: bool


@lru_cache(maxsize=2)
def load_set(name: str) -> GraphSet:
    """Read or make a data set, without a download."""
    if name == GENERATED:
        return _generated()
    path = _file(name)
    if path is None:
        raise FileNotFoundError(_relative(name))
    data = read_tudataset(path)
    graphs: Sequence[Any] = data.graphs if data.node_labels is None else labelled_graphs(data)
    return GraphSet(graphs, data.labels, data.node_labels is not None)


def why_absent(name: str) -> str | None:
    """Why a data set cannot be had without a download, or ``None`` when it can."""
    is_here = name == GENERATED or _file(name) is not None
    return None if is_here else f"{_relative(name)} is not at hand"


def _relative(name: str) -> str:
    return f"tudataset/{name}.zip"


def _file(name: str) -> Path | None:
    """Where the loaders of `grfpp.datasets` look too; some sets here are not in their registry."""
    for folder in (data_folder(), cache_folder()):
        if folder is not None and (path := folder / _relative(name)).is_file():
            return path
    return None


def _generated() -> GraphSet:
    rng = np.random.default_rng(0)
    graphs, classes = [], []
    for number in range(SIZES[GENERATED][0]):
        n = int(rng.integers(8, 17))
        if number % 2:
            made = nx.cycle_graph(n)
            made.add_edges_from((int(a), int(a + 2) % n) for a in rng.integers(0, n, 2))
        else:
            made = nx.random_labeled_tree(n, seed=int(rng.integers(2**31)))
        labels = (rng.random(n) < (0.6 if number % 2 else 0.4)).astype(np.int64)
        graphs.append(LabelledGraph(Graph(nx.to_scipy_sparse_array(made)), labels))
        classes.append(number % 2)
    return GraphSet(graphs, np.array(classes), True)
