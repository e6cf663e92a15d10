"""Sizes of a data set, counted when it is asked for."""

from __future__ import annotations

from typing import Literal

import numpy as np

from grfpp.datasets.graphs import load_graph
from grfpp.datasets.peptides import load_peptide_splits, load_peptides
from grfpp.datasets.pictures.images import load_cifar10, load_mnist
from grfpp.datasets.planetoid import load_planetoid
from grfpp.datasets.registry import dataset_info
from grfpp.datasets.surfaces.meshes import load_mesh
from grfpp.datasets.surfaces.shapes import load_shapes
from grfpp.datasets.tudataset import load_tudataset
from grfpp.graph import Graph

Counts = dict[str, int | float]

_SPLITS: tuple[Literal["train"], Literal["test"]] = ("train", "test")


def count(name: str, *, download: bool = True) -> Counts:
    """Load a data set and count its nodes, edges, classes and what else it has.

    Examples
    --------
    >>> count("karate", download=False)
    {'nodes': 34, 'edges': 78, 'classes': 2}
    """
    info = dataset_info(name)
    match info.family, info.name:
        case "graphs", name:
            network = load_graph(name, download=download)
            return {**_sizes(network.graph), "classes": len(network.classes)}
        case "nodes", name:
            citations = load_planetoid(name, download=download)
            sizes = {**_sizes(citations.graph), "classes": citations.n_classes}
            parts = ("train", "validation", "test")
            return {**sizes, **{each: len(getattr(citations, each)) for each in parts}}
        case "tudataset", name:
            collection = load_tudataset(name, download=download)
            return {
                "graphs": len(collection),
                "classes": len(collection.classes),
                "nodes of a graph": _mean([graph.n_nodes for graph in collection.graphs]),
                "edges of a graph": _mean([graph.n_edges for graph in collection.graphs]),
            }
        case "meshes", name:
            mesh = load_mesh(name, download=download)
            return {**_sizes(mesh.graph), "faces": len(mesh.faces)}
        case _, "peptides":
            peptides = load_peptides(download=download)
            return {"molecules": len(peptides), "functions": peptides.labels.shape[1]}
        case _, "peptide-splits":
            rows = load_peptide_splits(download=download)
            return {"train": len(rows.train), "val": len(rows.val), "test": len(rows.test)}
        case _, "shapes":
            train, test = (load_shapes(split, download=download) for split in _SPLITS)
            nodes = [mesh.graph.n_nodes for mesh in (*train.meshes, *test.meshes)]
            counted: Counts = {"meshes": len(nodes), "classes": len(train.classes)}
            return {**counted, "fewest nodes": min(nodes), "most nodes": max(nodes)}
        case _, "cifar10":
            images = load_cifar10(download=download)
            return {"images": len(images), "classes": len(images.classes)}
    digits, others = (load_mnist(split, download=download) for split in _SPLITS)
    return {"train": len(digits), "test": len(others), "classes": len(digits.classes)}


def _sizes(graph: Graph) -> Counts:
    return {"nodes": graph.n_nodes, "edges": graph.n_edges}


def _mean(values: list[int]) -> float:
    return round(float(np.mean(values)), 2)
