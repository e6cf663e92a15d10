"""The kernel that estimators share: by walks or exact, from the same parameters."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import irregular, weighted

import grfpp
from grfpp.exact_kernel import ExactKernel
from grfpp.tasks.kernels import kernel_operator


def exact_diffusion(matrix, scale, kind="sym"):
    return grfpp.Diffusion(1.0).exact(grfpp.Graph(matrix).normalized(kind, scale))


def test_walks_are_those_of_the_library():
    K = kernel_operator(
        irregular(),
        kernel="diffusion:0.5",
        degree=3,
        n_walks=5,
        termination="poisson:3",
        scale=0.64,
        random_state=7,
        n_jobs=1,
    )
    W = grfpp.Graph(irregular()).normalized("sym", 0.64)
    wanted = grfpp.sample(W, grfpp.Diffusion(0.5), 3, 5, grfpp.Poisson(3), 7)
    assert_array_equal(K.toarray(), wanted.toarray())


@pytest.mark.parametrize("options", [{}, {"kernel": grfpp.Diffusion()}])
def test_exact(options):
    K = kernel_operator(weighted(), estimate="exact", scale=0.36, **options)
    assert isinstance(K, ExactKernel)
    assert_allclose(K.toarray(), exact_diffusion(weighted(), 0.36), rtol=1e-12)


def test_what_was_once_written_is_understood():
    with pytest.warns(DeprecationWarning) as seen:
        K = kernel_operator(weighted(), kernel="exact", sigma=0.6)
    assert {str(each.message) for each in seen} == {
        "kernel='exact' is now estimate='exact'",
        "sigma=0.6 is now scale=0.36, its square",
    }
    assert_allclose(K.toarray(), exact_diffusion(weighted(), 0.36), rtol=1e-12)


def test_the_mean_of_the_estimate_is_the_exact_kernel():
    exact = kernel_operator(irregular(), estimate="exact", scale=1.44).toarray()
    draws = np.array(
        [
            kernel_operator(irregular(), scale=1.44, n_walks=4, random_state=seed).toarray()
            for seed in range(400)
        ]
    )
    z = (draws.mean(axis=0) - exact) / (draws.std(axis=0) / 20)
    assert np.sqrt(np.mean(z**2)) < 1.3


def test_recomputed_walks_are_the_same():
    kept, walked = (
        kernel_operator(weighted(), random_state=1, storage=storage)
        for storage in ("memory", "recompute")
    )
    v = np.arange(9.0)
    assert_array_equal(kept @ v, walked @ v)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"estimate": "guess"}, "estimate must be 'walks' or 'exact'"),
        ({"termination": "forever"}, "unknown termination law"),
        ({"termination": 0.1}, "termination must be a law"),
        ({"scale": 0.0}, "scale must be a positive"),
        ({"sigma": "wide"}, "sigma must be a positive"),
        ({"kernel": "inverse-power", "normalization": None}, "normalization='sym' with scale="),
        ({"random_state": -1}, "random_state must be a whole number"),
        ({"random_state": "dice"}, "random_state must be a whole number"),
        ({"degree": 0}, "degree"),
        ({"n_walks": 0}, "n_walks"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"estimate": "exact", "n_jobs": 0}, "n_jobs"),
        ({"kernel": "inverse-power:4"}, "converges for spectral radii below 1"),
        ({"kernel": "inverse-power:4", "estimate": "exact"}, "spectral radii below 1"),
    ],
)
def test_what_cannot_be_used_is_refused(options, told):
    with pytest.raises(grfpp.InputError, match=told):
        kernel_operator(irregular(), **options)


def test_what_estimators_have_no_parameter_for_is_not_advised():
    with pytest.raises(grfpp.TruncationError) as error:
        kernel_operator(irregular(), termination="fixed:3")
    assert "truncate" not in str(error.value)


def test_none_is_one_thread():
    one, all_cores = (
        kernel_operator(irregular(), random_state=0, n_jobs=n_jobs) for n_jobs in (None, -1)
    )
    assert_array_equal(one.toarray(), all_cores.toarray())
