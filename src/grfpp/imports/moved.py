"""Modules that have moved: their old names still import, with a warning that tells the new ones."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: What was once given, most of it by the documentation, and where it lives now. The laboratory's
#: are names only: nothing of it is imported here.
MOVED = {
    "grfpp.benchmark": "grfpp_lab.benchmark",
    "grfpp.tasks.whole_graph": "grfpp.tasks.nodes.splits",
    "grfpp.torch.kernel": "grfpp.torch.kernels.learnable",
    "grfpp.torch.linear_attention": "grfpp.torch.attention.linear",
}
for _package, _names in {
    "grfpp.tasks.graphs": "candidates label_pairs labelled nested spectrum",
    "grfpp.tasks.nodes": "clustering features interpolation normal_prediction",
    "grfpp.torch.attention": "adapter factored masks small_vit",
    "grfpp.torch.gp": "node_gp operator pathwise",
    "grfpp.torch.kernels": "length_factor modulation",
}.items():
    for _name in _names.split():
        MOVED[f"{_package.rpartition('.')[0]}.{_name}"] = f"{_package}.{_name}"


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
