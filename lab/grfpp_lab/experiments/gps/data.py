"""The data sets of the graph-transformer experiment as PyG graphs, split, without encodings.

Nothing here imports torch before it is asked for data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from typing import Any, Literal

import numpy as np

from grfpp._imports import how_to_install, missing_packages, require
from grfpp.datasets import at_hand
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.typing import FloatArray, IntArray
from grfpp_lab.datasets import block_models
from grfpp_lab.datasets.images import load_cifar10, load_mnist, superpixel_graph
from grfpp_lab.datasets.peptides import (
    SHAPE_DESCRIPTORS,
    Peptides,
    load_peptide_shapes,
    load_peptide_splits,
    load_peptides,
    read_smiles,
)

#: Graphs to learn from, to choose by and to test on.
Sizes = tuple[int, int, int]
Metric = Literal["accuracy", "weighted accuracy", "AP", "MAE"]

#: What is cut out of a larger data set, and what is generated, is the same for all seeds.
_DATA_SEED = 0
#: A further draw begins so many images or molecules later: more than one has, but for MNIST, whose
#: draws 0, 1 and 3 have nothing in common.
_APART = 1200
_PATTERNS = 20
#: Peptides whose conformers are embedded have at most so many atoms: it takes long for larger ones.
_MOST_ATOMS = 60


@dataclass(frozen=True)
class Task:
    """What is to be learned."""

    #: Title of the data set.
    title: str
    #: How well it is learned: accuracy; the mean of the classes' accuracies (the benchmark's
    #: weighted accuracy); the mean average precision of several yes-or-no questions; the mean
    #: absolute error of several numbers, each in units of its standard deviation.
    metric: Metric
    #: Classes, questions or numbers.
    n_outputs: int
    #: Whether nodes are classified, or whole graphs.
    of_nodes: bool = False
    #: Data sets and packages without which there is nothing to learn from.
    needs: tuple[str, ...] = ()
    package: str | None = None

    @property
    def is_error(self) -> bool:
        """Whether less of the metric is better."""
        return self.metric == "MAE"


TASKS = {
    "pattern": Task("PATTERN", "weighted accuracy", 2, of_nodes=True),
    "cluster": Task(
        "CLUSTER", "weighted accuracy", block_models.CLUSTER_COMMUNITIES, of_nodes=True
    ),
    "mnist": Task("MNIST", "accuracy", 10, needs=("mnist",), package="skimage"),
    "cifar10": Task("CIFAR-10", "accuracy", 10, needs=("cifar10",), package="skimage"),
    "peptides-func": Task(
        "Peptides-func", "AP", 10, needs=("peptides", "peptide-splits"), package="rdkit"
    ),
    "peptides-struct": Task(
        "Peptides-struct (our targets)",
        "MAE",
        len(SHAPE_DESCRIPTORS),
        needs=("peptides", "peptide-splits"),
        package="rdkit",
    ),
}


@dataclass(frozen=True, eq=False)
class Splits:
    """Lists of PyG ``Data`` with ``x``, ``edge_index`` and ``y``."""

    train: Sequence[Any]
    val: Sequence[Any]
    test: Sequence[Any]

    @property
    def everything(self) -> list[Any]:
        """All three, one after the other."""
        return [*self.train, *self.val, *self.test]

    def like(self, graphs: Sequence[Any]) -> Splits:
        """Other graphs, as many, in the same three parts."""
        return Splits(*_cut(graphs, (len(self.train), len(self.val), len(self.test))))


def why_absent(name: str) -> str | None:
    """Why a data set cannot be had, or ``None`` when it can."""
    task = TASKS[name]
    if task.package is not None and (absent := missing_packages(task.package)):
        return how_to_install(absent)
    missing = [each for each in task.needs if not at_hand(each)]
    return f"{', '.join(missing)} is not at hand" if missing else None


@lru_cache(maxsize=len(TASKS))
def load(name: str, n_train: int, n_val: int, n_test: int, draw: int = 0) -> Splits:
    """Make or read graphs; they are kept for the next cell of the same process.

    Draw 0 is the experiment's. Others share nothing with it and nothing with the benchmark's test
    graphs, nor its validation graphs: all their parts are cut out of what the benchmark trains on.
    They are for choosing settings.
    """
    sizes = (n_train, n_val, n_test)
    makers: dict[str, Callable[[Sizes, int], list[list[Any]]]] = {
        "pattern": partial(_nodes, block_models.pattern_graphs),
        "cluster": partial(_nodes, block_models.cluster_graphs),
        "mnist": _mnist,
        "cifar10": _cifar,
        "peptides-func": _functions,
        "peptides-struct": _structures,
    }
    return Splits(*makers[name](sizes, draw))


def _cut(graphs: Sequence[Any], sizes: Sizes) -> list[list[Any]]:
    ends = np.cumsum(sizes)
    return [list(graphs[end - size : end]) for end, size in zip(ends, sizes, strict=True)]


def _data(graph: Graph, x: FloatArray, y: Any) -> Any:
    """A PyG graph; all edges count one."""
    import torch

    sources = np.repeat(np.arange(graph.n_nodes), graph.out_degree)
    return require("torch_geometric").data.Data(
        x=torch.as_tensor(x, dtype=torch.float32),
        edge_index=torch.as_tensor(np.stack([sources, graph.indices]), dtype=torch.int64),
        y=torch.as_tensor(y),
    )


def _nodes(make: Callable[..., Any], sizes: Sizes, draw: int) -> list[list[Any]]:
    """Block models; signals as one column each."""
    patterns = {"n_patterns": _PATTERNS} if make is block_models.pattern_graphs else {}
    found = make(sum(sizes), seed=_DATA_SEED + draw, **patterns)
    n_signals = 1 + max((int(each.signals.max()) for each in found), default=0)
    graphs = [
        _data(each.graph, np.eye(n_signals)[each.signals], each.labels.copy()) for each in found
    ]
    return _cut(graphs, sizes)


def _mnist(sizes: Sizes, draw: int) -> list[list[Any]]:
    """Training and validation images from the training set, as in the benchmark."""
    training = load_mnist("train", download=False)
    if draw:
        return _cut(_superpixels(training, sum(sizes), draw), sizes)
    n_train, n_val, n_test = sizes
    seen = _superpixels(training, n_train + n_val)
    unseen = _superpixels(load_mnist("test", download=False), n_test)
    return [seen[:n_train], seen[n_train:], unseen]


def _cifar(sizes: Sizes, draw: int) -> list[list[Any]]:
    return _cut(_superpixels(load_cifar10(download=False), sum(sizes), draw), sizes)


def _superpixels(images: Any, n_images: int, draw: int = 0) -> list[Any]:
    """The first images of a draw as graphs; features are colours and places, as published."""
    chosen = slice(draw * _APART, draw * _APART + n_images)
    found = []
    for image, label in zip(images.images[chosen], images.labels[chosen], strict=True):
        made = superpixel_graph(image)
        graph = Graph((made.graph.adjacency > 0).astype(np.float64))
        features = np.hstack([made.colours.reshape(graph.n_nodes, -1), made.centroids])
        found.append(_data(graph, features, [int(label)]))
    return found


def _functions(sizes: Sizes, draw: int) -> list[list[Any]]:
    """Molecules drawn from each part of the benchmark's split."""
    peptides = load_peptides(download=False)
    parts = _rows(sizes, draw)
    return [[_molecule(peptides, row, peptides.labels[row]) for row in rows] for rows in parts]


