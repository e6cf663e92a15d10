"""The kernel that estimators share: by walks or exact, from the same parameters."""

from dataclasses import dataclass, fields

import networkx as nx
import numpy as np
import pytest
from independent_walks import INDEPENDENT
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV
from small_graphs import irregular, weighted
from statistics_helpers import blocks, copies

import grfpp
from grfpp import tasks
from grfpp.exact_kernel import ExactKernel
from grfpp.options import OF_ESTIMATES
from grfpp.tasks.kernels import OneGraphParameters, kernel_choice, kernel_operator, seed_of


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
    options = {"scale": 1.44, "n_walks": 4, **INDEPENDENT}
    many, n, nodes = copies(irregular(), 20), len(exact), range(20 * len(exact))
    draws = np.concatenate(
        [
            blocks(kernel_operator(many, random_state=seed, **options).rows(nodes, sparse=True), n)
            for seed in range(20)
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


CLUB = nx.karate_club_graph()
NODES = np.arange(0, 34, 3)
ONE_GRAPH = {"reuse_walks", "symmetrize", "deflate"}
SETTLED = {"seed", "dtype", "full_walks", "truncate", "on_infinite_variance"}
SETTLED |= set(OF_ESTIMATES) - ONE_GRAPH


def fitted(estimator):
    if isinstance(estimator, tasks.KernelInterpolator):
        return estimator.fit(NODES, np.cos(NODES))
    if isinstance(estimator, tasks.KernelSpectrumFeatures):
        return estimator.fit([CLUB])
    if isinstance(estimator, tasks.LabelPairFeatures):
        return estimator.fit([tasks.LabelledGraph(CLUB, np.arange(34) % 2)])
    return estimator.fit(CLUB)


ESTIMATORS = [
    tasks.GraphRandomFeatures(n_jobs=1),
    tasks.KernelInterpolator(CLUB, n_jobs=1),
    tasks.KernelSpectrumFeatures(3, n_jobs=1),
    tasks.LabelPairFeatures(n_jobs=1),
    tasks.SpectralKernelClustering(2, n_jobs=1),
]
EACH = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)


@EACH
def test_every_option_about_walks_is_a_parameter(estimator):
    names = {each.name for each in fields(grfpp.WalkOptions)} - SETTLED
    if not isinstance(estimator, OneGraphParameters):
        names -= ONE_GRAPH
    assert names <= estimator.get_params().keys()
    assert {"degree", "n_walks", "termination", "n_jobs"} <= names
    assert not SETTLED & estimator.get_params().keys()


@EACH
def test_walk_parameters_reach_the_walks(estimator):
    """All of them, in the form of `WalkOptions`, whatever they are."""
    chosen = {"degree": 3, "n_walks": 7, "termination": "poisson:6", "random_state": 11}
    found = fitted(clone(estimator).set_params(**chosen))._choice.options
    own = {"symmetrize": False} if isinstance(estimator, tasks.GraphRandomFeatures) else {}
    assert found == grfpp.WalkOptions(
        degree=3, n_walks=7, termination=grfpp.Poisson(6), seed=11, n_jobs=1, **own
    )


@EACH
def test_sigma_warns_when_fitted_and_gives_the_same(estimator):
    old = clone(estimator).set_params(sigma=0.9)
    assert clone(old).get_params()["sigma"] == 0.9
    with pytest.warns(DeprecationWarning, match="sigma=0.9 is now scale=0.81") as seen:
        fitted(old)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    new = fitted(clone(estimator).set_params(scale=0.9 * 0.9))
    assert old._choice.scale == new._choice.scale


def test_a_grid_search_over_sigma():
    A, parties = nx.to_scipy_sparse_array(CLUB), [CLUB.nodes[node]["club"] for node in CLUB]
    clustering = tasks.SpectralKernelClustering(2, random_state=0, n_jobs=1)
    search = GridSearchCV(clustering, {"sigma": [0.5, 1.0]}, cv=tasks.WholeGraph())
    with pytest.warns(DeprecationWarning, match="its square"):
        old = search.fit(A, parties).cv_results_
    search = GridSearchCV(clustering, {"scale": [0.25, 1.0]}, cv=tasks.WholeGraph())
    new = search.fit(A, parties).cv_results_
    assert_array_equal(old["mean_test_score"], new["mean_test_score"])


def test_a_parameter_of_its_own():
    @dataclass(eq=False, repr=False)
    class Estimator(OneGraphParameters, BaseEstimator):
        width: int = 3

    made = Estimator(4, degree=1)
    assert (made.width, made.degree, made.get_params()["n_walks"]) == (4, 1, 16)
    choice = made._choose()
    assert made.seed_ == choice.options.seed
    assert choice.options.degree == 1


def test_seeds():
    assert seed_of(None) is None
    assert seed_of(np.int64(3)) == 3
    assert seed_of(np.random.RandomState(0)) == seed_of(np.random.RandomState(0))
    assert seed_of(np.random.default_rng(0)) == seed_of(np.random.default_rng(0))
    assert kernel_choice(5).options.seed == 5
    assert kernel_choice().options.seed != kernel_choice().options.seed
    assert kernel_choice(n_jobs=None).options.n_jobs == 1


@pytest.mark.parametrize("method", ["auto", "chebyshev", "lanczos", "dense"])
def test_the_planner_gives_the_exact_kernel(method):
    graph = nx.karate_club_graph()
    K = kernel_operator(graph, method=method, scale=0.64)
    exact = kernel_operator(graph, estimate="exact", scale=0.64)
    v = np.random.default_rng(0).normal(size=(34, 2))
    np.testing.assert_allclose(K @ v, exact @ v, rtol=1e-5, atol=1e-5)
    assert kernel_choice(method=method).is_exact
    assert not kernel_choice(method="walks", estimate="exact").is_exact


def test_methods_that_there_are_not():
    with pytest.raises(grfpp.InputError, match="method must be None, 'auto', 'dense'"):
        kernel_choice(method="magic")
