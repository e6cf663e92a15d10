"""What every estimator of `grfpp.tasks` obeys, as tests that a subclass inherits."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks

import grfpp


def as_array(result):
    return result.toarray() if sp.issparse(result) else np.asarray(result)


def assert_unbiased(samples, exact, max_score, max_rms):
    """The mean of estimates is the exact value, by z-scores; what does not vary is equal to it."""
    mean, spread = np.mean(samples, axis=0), np.std(samples, axis=0, ddof=1) / len(samples) ** 0.5
    varies = spread > 1e-12
    assert varies.any()
    np.testing.assert_allclose(mean[~varies], exact[~varies], atol=1e-12)
    scores = (mean - exact)[varies] / spread[varies]
    assert np.abs(scores).max() < max_score
    assert np.sqrt(np.mean(scores**2)) < max_rms


class EstimatorCase:
    """A subclass says how the estimator is made, fitted and used."""

    #: Parameters that walk and are wrong, with the argument that the error names.
    BAD_WALKS = {"n_walks": 0, "n_jobs": 0, "random_state": -1, "estimate": "guess"}
    #: Further wrong parameters.
    BAD = {}
    #: Parameters with which two fits of one seed are compared.
    WALKS = {"random_state": 3}
    #: Parameters that change the result, where they are set before the fit.
    OTHER = {"scale": 0.3}
    #: Fitted attributes that are a contract.
    FITTED = ()

    def make(self, **parameters):
        raise NotImplementedError

    def fit(self, estimator):
        raise NotImplementedError

    def result(self, fitted):
        raise NotImplementedError

    def fitted(self, **parameters):
        return self.fit(self.make(**parameters))

    def test_scikit_learn_protocol(self):
        estimator = self.make()
        name = type(estimator).__name__
        for check in (
            *("no_attributes_set_in_init", "get_params_invariance", "set_params"),
            *("estimator_cloneable", "estimator_repr", "valid_tag_types", "estimator_tags_renamed"),
        ):
            getattr(estimator_checks, f"check_{check}")(name, estimator)
        with pytest.raises(NotFittedError):
            self.result(self.make())

    def test_a_fit_keeps_parameters_and_can_be_pickled(self):
        estimator = self.make(**self.WALKS)
        before = estimator.get_params()
        assert self.fit(estimator) is estimator
        assert all(before[name] is value for name, value in estimator.get_params().items())
        for attribute in (*self.FITTED, "seed_"):
            assert hasattr(estimator, attribute), attribute
        assert not hasattr(clone(estimator), "seed_")
        expected = as_array(self.result(estimator))
        for other in (pickle.loads(pickle.dumps(estimator)), self.fit(clone(estimator))):
            np.testing.assert_array_equal(as_array(self.result(other)), expected)

    @pytest.mark.parametrize("estimate", ["exact", "walks"])
    def test_a_seed_gives_the_same_for_any_number_of_threads(self, estimate):
        one, all_cores = (
            self.fitted(**{**self.WALKS, "estimate": estimate, "n_jobs": n_jobs})
            for n_jobs in (None, 3)
        )
        np.testing.assert_array_equal(*(as_array(self.result(each)) for each in (one, all_cores)))

    def test_parameters_count_from_one_fit_to_the_next(self):
        estimator = self.fitted(**self.WALKS)
        before = as_array(self.result(estimator))
        estimator.set_params(**self.OTHER)
        np.testing.assert_array_equal(as_array(self.result(estimator)), before)
        after = as_array(self.result(self.fit(estimator)))
        assert before.shape != after.shape or not np.allclose(before, after)

    def test_bad_parameters_are_named(self):
        for name, values in {**self.BAD_WALKS, **self.BAD}.items():
            for value in values if isinstance(values, list) else [values]:
                with pytest.raises(grfpp.InputError) as error, warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self.result(self.fitted(**{"estimate": "walks", name: value}))
                assert error.value.argument == name, (name, value, str(error.value))


class KernelEstimatorCase(EstimatorCase):
    """Those that have a kernel and its parameters."""

    BAD_WALKS = {**EstimatorCase.BAD_WALKS, "degree": 0, "scale": 0.0, "walks": "slow"}

    def test_options_about_walks_are_parameters_and_reach_the_walks(self):
        estimator = self.make(
            degree=3, n_walks=7, termination="poisson:6", random_state=11, n_jobs=1
        )
        names = set(inspect.signature(type(estimator)).parameters)
        assert {"degree", "n_walks", "termination", "walks", "n_jobs"} <= names
        assert not {"seed", "dtype", "truncate", "tol", "storage", "sigma"} & names
        options = self.fit(estimator)._choice.options
        assert (options.degree, options.n_walks, options.seed) == (3, 7, 11)
        assert (options.termination, options.n_jobs) == (grfpp.Poisson(6), 1)

    def test_a_series_that_diverges_is_refused(self):
        with pytest.raises(grfpp.DivergentSeriesError) as error:
            self.result(self.fitted(kernel="inverse-power:4", scale=1.0))
        assert error.value.scale < 1


class NodeEstimatorCase(KernelEstimatorCase):
    """Those whose samples are nodes of a graph of 34 nodes."""

    def test_bad_nodes_are_refused(self):
        for nodes in ([], [0.0, 1.0], [[0, 1]], [0, 34], [4, 4], ["a", "b"]):
            with pytest.raises(grfpp.InputError) as error:
                self.make().fit(nodes, [1, 2])
            assert error.value.argument == "X", nodes
