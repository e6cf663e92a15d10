"""PyTorch Geometric, imported without the warnings that it makes about itself."""

from __future__ import annotations

import warnings
from typing import Any

from grfpp.optional import require


def require_geometric() -> Any:
    """Import ``torch_geometric``, or say what to install.

    Importing it compiles some classes in a way that torch has deprecated; nothing that a user of
    grfpp could do about.

    Examples
    --------
    >>> require_geometric().__name__
    'torch_geometric'
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return require("torch_geometric")
