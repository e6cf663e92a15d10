"""The library's advice in the words of the command line."""

from __future__ import annotations

import re

#: What errors of the library tell to write in Python, and the option that does it here.
_TRANSLATIONS = (
    (r"graph\.normalized\('sym', scale=([^)]+)\)", r"--normalize sym --scale \1"),
    (r"graph\.normalized\('sym', scale\)", "--normalize sym --scale"),
    (r"graph\.normalized\('sym'\)", "--normalize sym"),
    (r"\b(Geometric|Poisson)\(([0-9.e-]+)\)", lambda m: f"--termination {m[1].lower()}:{m[2]}"),
    (r"\btruncate=True\b", "--truncate"),
    (r"\bdegree=(\d+)\b", r"--degree \1"),
    (r"\bsigma=([0-9.e-]+)", r"--sigma \1"),
    (r"\bn_jobs\b", "--jobs"),
    (r"^(mask|sigma|degree|seed) must\b", r"--\1 must"),
    (r"^n_(walks|eigenvalues) must\b", r"--\1 must"),
    (r"^n_clusters\b", "-k"),
)


def in_options(text: str) -> str:
    """Say with options what a message says in Python.

    Examples
    --------
    >>> in_options("Use Geometric(0.2), or pass truncate=True")
    'Use --termination geometric:0.2, or pass --truncate'
    """
    for pattern, option in _TRANSLATIONS:
        text = re.sub(pattern, option, text)
    return text
