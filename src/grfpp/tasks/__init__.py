"""Downstream tasks as scikit-learn estimators: features, clustering, interpolation, spectra.

The names here are imported when they are first used, so that none of them costs the others'
packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grfpp.tasks.clustering import SpectralKernelClustering
    from grfpp.tasks.features import GraphRandomFeatures
    from grfpp.tasks.interpolation import KernelInterpolator
    from grfpp.tasks.label_pairs import LabelPairFeatures
    from grfpp.tasks.labelled import LabelledGraph
    from grfpp.tasks.spectrum import KernelSpectrumFeatures

#: Where each estimator lives.
_HOMES = {
    "GraphRandomFeatures": "grfpp.tasks.features",
    "KernelInterpolator": "grfpp.tasks.interpolation",
    "KernelSpectrumFeatures": "grfpp.tasks.spectrum",
    "LabelPairFeatures": "grfpp.tasks.label_pairs",
    "LabelledGraph": "grfpp.tasks.labelled",
    "SpectralKernelClustering": "grfpp.tasks.clustering",
}

__all__ = [
    "GraphRandomFeatures",
    "KernelInterpolator",
    "KernelSpectrumFeatures",
    "LabelPairFeatures",
    "LabelledGraph",
    "SpectralKernelClustering",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
