"""What the tests of the walk-length laws share."""

import numpy as np
import pytest

NAN, INF = float("nan"), float("inf")


NO_NUMBERS = ["0.5", b"0.5", None, [0.5], True, np.True_, 1j]


def assert_survival(law, exact, lengths, rtol=1e-12):
    """Compare with fractions, far into the tail."""
    for k in lengths:
        assert law.survival(k) == pytest.approx(float(exact(k)), rel=rtol, abs=0)
    assert float(exact(lengths[-1])) < 1e-38  # as far as 128 random bits go
