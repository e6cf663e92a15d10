"""Whole powers of series, to check roots by."""

from grfpp.series import product


def power(a, exponent, n):
    """First `n` coefficients of a whole power of a series."""
    if exponent == 0:
        return product([type(a[0])(1)], [type(a[0])(1)], n)
    half = power(a, exponent // 2, n)
    square = product(half, half, n)
    return product(square, a[:n], n) if exponent % 2 else square
