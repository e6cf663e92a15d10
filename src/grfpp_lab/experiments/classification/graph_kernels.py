"""Graph kernels of GraKeL with a support vector machine, each in a process of its own.

They compare graphs with graphs, and most use the labels of nodes. Many take hours on large data:
they have a limit in seconds of work, and a row that says so where they reach it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grfpp.imports.optional import require
from grfpp.typing import FloatArray, IntArray
from grfpp_lab.experiments.classification.scores import GRAPH_KERNEL
from grfpp_lab.harness.experiment import Cell, Row
from grfpp_lab.harness.machine import describe_machine
from grfpp_lab.harness.process import TaskError
from grfpp_lab.harness.worker import address, call

#: Penalties that the support vector machine is chosen among.
PENALTIES = (0.1, 1.0, 10.0, 100.0)
#: Share of the training graphs that the choice is made by, and how often where there are few.
_HOLDOUT, _SPLITS, _FEW = 0.1, 5, 1500
#: Limits are on work; on a machine that is busy with other things it takes so many times longer.
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
    from grfpp_lab.experiments.classification.graph_sets import load_set

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

    from grfpp.tasks.graphs.nested import stratified_folds

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
