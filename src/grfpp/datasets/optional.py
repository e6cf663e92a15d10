"""The packages that some data sets need and the core does not."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from grfpp.errors import InputError

#: What to install for each, as named by pip and by the extras of grfpp.
_PACKAGES = {
    "rdkit": ("rdkit", "chem"),
    "skimage": ("scikit-image", "image"),
    "pooch": ("pooch", "download"),
    "PIL": ("pillow", "image"),
}


def optional_module(name: str, purpose: str) -> Any:
    """Import a module of an optional package, or say how to install it.

    Parameters
    ----------
    name
        Such as ``"rdkit.Chem"``.
    purpose
        What it is needed for.
    """
    package, extra = _PACKAGES[name.partition(".")[0]]
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(
            f"{purpose} needs {package}, which cannot be imported ({error}): "
            f"pip install 'grfpp[{extra}]'"
        ) from None
