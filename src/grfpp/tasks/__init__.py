"""Downstream tasks as scikit-learn estimators: features, clustering, interpolation, spectra.

The names here are imported when they are first used, so that none of them costs the others'
packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grfpp.tasks.graphs.candidates import candidate_features
    from grfpp.tasks.graphs.label_pairs import LabelPairFeatures
    from grfpp.tasks.graphs.labelled import LabelledGraph
    from grfpp.tasks.graphs.nested import nested_forest_scores
    from grfpp.tasks.graphs.spectrum import KernelSpectrumFeatures
    from grfpp.tasks.nodes.clustering import SpectralKernelClustering
    from grfpp.tasks.nodes.features import GraphRandomFeatures
    from grfpp.tasks.nodes.interpolation import KernelInterpolator
    from grfpp.tasks.nodes.normal_prediction import hide_normals, predict_normals
    from grfpp.tasks.nodes.rand_error import pair_error
    from grfpp.tasks.nodes.whole_graph import WholeGraph

#: Where each name lives.
_HOMES = {
    "GraphRandomFeatures": "nodes.features",
    "KernelInterpolator": "nodes.interpolation",
    "KernelSpectrumFeatures": "graphs.spectrum",
    "LabelPairFeatures": "graphs.label_pairs",
    "LabelledGraph": "graphs.labelled",
    "SpectralKernelClustering": "nodes.clustering",
    "WholeGraph": "nodes.whole_graph",
    "candidate_features": "graphs.candidates",
    "hide_normals": "nodes.normal_prediction",
    "nested_forest_scores": "graphs.nested",
    "pair_error": "nodes.rand_error",
    "predict_normals": "nodes.normal_prediction",
}

__all__ = [
    "GraphRandomFeatures",
    "KernelInterpolator",
    "KernelSpectrumFeatures",
    "LabelPairFeatures",
    "LabelledGraph",
    "SpectralKernelClustering",
    "WholeGraph",
    "candidate_features",
    "hide_normals",
    "nested_forest_scores",
    "pair_error",
    "predict_normals",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
