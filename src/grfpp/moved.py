"""Modules that have moved: their old names still import, with a warning that tells the new ones."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: Names that the documentation once gave, and where they live now.
MOVED = {
    "grfpp.tasks.candidates": "grfpp.tasks.graphs.candidates",
    "grfpp.tasks.clustering": "grfpp.tasks.nodes.clustering",
    "grfpp.tasks.features": "grfpp.tasks.nodes.features",
    "grfpp.tasks.interpolation": "grfpp.tasks.nodes.interpolation",
    "grfpp.tasks.label_pairs": "grfpp.tasks.graphs.label_pairs",
    "grfpp.tasks.labelled": "grfpp.tasks.graphs.labelled",
    "grfpp.tasks.nested": "grfpp.tasks.graphs.nested",
    "grfpp.tasks.normal_prediction": "grfpp.tasks.nodes.normal_prediction",
    "grfpp.tasks.spectrum": "grfpp.tasks.graphs.spectrum",
    "grfpp.tasks.vertex_normals": "grfpp.tasks.nodes.vertex_normals",
    "grfpp.tasks.whole_graph": "grfpp.tasks.nodes.inputs",
    "grfpp.torch.masks": "grfpp.torch.attention.masks",
    "grfpp.torch.small_vit": "grfpp.torch.attention.small_vit",
}


class _MovedModules(MetaPathFinder, Loader):
    """Finds what no other finder does, since it is asked last."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        old, new = module.__name__, MOVED[module.__name__]
        warnings.warn(f"{old} is now {new}", DeprecationWarning, stacklevel=2)
        sys.modules[old] = import_module(new)


def find_moved_modules() -> None:
    """Let the old names be imported."""
    if not any(isinstance(finder, _MovedModules) for finder in sys.meta_path):
        sys.meta_path.append(_MovedModules())
