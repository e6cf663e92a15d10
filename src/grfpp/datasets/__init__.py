"""Graphs to try things on: loaders of public data sets, and generators that need no data."""

from grfpp.datasets.block_models import LabelledNodes, cluster_graphs, pattern_graphs
from grfpp.datasets.fetch import at_hand, cache_folder, data_folder, fetch_file, where
from grfpp.datasets.generators import (
    binary_tree,
    connected_random,
    erdos_renyi,
    grid,
    random_regular,
)
from grfpp.datasets.graphs import GraphDataset, load_graph, read_labelled_gml
from grfpp.datasets.infection import InfectionGraph, infection_graph
from grfpp.datasets.molecule_shapes import SHAPE_DESCRIPTORS, molecule_shape
from grfpp.datasets.peptide_shapes import PeptideShapes, load_peptide_shapes
from grfpp.datasets.peptides import (
    LONGEST_PEPTIDE,
    Peptides,
    PeptideSplits,
    load_peptide_splits,
    load_peptides,
    longest_peptide,
    molecule_graph,
)
from grfpp.datasets.pictures.image_folder import ImageFolder
from grfpp.datasets.pictures.images import Images, load_cifar10, load_mnist
from grfpp.datasets.pictures.superpixels import LONG_CIFAR_IMAGE, SuperpixelGraph, superpixel_graph
from grfpp.datasets.planetoid import SplitGraph, load_planetoid, read_planetoid
from grfpp.datasets.registry import (
    DataFile,
    DatasetInfo,
    MeshInfo,
    all_datasets,
    dataset_info,
    mesh_table,
)
from grfpp.datasets.summary import count
from grfpp.datasets.surfaces.meshes import TriangleMesh, load_mesh, triangulated_sphere
from grfpp.datasets.surfaces.shapes import LONG_SHAPE, Shapes, load_shapes
from grfpp.datasets.tudataset import LONG_REDDIT_GRAPH, TUDataset, load_tudataset, read_tudataset

__all__ = [
    "LONGEST_PEPTIDE",
    "LONG_CIFAR_IMAGE",
    "LONG_REDDIT_GRAPH",
    "LONG_SHAPE",
    "SHAPE_DESCRIPTORS",
    "DataFile",
    "DatasetInfo",
    "GraphDataset",
    "ImageFolder",
    "Images",
    "InfectionGraph",
    "LabelledNodes",
    "MeshInfo",
    "PeptideShapes",
    "PeptideSplits",
    "Peptides",
    "Shapes",
    "SplitGraph",
    "SuperpixelGraph",
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
    "infection_graph",
    "load_cifar10",
    "load_graph",
    "load_mesh",
    "load_mnist",
    "load_peptide_shapes",
    "load_peptide_splits",
    "load_peptides",
    "load_planetoid",
    "load_shapes",
    "load_tudataset",
    "longest_peptide",
    "mesh_table",
    "molecule_graph",
    "molecule_shape",
    "pattern_graphs",
    "random_regular",
    "read_labelled_gml",
    "read_planetoid",
    "read_tudataset",
    "superpixel_graph",
    "triangulated_sphere",
    "where",
]
