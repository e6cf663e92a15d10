"""Tasks as scikit-learn estimators: features, clusters, interpolation, labels, graph features.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grfpp._imports import lazy_names

if TYPE_CHECKING:
    from grfpp.tasks.calibration import calibration_error
    from grfpp.tasks.clustering import SpectralKernelClustering, pair_error
    from grfpp.tasks.features import GraphRandomFeatures
    from grfpp.tasks.graphs.kernels import KernelSpectrumFeatures, LabelPairFeatures
    from grfpp.tasks.graphs.labelled import LabelledGraph, labelled_graphs
    from grfpp.tasks.graphs.walk_labels import WalkLabelFeatures
    from grfpp.tasks.interpolation import KernelInterpolator
    from grfpp.tasks.labels import KernelLabelPropagation
    from grfpp.tasks.normals import hide_normals, predict_normals, vertex_normals
    from grfpp.tasks.splits import NodeKFold, WholeGraph

_NAMES = {
    "calibration": "calibration_error",
    "clustering": "SpectralKernelClustering pair_error",
    "features": "GraphRandomFeatures",
    "graphs.kernels": "KernelSpectrumFeatures LabelPairFeatures",
    "graphs.labelled": "LabelledGraph labelled_graphs",
    "graphs.walk_labels": "WalkLabelFeatures",
    "interpolation": "KernelInterpolator",
    "labels": "KernelLabelPropagation",
    "normals": "hide_normals predict_normals vertex_normals",
    "splits": "NodeKFold WholeGraph",
}
__getattr__, __dir__ = lazy_names(__name__, _NAMES)

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
    "calibration_error",
    "hide_normals",
    "labelled_graphs",
    "pair_error",
    "predict_normals",
    "vertex_normals",
]
