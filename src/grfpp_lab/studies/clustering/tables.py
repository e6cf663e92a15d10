"""Tables of mean errors, as text."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def print_means(errors: Mapping[str, Mapping[str, float]]) -> None:
    """Print a line for each method, with a column for each kind of graph and one for their mean."""
    columns = list(next(iter(errors.values())))
    width = max(map(len, errors))
    print(" " * width, *(f"{column[:9]:>9}" for column in columns), f"{'mean':>9}")
    for name, own in errors.items():
        values = [own[column] for column in columns]
        print(f"{name:<{width}}", *(f"{value:9.4f}" for value in [*values, np.mean(values)]))
