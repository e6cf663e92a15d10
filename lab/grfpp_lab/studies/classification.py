"""Graph classification by walks beside Weisfeiler–Lehman, on the same folds.

``python -m grfpp_lab.studies.classification`` prints six collections of TUDataset, or those that
are named: accuracy and processor time of the default, the mean of kernels of colours and of walk
masses (`walk_candidates`; the penalty is chosen within the folds), of both sets alone, of sums over
pairs of labels alone and with the spectrum, and of GraKeL's Weisfeiler–Lehman kernel with a support
vector machine. ``--brief`` prints the default and its rival only, ``--splits`` repeats it with
other folds, ``--settling`` prints settings on the collections that they were chosen on, which are
others.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import process_time
from typing import Any

import networkx as nx
import numpy as np

from grfpp._imports import require
from grfpp.graph import Graph
from grfpp.tasks.graphs.labelled import LabelledGraph
from grfpp.tasks.graphs.selection import (
    AUTO,
    COLOURS,
    MASSES,
    PAIRS,
    SPECTRUM,
    UNION,
    FoldScore,
    candidate_features,
    gaussian_kernel,
    nested_forest_scores,
    nested_scores,
    nested_svm_scores,
    walk_candidates,
)
from grfpp.tasks.graphs.walk_labels import WalkLabelFeatures, count_levels
from grfpp_lab.datasets.peptides import load_peptides
from grfpp_lab.experiments.classification.claims import RIVAL
from grfpp_lab.experiments.classification.graph_sets import (
    GraphSet,
    kernel_matrix,
    load_set,
    svm_scores,
)
from grfpp_lab.experiments.classification.graph_sets import scores as kernel_scores
from grfpp_lab.experiments.classification.planning import SIX, fold_seed

#: Longest SMILES of the peptides: molecules of up to about a hundred atoms.
_MOST_TEXT = 260


def molecules(n_graphs: int, rule: int, seed: int) -> GraphSet:
    """Trees of carbon with rings and other atoms; the class is a rule about groups of atoms.

    Rule 0: a nitrogen two bonds from an oxygen. Rule 1: more nitrogens in rings than outside. Rule
    2: an oxygen at the end of a chain, next to a branching carbon. One class in ten is wrong.
    """
    rng = np.random.default_rng([seed, rule])
    rules = (_near, _in_rings, _at_branches)
    found: tuple[list[LabelledGraph], list[LabelledGraph]] = ([], [])
    while min(map(len, found)) < n_graphs // 2:
        graph, labels = _molecule(rng)
        found[rules[rule](graph, labels)].append(
            LabelledGraph(Graph(nx.to_scipy_sparse_array(graph)), labels)
        )
    graphs = [*found[0][: n_graphs // 2], *found[1][: n_graphs // 2]]
    classes = np.repeat([0, 1], n_graphs // 2)
    wrong = rng.random(len(classes)) < 0.1
    return GraphSet(graphs, np.where(wrong, 1 - classes, classes), True)


def _molecule(rng: np.random.Generator) -> tuple[nx.Graph, np.ndarray]:
    graph = nx.Graph([(0, 1)])
    while len(graph) < rng.integers(12, 34):
        free = [node for node in graph if graph.degree(node) < 3]
        if not free:
            break
        at, n = int(rng.choice(free)), len(graph)
        if rng.random() < 0.25:
            size = int(rng.choice([5, 6, 6]))
            nx.add_cycle(graph, [at, *range(n, n + size - 1)])
        else:
            graph.add_edge(at, n)
    return graph, rng.choice(4, len(graph), p=[0.72, 0.13, 0.11, 0.04])


def _near(graph: nx.Graph, labels: np.ndarray) -> bool:
    return any(
        labels[far] == 2
        for node in graph
        if labels[node] == 1
        for middle in graph[node]
        for far in graph[middle]
    )


def _in_rings(graph: nx.Graph, labels: np.ndarray) -> bool:
    inside = {node for ring in nx.cycle_basis(graph) for node in ring}
    within = [node in inside for node in graph if labels[node] == 1]
    return 2 * sum(within) > len(within)


def _at_branches(graph: nx.Graph, labels: np.ndarray) -> bool:
    return any(
        graph.degree(node) == 1 and any(graph.degree(other) >= 3 for other in graph[node])
        for node in graph
        if labels[node] == 2
    )


def contacts(n_graphs: int, n_classes: int, seed: int) -> GraphSet:
    """Chains of labelled segments folded in space, with edges between segments that are near.

    Classes differ a little in how often each kind of segment comes, how long chains are, and
    which kinds lie side by side.
    """
    rng = np.random.default_rng([seed, n_classes])
    shares = rng.dirichlet([12, 12, 3], n_classes)
    drift = rng.uniform(0.3, 0.7, (n_classes, 3))
    length = rng.integers(22, 40, n_classes)
    graphs, classes = [], []
    for number in range(n_graphs):
        own = number % n_classes
        n = int(max(8, rng.normal(length[own], 9)))
        labels = rng.choice(3, n, p=shares[own])
        step = rng.normal(size=(n, 3))
        step[1:] += drift[own][labels[1:], np.newaxis] * step[:-1] * 1.6
        place = np.cumsum(step, axis=0)
        place *= n ** (1 / 3) / place.std()
        far = np.linalg.norm(place[:, np.newaxis] - place, axis=2)
        near = np.argsort(far, axis=1)[:, 1:4]
        A = np.zeros((n, n))
        A[np.repeat(np.arange(n), near.shape[1]), near.ravel()] = 1
        A[np.arange(n - 1), np.arange(1, n)] = 1
        graphs.append(LabelledGraph(Graph(np.maximum(A, A.T)), labels))
        classes.append(own)
    return GraphSet(graphs, np.array(classes), True)


def peptides(function: int, n_graphs: int, seed: int) -> GraphSet:
    """Small peptides that have one of the ten functions, and as many that have it not."""
    data = load_peptides(download=False)
    rng = np.random.default_rng([seed, function])
    small = np.flatnonzero([len(each) <= _MOST_TEXT for each in data.smiles])
    has_it = data.labels[small, function] == 1
    n = min(n_graphs // 2, int(has_it.sum()), int((~has_it).sum()))
    rows = np.concatenate([rng.choice(small[own], n, replace=False) for own in (has_it, ~has_it)])
    chem = require("rdkit.Chem", "reading SMILES")
    graphs = []
    for row in rows.tolist():
        atoms = chem.MolFromSmiles(data.smiles[row]).GetAtoms()
        numbers = np.array([atom.GetAtomicNum() for atom in atoms])
        graphs.append(LabelledGraph(data.graph(row), numbers))
    return GraphSet(graphs, np.repeat([1, 0], n), True)


SETTLING: dict[str, Callable[[], GraphSet]] = {
    "molecules, rule 0": partial(molecules, 400, 0, 1),
    "molecules, rule 1": partial(molecules, 400, 1, 1),
    "molecules, rule 2": partial(molecules, 1200, 2, 1),
    "contacts, 2 classes": partial(contacts, 800, 2, 1),
    "contacts, 6 classes": partial(contacts, 600, 6, 1),
    "peptides, function 0": partial(peptides, 0, 1200, 1),
    "peptides, function 8": partial(peptides, 8, 600, 1),
}


_TREES = 120
_LENGTHS = (1, 2, 3, 5)
#: Normalisations, and bins for each.
_BINS: dict[str | None, tuple[float, ...]] = {
    "sym": (1e-4, 0.3),
    "rw": (1e-4, 0.1),
    None: (0.5, 1.5),
}
_SUMS = {
    "counts": 1,
    "counts pairs": 3,
    "counts pairs returns": 3,
    "counts pairs returns signatures": 3,
}


def show(names: Sequence[str], n_folds: int, seed: int) -> None:
    """Print accuracies, and those of the choice within the folds, in per cent."""
    for name in names:
        data = SETTLING[name]()
        graphs, y = data.graphs, data.classes
        shared: dict[str, Any] = {"n_folds": n_folds, "seed": seed}
        print(f"{name}: {len(graphs)} graphs")
        rival = svm_scores(kernel_matrix(graphs, RIVAL), y, n_folds, seed)
        print(f"  {RIVAL:34} {100 * np.mean([each['accuracy'] for each in rival]):5.1f}")
        for label, X in signatures(graphs):
            _line(f"svm, {label}", nested_svm_scores({label: X}, y, **shared))
        for label, X in sums(graphs):
            _line(f"forest, {label}", nested_forest_scores({label: X}, y, n_trees=_TREES, **shared))
        masses = {MASSES: gaussian_kernel(walk_candidates(graphs, MASSES).popitem()[1])}
        _line(f"svm, {MASSES}", nested_scores(masses, y, **shared))
        for kind in (COLOURS, AUTO):
            _line(f"svm, {kind}", nested_scores(walk_candidates(graphs, kind), y, kind, **shared))


def signatures(graphs: Any) -> Iterator[tuple[str, Any]]:
    """Signatures of several normalisations, lengths and bins."""
    for normalization, width in ((norm, each) for norm, bins in _BINS.items() for each in bins):
        own = WalkLabelFeatures(
            "signatures", max(_LENGTHS), width=width, normalization=normalization
        )
        counts = own.fit_transform(graphs)
        for n_lengths in _LENGTHS:
            end = sum(map(len, own.signatures_[: n_lengths + 1]))
            label = f"signatures of {n_lengths}, {normalization}, bins of {width:g}"
            yield label, counts[:, :end]
            yield f"{label}, levels", count_levels(counts[:, :end])


def sums(graphs: Any) -> Iterator[tuple[str, Any]]:
    """Sets for forests."""
    for names, n_lengths in _SUMS.items():
        features = WalkLabelFeatures(tuple(names.split()), n_lengths, width=0.1)
        yield f"{names}, {n_lengths}", features.fit_transform(graphs)
    longer = WalkLabelFeatures(n_lengths=6)
    yield "counts pairs returns, 6", longer.fit_transform(graphs)
    for kind in (SPECTRUM, PAIRS):
        (X,) = candidate_features(
            graphs, scales=[0.81], n_walks=[1], n_eigenvalues=[32], kind=kind, estimate="exact"
        ).values()
        yield kind, X


def _line(name: str, scores: Sequence[FoldScore]) -> None:
    accuracy, inner = (
        100 * np.mean([getattr(score, each) for score in scores]) for each in ("accuracy", "inner")
    )
    print(f"  {name:46} {accuracy:5.1f}  (inner {inner:.1f})", flush=True)


_JUDGING_TREES = 120


def show_judging(
    names: Sequence[str], n_folds: int, seed: int, n_splits: int = 1, brief: bool = False
) -> None:
    """Print a line a collection and method; if brief, only the default and Weisfeiler–Lehman.

    The standard error of a difference is that of repeated cross-validation: Nadeau, Bengio:
    Inference for the generalization error. Machine Learning 52, 2003.
    """
    kinds = (AUTO,) if brief else (AUTO, COLOURS, MASSES, PAIRS, UNION)
    for name in names:
        data = load_set(name)
        print(f"{name}: {len(data.graphs)} graphs, {n_splits} times {n_folds} folds")
        found = {}
        for method in (*kinds, RIVAL):
            began, rows = process_time(), []
            for split in range(seed, seed + n_splits):
                folds = fold_seed(name, split, 0)
                rows.append(_accuracies(name, method, {"n_folds": n_folds, "seed": folds}))
            seconds = (process_time() - began) / n_splits
            found[method] = 100 * np.array(rows)
            mean, deviation = np.mean(found[method]), np.std(found[method])
            print(f"  {method:20} {mean:5.1f} ± {deviation:4.1f}  {seconds:6.1f} s", flush=True)
        gaps = found[AUTO] - found[RIVAL]
        error = np.std(gaps, ddof=1) * np.sqrt(1 / gaps.size + 1 / (n_folds - 1))
        print(f"  {AUTO} − {RIVAL}: {np.mean(gaps):+.1f} ± {error:.1f} points", flush=True)


def _accuracies(name: str, method: str, folds: dict[str, int]) -> list[float]:
    """Accuracy on every fold; features are made anew."""
    data = load_set(name)
    if method == RIVAL:
        cell = {"n_folds": folds["n_folds"], "fold_seed": folds["seed"]}
        return [
            score["accuracy"]
            for score in kernel_scores({"dataset": name, "method": method, **cell})
        ]
    if method in (PAIRS, UNION):
        grid: Any = {"scales": [0.25, 0.81], "n_walks": [1], "n_eigenvalues": [32]}
        candidates = candidate_features(
            data.graphs, kind=method, estimate="exact", n_jobs=1, **grid
        )
    else:
        candidates = walk_candidates(data.graphs, method, n_jobs=1)
    scores = nested_scores(candidates, data.classes, method, n_trees=_JUDGING_TREES, **folds)
    return [score.accuracy for score in scores]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(prog="python -m grfpp_lab.studies.classification")
    parser.add_argument("names", nargs="*", help="collections; all without any")
    parser.add_argument("--settling", action="store_true", help="those that settings come from")
    parser.add_argument("--brief", action="store_true", help="only the default and its rival")
    parser.add_argument("--splits", type=int, default=1, help="number of times, with other folds")
    parser.add_argument("--folds", type=int, default=None, help="10; 5 with --settling")
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    chosen = parser.parse_args(arguments)
    known = tuple(SETTLING) if chosen.settling else SIX
    unknown = [name for name in chosen.names if name not in known]
    if unknown:
        parser.error(f"there is no collection {unknown[0]!r}; there are {', '.join(known)}")
    names = chosen.names or known
    if chosen.settling:
        show(names, chosen.folds or 5, chosen.seed)
    else:
        show_judging(names, chosen.folds or 10, chosen.seed, chosen.splits, chosen.brief)


if __name__ == "__main__":
    main()
