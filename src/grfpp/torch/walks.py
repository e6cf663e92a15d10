"""Options about walks as keywords of torch modules."""

from __future__ import annotations

from typing import Any

from grfpp.errors import InputError
from grfpp.options import WalkOptions


def walk_options(keywords: dict[str, Any], *unused: str, **settled: Any) -> WalkOptions:
    """Make the options that keywords ask for.

    Parameters
    ----------
    keywords
        As users give them.
    *unused
        Names of options that make no difference where these were given: they are refused.
    **settled
        Options that are known otherwise.

    Examples
    --------
    >>> walk_options({"n_walks": 4}, "storage", degree=3, seed=0).n_walks
    4
    """
    for name in set(unused) & set(keywords):
        raise InputError("is not an option here: it would make no difference", argument=name)
    return WalkOptions.of(**settled, **keywords)
