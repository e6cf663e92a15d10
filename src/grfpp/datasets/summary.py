"""Sizes of a data set, counted when it is asked for."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from grfpp.datasets.graphs import load_graph
from grfpp.datasets.meshes import load_mesh
from grfpp.datasets.registry import LABORATORY, dataset_info
from grfpp.datasets.tudataset import load_tudataset
from grfpp.graph import Graph

Counts = dict[str, int | float]


def count(name: str, *, download: bool = True) -> Counts:
    """Load a data set and count its nodes, edges, classes, graphs and faces.

    Examples
    --------
    >>> count("karate", download=False)
    {'nodes': 34, 'edges': 78, 'classes': 2}
    """
    info = dataset_info(name)
    if info.family == "graphs":
        network = load_graph(info.name, download=download)
        return {**_sizes(network.graph), "classes": len(network.classes)}
    if info.family == "tudataset":
        collection = load_tudataset(info.name, download=download)
        means = np.mean([list(_sizes(graph).values()) for graph in collection.graphs], axis=0)
        nodes, edges = means.round(2).tolist()
        sizes = {"nodes of a graph": nodes, "edges of a graph": edges}
        return {"graphs": len(collection), "classes": len(collection.classes), **sizes}
    if info.family == "meshes":
        mesh = load_mesh(info.name, download=download)
        return {**_sizes(mesh.graph), "faces": len(mesh.faces)}
    counts: Counts = import_module(f"{LABORATORY}.counts").count(info.name, download=download)
    return counts


def _sizes(graph: Graph) -> Counts:
    return {"nodes": graph.n_nodes, "edges": graph.n_edges}
