"""Power series: products, roots and numbers that are the same on every processor."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from series_helpers import power

import grfpp
from grfpp import series
from grfpp.errors import InputError

fractions = st.fractions(min_value=-5, max_value=5, max_denominator=7)


@given(st.lists(fractions, min_size=1, max_size=9), st.lists(fractions, min_size=1, max_size=9))
@settings(max_examples=50, deadline=None)
def test_product_is_the_convolution(a, b):
    n = len(a) + len(b) + 1
    expected = [
        sum((a[i] * b[k - i] for i in range(len(a)) if 0 <= k - i < len(b)), Fraction(0))
        for k in range(n)
    ]
    assert series.product(a, b, n) == expected
    assert series.product(a, b, 3) == expected[:3]


@given(
    st.lists(fractions, min_size=1, max_size=8),
    st.fractions(min_value=Fraction(1, 9), max_value=9, max_denominator=9),
    st.integers(1, 9),
)
@settings(max_examples=60, deadline=None)
def test_power_of_the_root_gives_the_series_back(tail, constant, order):
    a, n = [constant, *tail], 24
    h = series.root(a, order, n, digits=80)
    with series.decimal.localcontext(prec=150):
        back = power(h, order, n)
        size = power([abs(value) for value in h], order, n)
        for k in range(n):
            wanted = series.decimal_here(a[k]) if k < len(a) else Decimal(0)
            assert abs(back[k] - wanted) <= Decimal("1e-75") * size[k]


@pytest.mark.parametrize("order", [1, 2, 4, 6, 16])
def test_root_of_the_exponential(order):
    a = [Fraction(1, math.factorial(k)) for k in range(60)]
    h = series.root(a, order, 60)
    for k, value in enumerate(h):
        expected = Fraction(1, order**k * math.factorial(k))
        assert abs(Fraction(value) / expected - 1) < Fraction(1, 10**18)


def test_root_that_ends_ends_exactly():
    # In thirds nothing is exact in decimals, and what should be zero is noise at every precision.
    base = [Fraction(1, 3), Fraction(1, 7), Fraction(0), Fraction(-2, 3)]
    a = power(base, 6, 19)
    h = series.root(a, 6, 40)
    found, wanted = ([float(value) for value in each] for each in (h[:4], base))
    np.testing.assert_allclose(found, wanted, rtol=1e-15)
    assert h[2] == 0
    assert all(value == 0 for value in h[4:])


def test_isolated_zeros_are_found_exactly():
    base = [Fraction(1), Fraction(1, 3), Fraction(0), Fraction(1, 7), Fraction(0), Fraction(2, 11)]
    a = power(base, 4, 30)
    assert series.zeros_of_root(a, 4, 30) == {2, 4, *range(6, 30)}
    assert series.zeros_of_root([Fraction(1), Fraction(1)], 2, 50) == frozenset()
    for no_root in ([0, 1], [-1, 1], []):
        with pytest.raises(InputError, match="a\\[0\\] > 0"):
            series.root(no_root, 2, 4)


def test_stable_digits_climbs_until_cancellation_is_overcome():
    precisions = []

    def tiny_difference():
        precisions.append(series.decimal.getcontext().prec)
        large = Decimal(10) ** 150
        return [(large + Decimal(1) / 3) - large]

    # At 40 and at 80 digits the result is 0: two that agree, and both wrong.
    (value,) = series.stable_digits(tiny_difference, digits=20, exact_zeros=frozenset)
    assert abs(value - Decimal(1) / 3) < Decimal("1e-19")
    assert precisions == [40, 80, 160, 320, 640][: len(precisions)]
    assert precisions[-1] >= 170
    # A small coefficient is not taken for zero.
    small = Fraction(1, 10**300)
    h = series.root([Fraction(1), Fraction(2), 1 + small], 2, 5)
    assert abs(Fraction(h[2]) / (small / 2) - 1) < Fraction(1, 10**18)


def test_stable_digits_gives_up_in_words(monkeypatch):
    monkeypatch.setattr(series, "MAX_DIGITS", 300)

    def noise():
        return [Decimal(1), Decimal(1) / 3 * 3 - 1]

    with pytest.raises(InputError, match="coefficient 1 of the series cancels"):
        series.stable_digits(noise)
    assert series.stable_digits(noise, exact_zeros=lambda: {1})[1] == 0


def test_float64_underflows_to_zero_and_refuses_overflow():
    tiny = [Decimal(1).scaleb(-1000 * k) for k in range(4)]
    assert series.to_float64(tiny).tolist() == [1.0, 0.0, 0.0, 0.0]
    assert series.to_float64([Decimal(1)] * 3, scale=0.5).tolist() == [1.0, 0.5, 0.25]
    huge = [Decimal(10).scaleb(100 * k) for k in range(9)]
    with pytest.raises(OverflowError) as error:
        series.to_float64(huge)
    assert error.value.args == (4,)
    assert np.isfinite(series.to_float64(huge, scale=1e-100)).all()


RADII = {
    "geometric": (lambda k: Decimal("0.7") ** k, 1 / 0.7),
    "growing": (lambda k: Decimal(k) ** 8, 1.0),
    "falling": (lambda k: Decimal(2) ** k / (1 + Decimal(k)) ** 5, 0.5),
    "even": (lambda k: Decimal(k % 2 == 0), 1.0),
    "two poles": (lambda k: Decimal(math.cos(0.7 * k + 0.2)) / Decimal(3) ** k, 3.0),
    "exp": (lambda k: 1 / Decimal(math.factorial(k)), math.inf),
    "order 5": (lambda k: (Decimal(math.factorial(k)).ln() * Decimal("-0.2")).exp(), math.inf),
    "even exp": (lambda k: (1 - k % 2) / Decimal(math.factorial(k // 2)), math.inf),
    "polynomial": (lambda k: Decimal(k < 100), math.inf),
    "lacunary": (lambda k: Decimal(k & (k - 1) == 0), 1.0),
}


@pytest.mark.parametrize("name", RADII)
def test_estimated_radius(name):
    coefficient, radius = RADII[name]
    found = series.estimate_radius([coefficient(k) for k in range(256)])
    assert found == pytest.approx(radius, rel=0.01)


@given(st.lists(st.floats(-700, 700), max_size=20))
def test_the_c_library_by_element(numbers):
    x = np.array(numbers, dtype=float)
    assert series.exp(x).tolist() == [math.exp(each) for each in numbers]
    assert series.power(0.9, x).tolist() == [math.pow(0.9, each) for each in numbers]
    assert np.allclose(series.log(series.exp(x)), x, atol=1e-9)
    assert series.log(np.array([[0.0], [1.0]])).tolist() == [[-math.inf], [0.0]]
    assert series.power(2.0, np.array([2000.0, -2000.0])).tolist() == [math.inf, 0.0]


def digest():
    found = hashlib.sha256()
    A = np.triu(np.random.default_rng(0).random((40, 40)) < 0.2, 1) * 1.7
    for normalize in ("sym", "rw", None):
        W = grfpp.Graph(A + A.T).normalized(normalize, 0.9 if normalize else 0.05)
        for kernel in (grfpp.Diffusion(1.3), grfpp.InversePower(2)):
            for walks in ("pooled", "independent"):
                K = grfpp.sample(W, kernel, seed=0, walks=walks, check_error=False)
                for factor in (each for pair in K.factors for each in pair):
                    found.update(factor.indices.tobytes() + factor.data.tobytes())
    return found.hexdigest()


def test_walks_do_not_depend_on_the_processor():
    """Where numpy does without the newest instructions, not a bit of any factor changes."""
    newest = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    environment = {
        **os.environ,
        "NPY_DISABLE_CPU_FEATURES": " ".join(newest),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, "-P", __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest()


if __name__ == "__main__":
    print(digest())
