"""The packages that this part of grfpp needs and the core does not."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

from grfpp.errors import InputError

#: The extra of grfpp that brings each, and what pip calls it.
_EXTRAS = {
    "torch": ("torch", "torch"),
    "torch_geometric": ("torch", "torch-geometric"),
    "gpytorch": ("gp", "gpytorch"),
    "linear_operator": ("gp", "linear_operator"),
}


class MissingPackageError(InputError, ImportError):
    """An optional package is not installed; the message names the extra that brings it."""


def require(name: str) -> Any:
    """Import an optional package, or say what to install.

    Parameters
    ----------
    name
        Such as ``"torch"``.

    Examples
    --------
    >>> require("torch").__name__
    'torch'
    """
    extra, package = _EXTRAS[name]
    try:
        with warnings.catch_warnings():
            # linear_operator is built with a part of torch that torch has deprecated.
            warnings.simplefilter("ignore", DeprecationWarning)
            return import_module(name)
    except ImportError as error:
        raise MissingPackageError(
            f"this part of grfpp needs {package}, which cannot be imported ({error}): "
            f"pip install 'grfpp[{extra}]'"
        ) from None
