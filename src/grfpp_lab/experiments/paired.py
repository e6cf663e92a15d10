"""Two methods compared seed by seed: the paired t-test."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan, sqrt
from typing import NamedTuple

import numpy as np

#: Differences with a larger probability under chance are called noise.
LEVEL = 0.05


class PairedTest(NamedTuple):
    """What some differences say.

    Attributes
    ----------
    mean, standard_error
        Of the differences; the second is NaN for a single one.
    p
        Probability of a mean as far from 0, either way, if there were no difference; NaN for a
        single one.
    """

    mean: float
    standard_error: float
    p: float


def paired_test(differences: Sequence[float]) -> PairedTest:
    """Test whether differences have the mean 0.

    Examples
    --------
    >>> paired_test([1.0, 2.0, 0.0])
    PairedTest(mean=1.0, standard_error=0.577..., p=0.225...)
    """
    from scipy.stats import t

    n, mean = len(differences), float(np.mean(differences))
    if n < 2:
        return PairedTest(mean, nan, nan)
    error = float(np.std(differences, ddof=1)) / sqrt(n)
    if error == 0:
        return PairedTest(mean, error, 1.0 if mean == 0 else 0.0)
    return PairedTest(mean, error, float(2 * t.sf(abs(mean) / error, n - 1)))
