"""Sizes of a data set, counted when it is asked for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grfpp.datasets.graphs import load_graph
from grfpp.datasets.peptides import load_peptide_splits, load_peptides
from grfpp.datasets.pictures.images import load_cifar10, load_mnist
from grfpp.datasets.registry import dataset_info
from grfpp.datasets.surfaces.meshes import load_mesh
from grfpp.datasets.surfaces.shapes import load_shapes
from grfpp.datasets.tudataset import load_tudataset

Counts = dict[str, int | float]


def count(name: str, *, download: bool = True) -> Counts:
    """Load a data set and count its nodes, edges, classes and what else it has.

    Examples
    --------
    >>> from grfpp.datasets import count
    >>> count("karate", download=False)
    {'nodes': 34, 'edges': 78, 'classes': 2}
    """
    info = dataset_info(name)
    return _COUNTERS[info.family](info.name, download)


def _graph(name: str, download: bool) -> Counts:
    dataset = load_graph(name, download=download)
    graph = dataset.graph
    return {"nodes": graph.n_nodes, "edges": graph.n_edges, "classes": len(dataset.classes)}


def _tudataset(name: str, download: bool) -> Counts:
    dataset = load_tudataset(name, download=download)
    return {
        "graphs": len(dataset),
        "classes": len(dataset.classes),
        "nodes of a graph": _mean([graph.n_nodes for graph in dataset.graphs]),
        "edges of a graph": _mean([graph.n_edges for graph in dataset.graphs]),
    }


def _mesh(name: str, download: bool) -> Counts:
    mesh = load_mesh(name, download=download)
    return {"nodes": mesh.graph.n_nodes, "edges": mesh.graph.n_edges, "faces": len(mesh.faces)}


def _peptides(name: str, download: bool) -> Counts:
    if name == "peptides":
        peptides = load_peptides(download=download)
        return {"molecules": len(peptides), "functions": peptides.labels.shape[1]}
    splits = load_peptide_splits(download=download)
    return {"train": len(splits.train), "val": len(splits.val), "test": len(splits.test)}


def _shapes(name: str, download: bool) -> Counts:
    train, test = load_shapes("train", download=download), load_shapes("test", download=download)
    sizes = [mesh.graph.n_nodes for mesh in (*train.meshes, *test.meshes)]
    return {
        "meshes": len(sizes),
        "classes": len(train.classes),
        "fewest nodes": min(sizes),
        "most nodes": max(sizes),
    }


def _images(name: str, download: bool) -> Counts:
    if name == "cifar10":
        images = load_cifar10(download=download)
        return {"images": len(images), "classes": len(images.classes)}
    train, test = load_mnist("train", download=download), load_mnist("test", download=download)
    return {"train": len(train), "test": len(test), "classes": len(train.classes)}


def _mean(values: list[int]) -> float:
    return round(float(np.mean(values)), 2)


_COUNTERS: dict[str, Callable[[str, bool], Counts]] = {
    "graphs": _graph,
    "tudataset": _tudataset,
    "meshes": _mesh,
    "peptides": _peptides,
    "shapes": _shapes,
    "images": _images,
}
