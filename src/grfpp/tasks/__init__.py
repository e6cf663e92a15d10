"""Downstream tasks as scikit-learn estimators: features, clusters, interpolation, labels, spectra.

The names here are imported when they are first used, so that none of them costs the others'
packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grfpp.imports.lazy import lazy_names

if TYPE_CHECKING:
    from grfpp.tasks.graphs.candidates import candidate_features
    from grfpp.tasks.graphs.label_pairs import LabelPairFeatures
    from grfpp.tasks.graphs.labelled import LabelledGraph, labelled_graphs
    from grfpp.tasks.graphs.nested import nested_forest_scores
    from grfpp.tasks.graphs.nested_svm import nested_svm_scores
    from grfpp.tasks.graphs.spectrum import KernelSpectrumFeatures
    from grfpp.tasks.graphs.walk_labels import WalkLabelFeatures
    from grfpp.tasks.nodes.clustering import SpectralKernelClustering, pair_error
    from grfpp.tasks.nodes.features import GraphRandomFeatures
    from grfpp.tasks.nodes.harmonic import biharmonic, harmonic
    from grfpp.tasks.nodes.interpolation import KernelInterpolator
    from grfpp.tasks.nodes.labels.calibration import calibration_error
    from grfpp.tasks.nodes.labels.estimator import KernelLabelPropagation
    from grfpp.tasks.nodes.normal_prediction import hide_normals, predict_normals
    from grfpp.tasks.nodes.splits import NodeKFold, WholeGraph
    from grfpp.tasks.nodes.vertex_normals import vertex_normals

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "graphs.candidates": "candidate_features",
        "graphs.label_pairs": "LabelPairFeatures",
        "graphs.labelled": "LabelledGraph labelled_graphs",
        "graphs.nested": "nested_forest_scores",
        "graphs.nested_svm": "nested_svm_scores",
        "graphs.spectrum": "KernelSpectrumFeatures",
        "graphs.walk_labels": "WalkLabelFeatures",
        "nodes.clustering": "SpectralKernelClustering pair_error",
        "nodes.features": "GraphRandomFeatures",
        "nodes.harmonic": "biharmonic harmonic",
        "nodes.interpolation": "KernelInterpolator",
        "nodes.labels.calibration": "calibration_error",
        "nodes.labels.estimator": "KernelLabelPropagation",
        "nodes.normal_prediction": "hide_normals predict_normals",
        "nodes.splits": "NodeKFold WholeGraph",
        "nodes.vertex_normals": "vertex_normals",
    },
)

__all__ = [
    "GraphRandomFeatures",
    "KernelInterpolator",
    "KernelLabelPropagation",
    "KernelSpectrumFeatures",
    "LabelPairFeatures",
    "LabelledGraph",
    "NodeKFold",
    "SpectralKernelClustering",
    "WalkLabelFeatures",
    "WholeGraph",
    "biharmonic",
    "calibration_error",
    "candidate_features",
    "harmonic",
    "hide_normals",
    "labelled_graphs",
    "nested_forest_scores",
    "nested_svm_scores",
    "pair_error",
    "predict_normals",
    "vertex_normals",
]
