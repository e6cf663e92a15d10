"""What default features and default labels are worth, beside other settings and other methods.

``python -m grfpp_lab.studies.node_defaults features`` prints, for generated block models and the
seven graphs of the data folder, the accuracy of logistic regression, half of the nodes learned
from, on `GraphRandomFeatures(64)`, on the best of other kernels and numbers of eigenvectors, and
the share of the largest class. ``… labels`` prints the accuracy of `KernelLabelPropagation` with 1,
2 and 5 labels a class on generated dense weighted graphs and on block models, and on the seven
graphs with a twentieth of the labels, beside scikit-network's methods and Poisson learning (Calder,
Cook, Thorpe and Slepčev 2020). ``… large`` prints the same for large planted partitions from weak
to strong, a fiftieth of the labels, with a kernel that is given, and after a vote of all
neighbours; "features" is logistic regression on `GraphRandomFeatures`. Defaults were chosen with
seeds from 1000 on.
"""

import argparse
import warnings
from collections.abc import Iterator, Sequence
from itertools import groupby, product
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph
from scipy.sparse.linalg import cg

from grfpp.datasets import load_graph
from grfpp.graph import Graph
from grfpp.tasks import GraphRandomFeatures, KernelLabelPropagation
from grfpp_lab.graphs import Generated, block_model
from grfpp_lab.studies import clustering

SEVEN = ("karate", "dolphins", "polbooks", "football", "databases", "eurosis", "cora")
KERNELS = (*(f"diffusion:{time}" for time in (1, 5, 10, 20)), "regularized-laplacian:4:9")
EIGENVECTORS: tuple[Any, ...] = (0, "auto", 8, 32)


