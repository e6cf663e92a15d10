import numpy as np
import pytest
import scipy.sparse as sp

from grfpp.linalg.functions import recurrence
from grfpp.linalg.functions.krylov import PlainSteps


@pytest.fixture(params=[1, 5])
def blocks(request):
    rng = np.random.default_rng(0)
    matrix = sp.random_array((300, 300), density=0.05, rng=rng, format="csr")
    return matrix, *rng.normal(size=(3, 300, request.param))


@pytest.mark.parametrize("worth", [0, 10**9])
def test_compiled_steps_are_those_of_numpy(blocks, worth, monkeypatch):
    monkeypatch.setattr(recurrence, "_WORTH_THREADS", worth)
    matrix, a, b, c = blocks
    wanted = 2 * (matrix @ a) - b
    total = c + 0.3 * wanted
    recurrence.chebyshev_step(matrix, a, b, c, 2.0, 0.3, 2)
    np.testing.assert_allclose(b, wanted, atol=1e-12)
    np.testing.assert_allclose(c, total, atol=1e-12)
    scale, factor = np.random.default_rng(1).random((2, a.shape[1]))
    found = recurrence.lanczos_step(matrix, a, scale, b, factor, 2)
    plain = PlainSteps(lambda v: matrix @ v)
    for one, other in zip(found, plain.lanczos_step(a, scale, b, factor), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
    wanted = c + a * scale
    recurrence.add_scaled(c, a, scale, 2)
    np.testing.assert_allclose(c, wanted)


def test_threads_do_not_change_the_bits(blocks, monkeypatch):
    monkeypatch.setattr(recurrence, "_WORTH_THREADS", 0)
    matrix, a, b, _ = blocks
    ones = np.ones(a.shape[1])
    first = recurrence.lanczos_step(matrix, a, ones, b, ones, 1)
    for one, other in zip(first, recurrence.lanczos_step(matrix, a, ones, b, ones, 3), strict=True):
        np.testing.assert_array_equal(one, other)
