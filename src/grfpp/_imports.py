"""Optional packages, imported where they are needed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from grfpp.errors import InputError

#: The path of the laboratory's distribution, in a clone of grfpp.
_LABORATORY = "./lab"
#: For each package the extra of grfpp that installs it (or the laboratory), and its name for pip.
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
    """An optional package is not installed; the advice names the extra that installs it."""


def require(name: str, purpose: str = "this part of grfpp") -> Any:
    """Import an optional package, or raise `MissingPackageError` with the command to install it.

    Parameters
    ----------
    name
        A package or a module of one, such as ``"torch"`` or ``"rdkit.Chem"``.
    purpose
        The feature that needs it, for the message.

    Examples
    --------
    >>> require("torch").__name__
    'torch'
    """
    extra, package = _EXTRAS[name.partition(".")[0]]
    try:
        with warnings.catch_warnings():
            # Some packages use deprecated parts of others, which users cannot change.
            warnings.simplefilter("ignore")
            return import_module(name)
    except ImportError as error:
        problem = f"{purpose} needs {package}, which cannot be imported ({error})"
        raise MissingPackageError(problem, advice=_command([extra])) from None


def missing_packages(*names: str) -> list[str]:
    """The packages among `names` that are not installed; by default those that draw pages."""
    return [name for name in names or ("matplotlib", "jinja2") if find_spec(name) is None]


def how_to_install(missing: Sequence[str]) -> str:
    """One line on missing packages and the command to install them.

    Examples
    --------
    >>> how_to_install(["matplotlib", "jinja2"])
    "matplotlib and jinja2 are not installed: pip install '.[plot]' in a clone of grfpp"
    """
    extras, packages = zip(*(_EXTRAS[name] for name in missing), strict=True)
    verb = "is" if len(missing) == 1 else "are"
    return f"{' and '.join(packages)} {verb} not installed: {_command(list(dict.fromkeys(extras)))}"


def _command(extras: Sequence[str]) -> str:
    """The command that installs some extras, from a clone, since grfpp is on no package index."""
    library_extras = ",".join(extra for extra in extras if extra != _LABORATORY)
    targets = [f"'.[{library_extras}]'"] if library_extras else []
    targets += [f"'{_LABORATORY}[all]'"] if _LABORATORY in extras else []
    return f"pip install {' '.join(targets)} in a clone of grfpp"