def contacts(seed: int) -> Generated:
    """A dense weighted graph: classes in grades, people of uneven activity, uneven contacts."""
    rng = np.random.default_rng([seed, 77])
    n, n_classes = int(rng.integers(120, 700)), int(rng.integers(3, 25))
    shares = np.maximum(rng.dirichlet(np.full(n_classes, rng.uniform(4, 40))), 0.4 / n_classes)
    labels = rng.choice(n_classes, n, p=shares / shares.sum())
    labels[: 2 * n_classes] = np.tile(np.arange(n_classes), 2)
    grade = rng.integers(0, max(2, n_classes // 3), n_classes)[labels]
    activity = rng.lognormal(0, rng.uniform(0.3, 0.8), n)
    rate = np.where(grade[:, np.newaxis] == grade, rng.uniform(1, 3), rng.uniform(0.3, 1))
    rate[labels[:, np.newaxis] == labels] = 1 + rng.uniform(1.5, 12)
    rate *= np.outer(activity, activity)
    rate *= rng.uniform(0.03, 0.5) / np.minimum(1, rate).mean()
    weights = np.triu(rng.poisson(rate * rng.gamma(0.4, 2.5, (n, n))), 1)
    return Generated(Graph(weights + weights.T), labels)


def blocks(seed: int) -> Generated:
    """A block model of random size, number of classes, homophily and degrees."""
    rng = np.random.default_rng([seed, 9])
    sizes = int(rng.integers(500, 4000)), int(rng.integers(3, 13))
    degree, homophily = rng.uniform(5, 14), rng.uniform(0.55, 0.9)
    n_parts, tail = int(rng.integers(1, 4)), float(rng.choice([2.0, 5.0, 50.0]))
    return block_model(*sizes, degree, homophily, n_parts=n_parts, tail=tail, seed=seed)


def of_data(name: str) -> Generated:
    """One of the seven graphs, without nodes that have no class."""
    data = load_graph(name, download=False)
    return Generated(data.graph, np.unique(data.labels, return_inverse=True)[1])


def poisson_learning(A: Any, known: Any, labels: Any, n_classes: int) -> Any:
    """``argmax_c u_c`` with ``L u = Σ_j (y_j − ȳ) δ_j``, by conjugate gradients."""
    degree = np.maximum(np.asarray(A.sum(axis=1)).ravel(), 1e-9)
    source = np.zeros((A.shape[0], n_classes))
    source[known] = np.eye(n_classes)[labels] - np.eye(n_classes)[labels].mean(axis=0)
    root = degree[:, np.newaxis] ** 0.5
    inner = sp.identity(len(root)) - sp.diags(1 / root[:, 0]) @ A @ sp.diags(1 / root[:, 0])
    source /= root
    component = csgraph.connected_components(A)[1]  # each with an eigenvector of the value 0
    parts = sp.csr_array((root[:, 0], (component, np.arange(len(root)))))
    source -= root * ((parts @ source) / (parts @ root))[component]
    columns = [cg(inner, each, rtol=1e-8, maxiter=2000)[0] for each in source.T]
    return (np.array(columns).T / root).argmax(axis=1)


def feature_rows(n_graphs: int, first: int, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Accuracies of default features, of the best of others, and of the largest class."""
    from sklearn.linear_model import LogisticRegression

    made = {f"blocks {seed}": blocks(seed) for seed in range(first, first + n_graphs)}
    for name, (graph, labels) in (made | {name: of_data(name) for name in names}).items():
        order = np.random.default_rng(0).permutation(len(labels))
        learned, tested = np.array_split(order, 2)

        def accuracy(
            graph: Any = graph, labels: Any = labels, at: Any = (learned, tested), **options: Any
        ) -> float:
            X = GraphRandomFeatures(64, random_state=0, **options).fit_transform(graph)
            model = LogisticRegression(max_iter=300).fit(X[at[0]], labels[at[0]])
            return float(model.score(X[at[1]], labels[at[1]]))

        most = [each for each in EIGENVECTORS if each == "auto" or 4 * each <= len(labels)]
        others = {
            each: accuracy(kernel=each[0], deflate=each[1]) for each in product(KERNELS, most)
        }
        best = max(others, key=lambda each: others[each])
        largest = np.bincount(labels[tested]).max() / len(tested)
        row = {"default": accuracy(), "best": max(others.values()), "largest class": largest}
        yield {"graph": name, **row, "which": best}


def label_rows(
    n_graphs: int, first: int, counts: Sequence[int], names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Accuracies of ours and of other methods."""
    seeds = range(first, first + n_graphs)
    makers = (contacts, blocks)
    tasks = [(f"{f.__name__}, {m} a class", f(s), m) for f in makers for m in counts for s in seeds]
    for kind, made, count in [*tasks, *((name, of_data(name), 0) for name in names)]:
        labels, rng = made.labels, np.random.default_rng([first, count, len(made.labels)])
        order = rng.permutation(len(labels))
        known = np.concatenate(
            [order[labels[order] == each][: count or 1] for each in np.unique(labels)]
        )
        if not count:
            known = np.union1d(known, order[: len(labels) // 20])
        yield {"graph": kind if count else f"{kind}, 5 %", **accuracies(made, known)}


def accuracies(made: Generated, known: Any) -> dict[str, float]:
    """Of ours and of other methods at all other nodes."""
    from sklearn.linear_model import LogisticRegression
    from sknetwork.classification import DiffusionClassifier, Propagation

    (graph, labels), n = made, len(made.labels)
    tested = np.setdiff1d(np.arange(n), known)
    given = np.full(n, -1)
    given[known] = labels[known]
    A = sp.csr_matrix(graph.adjacency)
    model = KernelLabelPropagation(graph, n_jobs=1).fit(known, labels[known])
    wide = KernelLabelPropagation(graph, kernel="diffusion:10", how="propagation", n_jobs=1)
    X = GraphRandomFeatures(64, random_state=0).fit_transform(graph)
    found = {
        "default": model.predict(np.arange(n)),
        "features": LogisticRegression(max_iter=300).fit(X[known], labels[known]).predict(X),
        "diffusion:10": wide.fit(known, labels[known]).predict(np.arange(n)),
        "Poisson": poisson_learning(A, known, labels[known], labels.max() + 1),
        "DiffusionClassifier": DiffusionClassifier().fit_predict(A, labels=given),
        # It may alternate between two answers for ever.
        "Propagation": Propagation(n_iter=100).fit_predict(A, labels=given),
        "vote": (A @ model.probabilities_).argmax(axis=1),
    }
    return {name: float((y[tested] == labels[tested]).mean()) for name, y in found.items()}


def large_rows(n_nodes: int, seed: int) -> Iterator[dict[str, Any]]:
    """The same on planted partitions, by the edges within a block and the spread of degrees."""
    for spread, share in product((0.0, 0.7), (0.5, 0.6, 0.7, 0.8, 0.9)):
        rng = np.random.default_rng([seed, 55])
        sizes = clustering.uneven_sizes(n_nodes, 12, 4.0, rng)
        edges, truth = clustering.block_model(sizes, 13.3, 1 - share, spread, rng)
        made = clustering.planted("large", seed, edges, truth, rng)
        known = np.sort(rng.choice(len(made.truth), len(made.truth) // 50, replace=False))
        row = accuracies(Generated(Graph(made.adjacency), made.truth), known)
        yield {"graph": f"spread {spread}, {100 * share:.0f} % within", **row}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row a graph, or a kind of graph, and means."""
    parser = argparse.ArgumentParser(prog="node_defaults", description=__doc__)
    parser.add_argument("what", choices=("features", "labels", "large"))
    parser.add_argument("--graphs", type=int, default=20, help="generated graphs of each kind")
    parser.add_argument("--first", type=int, default=5000, help="their first seed")
    parser.add_argument("--counts", type=int, nargs="*", default=[1, 2, 5], help="labels a class")
    parser.add_argument("--nodes", type=int, default=30_000, help="large: nodes of each graph")
    parser.add_argument("--names", nargs="*", default=list(SEVEN), help="graphs of the data folder")
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    if chosen.what == "features":
        rows = []
        for row in feature_rows(chosen.graphs, chosen.first, chosen.names):
            rows.append(row)
            _show(row["graph"], row, f"by {row['which'][0]}, deflate={row['which'][1]!r}")
        shares = [row["default"] / row["best"] for row in rows]
        print(f"default over best: mean {np.mean(shares):.3f}, least {min(shares):.3f}")
        return
    every = []
    found = label_rows(chosen.graphs, chosen.first, chosen.counts, chosen.names)
    if chosen.what == "large":
        found = large_rows(chosen.nodes, chosen.first)
    for name, group in groupby(found, lambda row: str(row["graph"])):
        every.append(_mean(list(group)))
        _show(name, every[-1])
    _show("mean over all lines", _mean(every))


def _mean(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0] if key != "graph"}


def _show(name: str, row: dict[str, Any], more: str = "") -> None:
    values = [f"{key} {100 * x:.1f}" for key, x in row.items() if isinstance(x, float)]
    print(f"{name}: {', '.join(values)} {more}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
