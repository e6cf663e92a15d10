"""Graphs to try things on: loaders of public data sets, and generators that need no data."""

from grfpp.datasets.fetch import at_hand, cache_folder, data_folder, fetch_file, where
from grfpp.datasets.generators import (
    LabelledNodes,
    binary_tree,
    cluster_graphs,
    connected_random,
    erdos_renyi,
    grid,
    pattern_graphs,
    random_regular,
)
from grfpp.datasets.graphs import (
    GraphDataset,
    SplitGraph,
    load_graph,
    load_planetoid,
    read_labelled_gml,
    read_planetoid,
)
from grfpp.datasets.meshes import TriangleMesh, load_mesh, triangulated_sphere
from grfpp.datasets.registry import (
    DataFile,
    DatasetInfo,
    MeshInfo,
    all_datasets,
    dataset_info,
    mesh_table,
)
from grfpp.datasets.summary import count
from grfpp.datasets.tudataset import TUDataset, load_tudataset, read_tudataset

__all__ = [
    "DataFile",
    "DatasetInfo",
    "GraphDataset",
    "LabelledNodes",
    "MeshInfo",
    "SplitGraph",
    "TUDataset",
    "TriangleMesh",
    "all_datasets",
    "at_hand",
    "binary_tree",
    "cache_folder",
    "cluster_graphs",
    "connected_random",
    "count",
    "data_folder",
    "dataset_info",
    "erdos_renyi",
    "fetch_file",
    "grid",
    "load_graph",
    "load_mesh",
    "load_planetoid",
    "load_tudataset",
    "mesh_table",
    "pattern_graphs",
    "random_regular",
    "read_labelled_gml",
    "read_planetoid",
    "read_tudataset",
    "triangulated_sphere",
    "where",
]
