"""The parameters that estimators share."""

from dataclasses import dataclass, fields

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV

import grfpp
from grfpp import tasks
from grfpp.tasks.parameters import OneGraphParameters, seed_of, walk_options

CLUB = nx.karate_club_graph()
NODES = np.arange(0, 34, 3)
SETTLED = {"seed", "storage", "dtype", "full_walks", "truncate", "on_infinite_variance"}


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
        names.remove("reuse_walks")
    assert names <= estimator.get_params().keys()
    assert {"degree", "n_walks", "termination", "n_jobs"} <= names
    assert not SETTLED & estimator.get_params().keys()


@EACH
def test_walk_parameters_reach_the_walks(estimator):
    """All of them, in the form of `WalkOptions`, whatever they are."""
    chosen = {"degree": 3, "n_walks": 7, "termination": "poisson:6", "random_state": 11}
    found = fitted(clone(estimator).set_params(**chosen))._choice.options
    assert found == grfpp.WalkOptions(
        degree=3, n_walks=7, termination=grfpp.Poisson(6), seed=11, n_jobs=1
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
    assert walk_options(5).seed == 5
    assert walk_options().seed != walk_options().seed
    assert walk_options(n_jobs=None).n_jobs == 1
