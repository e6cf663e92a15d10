"""Collections that settings were chosen on: generated ones, and peptides.

None of them is among those that the settings are judged on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import networkx as nx
import numpy as np

from grfpp.datasets import load_peptides
from grfpp.graph import Graph
from grfpp.imports.optional import require
from grfpp.tasks.graphs.labelled import LabelledGraph
from grfpp_lab.experiments.classification.graph_sets import GraphSet

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
