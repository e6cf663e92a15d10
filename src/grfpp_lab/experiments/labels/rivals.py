"""Label propagation by scikit-learn and by scikit-network, as those packages do it by default.

Each gives a row of scores a node, the largest of which is the prediction; probabilities where the
package says so.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.imports.optional import how_to_install, missing_packages
from grfpp.typing import FloatArray, IntArray
from grfpp_lab.experiments.labels.data import LabelTask

PROPAGATION, SPREADING = "LabelPropagation, scikit-learn", "LabelSpreading, scikit-learn"
NETWORK_PROPAGATION = "Propagation, scikit-network"
NETWORK_DIFFUSION = "DiffusionClassifier, scikit-network"
NETWORK_PAGERANK = "PageRankClassifier, scikit-network"
OF_SKLEARN = (PROPAGATION, SPREADING)
OF_NETWORK = (NETWORK_PROPAGATION, NETWORK_DIFFUSION, NETWORK_PAGERANK)
RIVALS = (*OF_SKLEARN, *OF_NETWORK)
#: scikit-learn's own 1,000 and 30 steps end before they have settled on such graphs.
_STEPS = 3_000


def why_no_network() -> str | None:
    """Why scikit-network cannot be run here, if it cannot."""
    missing = missing_packages("sknetwork")
    return how_to_install(missing) if missing else None


def rival_scores(method: str, task: LabelTask) -> FloatArray:
    """Scores of all classes at all nodes, from the labels of the training nodes alone."""
    known = np.full(task.graph.n_nodes, -1)
    known[task.split.train] = task.labels[task.split.train]
    n_classes = int(task.labels.max()) + 1
    found = _sklearn(method, task, known) if method in OF_SKLEARN else _network(method, task, known)
    scores = np.zeros((task.graph.n_nodes, n_classes))
    scores[:, : found.shape[1]] = found
    return scores


def _sklearn(method: str, task: LabelTask, known: IntArray) -> FloatArray:
    """The graph is given in place of similarities; isolated nodes have a loop, or there is 0/0."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.semi_supervised import LabelPropagation, LabelSpreading

    matrix = sp.csr_matrix(task.graph.adjacency)
    alone = np.asarray(matrix.sum(axis=1)).ravel() == 0
    matrix = (matrix + sp.diags(alone.astype(np.float64))).tocsr()
    kind = LabelPropagation if method == PROPAGATION else LabelSpreading
    affinity: Any = matrix if method == PROPAGATION else matrix.tocoo()
    model = kind(kernel=lambda X, Y: affinity, max_iter=_STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # nodes that no label reaches
        model.fit(np.arange(task.graph.n_nodes, dtype=np.float64)[:, None], known)
    return np.asarray(np.nan_to_num(model.label_distributions_), np.float64)


def _network(method: str, task: LabelTask, known: IntArray) -> FloatArray:
    from sknetwork.classification import DiffusionClassifier, PageRankClassifier, Propagation

    from grfpp_lab.experiments.clustering.rivals import threads_for_processes

    kinds: dict[str, Any] = {
        NETWORK_PROPAGATION: Propagation,
        NETWORK_DIFFUSION: DiffusionClassifier,
        NETWORK_PAGERANK: PageRankClassifier,
    }
    model = kinds[method]()
    with threads_for_processes():
        model.fit(sp.csr_matrix(task.graph.adjacency), labels=known)
    return np.asarray(model.predict_proba())