def _structures(sizes: Sizes, draw: int) -> list[list[Any]]:
    """Small molecules of each part, with what their shapes are, in units of the training's spread.

    Molecules without a conformer are left out.
    """
    peptides = load_peptides(download=False)
    chosen = _rows(sizes, draw, lambda row: _n_atoms(peptides.smiles[row]) <= _MOST_ATOMS)
    shapes = load_peptide_shapes(np.concatenate(chosen), download=False, n_jobs=1)
    values = np.split(shapes, np.cumsum(sizes)[:-1])
    kept = [np.isfinite(each).all(axis=1) for each in values]
    known = values[0][kept[0]]
    return [
        [
            _molecule(peptides, row, (numbers - known.mean(axis=0)) / known.std(axis=0))
            for row, numbers in zip(rows[good], part[good], strict=True)
        ]
        for rows, part, good in zip(chosen, values, kept, strict=True)
    ]


def _rows(
    sizes: Sizes, draw: int, is_wanted: Callable[[int], bool] = lambda row: True
) -> list[IntArray]:
    """Molecules that are wanted, drawn from the parts of the benchmark, or all from the first."""
    splits = load_peptide_splits(download=False)
    rng = np.random.default_rng(_DATA_SEED)
    drawn = [rng.permutation(rows) for rows in (splits.train, splits.val, splits.test)]
    if draw:
        later = islice(filter(is_wanted, drawn[0]), draw * _APART, None)
        found = [np.sort(list(islice(later, size))) for size in sizes]
        if [len(each) for each in found] != list(sizes):
            raise InputError(f"there are too few molecules for draw {draw}")
        return found
    return [
        np.sort(list(islice(filter(is_wanted, rows), size)))
        for rows, size in zip(drawn, sizes, strict=True)
    ]


def _molecule(peptides: Peptides, row: int, targets: Any) -> Any:
    y = np.asarray(targets, dtype=np.float32)[None, :]
    return _data(peptides.graph(int(row)), _atoms(peptides.smiles[row]), y)


def _n_atoms(smiles: str) -> int:
    return int(read_smiles(smiles).GetNumAtoms())


def _atoms(smiles: str) -> FloatArray:
    """What RDKit knows of every atom, as columns of 0 and 1."""
    molecule = read_smiles(smiles)
    return np.array(
        [
            [
                *_one_of(atom.GetSymbol(), ("C", "N", "O", "S")),
                *_one_of(atom.GetDegree(), (1, 2, 3)),
                *_one_of(atom.GetTotalNumHs(), (0, 1, 2)),
                *_one_of(atom.GetFormalCharge(), (-1, 0, 1)),
                *_one_of(str(atom.GetHybridization()), ("SP2", "SP3")),
                *_one_of(str(atom.GetChiralTag()), ("CHI_TETRAHEDRAL_CW", "CHI_TETRAHEDRAL_CCW")),
                float(atom.GetIsAromatic()),
                float(atom.IsInRing()),
            ]
            for atom in molecule.GetAtoms()
        ]
    )


def _one_of(value: Any, known: Sequence[Any]) -> list[float]:
    return [float(value == each) for each in known]
