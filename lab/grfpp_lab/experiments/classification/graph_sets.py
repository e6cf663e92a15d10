"""Collections of labelled graphs, and GraKeL's kernels on them in a process of their own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from grfpp._imports import require
from grfpp.datasets import cache_folder, data_folder, read_tudataset
from grfpp.graph import Graph
from grfpp.typing import FloatArray, IntArray
from grfpp_lab.harness.experiment import Cell, Row
from grfpp_lab.harness.machine import describe_machine
from grfpp_lab.harness.processes import TaskError, address, call

#: A small set that needs no data: random trees and rings with chords.
GENERATED = "generated"
#: The features of GraKeL's kernels.
GRAPH_KERNEL = "graph-kernel"
#: Number of graphs, and of nodes of a graph.
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
    graphs: Sequence[Any]
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
    from grfpp.tasks.graphs.labelled import labelled_graphs

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
    """The folder of the loaders of `grfpp.datasets`; some sets here are not in their registry."""
    for folder in (data_folder(), cache_folder()):
        if folder is not None and (path := folder / _relative(name)).is_file():
            return path
    return None


def _generated() -> GraphSet:
    from grfpp.tasks.graphs.labelled import LabelledGraph

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


#: Penalties that the support vector machine is chosen among.
PENALTIES = (0.1, 1.0, 10.0, 100.0)
#: Share of the training graphs that the choice is made by, and how often where there are few.
_HOLDOUT, _SPLITS, _FEW = 0.1, 5, 1500
#: Limit of wall-clock time over that of processor time, for busy machines.
_PATIENCE = 4


def _kernels() -> dict[str, Callable[[], Any]]:
    """GraKeL's kernels by the names that the paper has for them."""
    k = require("grakel.kernels", "a graph kernel")
    weisfeiler_lehman = {"n_iter": 5, "base_graph_kernel": k.VertexHistogram}
    return {
        "VH": lambda: k.VertexHistogram(normalize=True),
        "SP": lambda: k.ShortestPath(normalize=True),
        "GR": lambda: k.GraphletSampling(
            normalize=True, random_state=0, k=4, sampling={"n_samples": 200}
        ),
        "WL-VH": lambda: k.WeisfeilerLehman(normalize=True, **weisfeiler_lehman),
        "WL-OA": lambda: k.WeisfeilerLehmanOptimalAssignment(normalize=True, n_iter=5),
        "NH": lambda: k.NeighborhoodHash(normalize=True, random_state=0),
        "ODD-STh": lambda: k.OddSth(normalize=True),
        "PM": lambda: k.PyramidMatch(normalize=True),
        "PK": lambda: k.Propagation(normalize=True, random_state=0),
        "CORE-WL-VH": lambda: k.CoreFramework(
            normalize=True, base_graph_kernel=(k.WeisfeilerLehman, weisfeiler_lehman)
        ),
    }


NAMES = ("VH", "SP", "GR", "WL-VH", "WL-OA", "NH", "ODD-STh", "PM", "PK", "CORE-WL-VH")


def run_limited(cell: Cell) -> list[Row]:
    """The rows of one kernel on one data set, or one row that says why there are none."""
    shared = {"dataset": cell["dataset"], "features": GRAPH_KERNEL, "method": cell["method"]}
    try:
        found = call(
            address(scores),
            cell,
            timeout=_PATIENCE * cell["budget"],
            cpu_seconds=cell["budget"],
            memory_bytes=describe_machine()["memory_bytes"],
        )
    except TaskError as error:
        return [{**shared, "why_not": str(error)}]
    return [{**shared, "repeat": 0, "fold": fold, **score} for fold, score in enumerate(found)]


def scores(cell: Cell) -> list[dict[str, float]]:
    """Accuracy on each fold, the penalty chosen by a part of the other folds."""
    data = load_set(cell["dataset"])
    K = kernel_matrix(data.graphs, cell["method"])
    return svm_scores(K, data.classes, cell["n_folds"], cell["fold_seed"])


def kernel_matrix(graphs: Any, method: str) -> FloatArray:
    """One of GraKeL's kernels between all graphs."""
    K = _kernels()[method]().fit_transform(_as_grakel(graphs))
    K = np.ascontiguousarray(K, dtype=np.float64)
    if not np.isfinite(K).all():
        raise ValueError("the kernel is not finite")
    return K


def svm_scores(K: FloatArray, y: IntArray, n_folds: int, seed: int) -> list[dict[str, float]]:
    """Accuracy of support vector machines on each fold."""
    from sklearn.model_selection import StratifiedShuffleSplit
    from sklearn.svm import SVC

    from grfpp.tasks.graphs.selection import stratified_folds

    found = []
    for train, test in stratified_folds(y, n_folds, seed):
        n_splits = _SPLITS if len(train) <= _FEW else 1
        inner = StratifiedShuffleSplit(n_splits, test_size=_HOLDOUT, random_state=0)
        splits = [(train[a], train[b]) for a, b in inner.split(train, y[train])]

        def accuracy(penalty: float, fitted: Any, judged: Any) -> float:
            machine = SVC(C=penalty, kernel="precomputed", cache_size=500)
            machine.fit(K[np.ix_(fitted, fitted)], y[fitted])
            return float(machine.score(K[np.ix_(judged, fitted)], y[judged]))

        trials = {c: float(np.mean([accuracy(c, *split) for split in splits])) for c in PENALTIES}
        best = max(trials, key=lambda penalty: trials[penalty])
        found.append({"inner": trials[best], "accuracy": accuracy(best, train, test)})
    return found


def _as_grakel(graphs: Any) -> list[Any]:
    """Edges and labels; one label for all nodes where they have none, as in the survey."""
    found = []
    for each in graphs:
        graph = getattr(each, "graph", each)
        labels = getattr(each, "labels", np.zeros(graph.n_nodes, np.int64)).tolist()
        rows = np.repeat(np.arange(graph.n_nodes), graph.out_degree)
        edges = dict.fromkeys(zip(rows.tolist(), graph.indices.tolist(), strict=True), 1.0)
        found.append([edges, dict(enumerate(labels))])
    return found
