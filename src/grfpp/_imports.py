"""Optional packages, imported where they are needed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from grfpp.errors import InputError

_LABORATORY = "./lab"
#: The extra of grfpp that brings each (or the laboratory), and what pip calls it.
_EXTRAS = {
    "PIL": (_LABORATORY, "pillow"),
    "cloudpickle": ("distributed", "cloudpickle"),
    "dask": ("distributed", "dask"),
    "distributed": ("distributed", "distributed"),
    "gpytorch": ("gpytorch", "gpytorch"),
    "grakel": (_LABORATORY, "grakel"),
    "grfpp_lab": (_LABORATORY, "grfpp-lab"),
    "jinja2": ("plot", "jinja2"),
    "linear_operator": ("gpytorch", "linear_operator"),
    "matplotlib": ("plot", "matplotlib"),
    "meshio": ("mesh", "meshio"),
    "pooch": (_LABORATORY, "pooch"),
    "pyarrow": ("frames", "pyarrow"),
    "pynndescent": ("points", "pynndescent"),
    "rdkit": (_LABORATORY, "rdkit"),
    "skimage": (_LABORATORY, "scikit-image"),
    "sknetwork": (_LABORATORY, "scikit-network"),
    "torch": ("torch", "torch"),
    "torch_geometric": ("torch", "torch-geometric"),
    "trimesh": ("mesh", "trimesh"),
}


class MissingPackageError(InputError, ImportError):
    """An optional package is not installed; the message names the extra that brings it."""


def require(name: str, purpose: str = "this part of grfpp") -> Any:
    """Import an optional package, or say what to install.

    Parameters
    ----------
    name
        A package or a module of one, such as ``"torch"`` or ``"rdkit.Chem"``.
    purpose
        What needs it, for the message.

    Examples
    --------
    >>> require("torch").__name__
    'torch'
    """
    extra, package = _EXTRAS[name.partition(".")[0]]
    try:
        with warnings.catch_warnings():
            # Some are built with parts of others that are deprecated: no user can help that.
            warnings.simplefilter("ignore")
            return import_module(name)
    except ImportError as error:
        raise MissingPackageError(
            f"{purpose} needs {package}, which cannot be imported ({error}): {_command([extra])}"
        ) from None


def missing_packages(*names: str) -> list[str]:
    """Those of some optional packages that are not installed; by default of what draws pages."""
    return [name for name in names or ("matplotlib", "jinja2") if find_spec(name) is None]


def how_to_install(missing: Sequence[str]) -> str:
    """One line that says what to do about missing packages.

    Examples
    --------
    >>> how_to_install(["matplotlib", "jinja2"])
    "matplotlib and jinja2 are not installed: pip install '.[plot]' in a clone of grfpp"
    """
    extras, packages = zip(*(_EXTRAS[name] for name in missing), strict=True)
    verb = "is" if len(missing) == 1 else "are"
    return f"{' and '.join(packages)} {verb} not installed: {_command(list(dict.fromkeys(extras)))}"


def _command(extras: Sequence[str]) -> str:
    """What brings some extras. No index has grfpp, so it is installed from its sources."""
    own = ",".join(extra for extra in extras if extra != _LABORATORY)
    targets = [f"'.[{own}]'"] if own else []
    targets += [f"'{_LABORATORY}[all]'"] if _LABORATORY in extras else []
    return f"pip install {' '.join(targets)} in a clone of grfpp"
