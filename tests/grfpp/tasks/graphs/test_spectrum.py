"""Spectra of kernels as features."""

import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from independent_walks import INDEPENDENT
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from small_graphs import irregular, weighted

from grfpp import Diffusion, Graph, InputError, InversePower, SquaredDiffusion
from grfpp.tasks import KernelSpectrumFeatures

RING, STAR = nx.to_numpy_array(nx.cycle_graph(6)), nx.to_numpy_array(nx.star_graph(7))


GRAPHS = [RING, STAR, irregular(), weighted(), np.zeros((1, 1)), np.zeros((4, 4)), np.eye(2)]


def dense_spectrum(graph, kernel, scale, k):
    K = kernel.exact(Graph(graph).normalized("sym", scale))
    values = np.linalg.eigvalsh(K)[:k]
    return np.pad(values, (0, k - len(values)))


@pytest.mark.parametrize("kernel", [Diffusion(1.0), SquaredDiffusion(2.0), Diffusion(-1.5)])
@pytest.mark.parametrize("k", [1, 4, 30])
def test_exact_spectra_are_those_of_dense_kernels(kernel, k):
    features = KernelSpectrumFeatures(k, kernel=kernel, estimate="exact", scale=0.64)
    found = features.fit_transform(GRAPHS)
    expected = [dense_spectrum(graph, kernel, 0.64, k) for graph in GRAPHS]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_small_graphs_are_padded_by_zeros():
    found = KernelSpectrumFeatures(3, random_state=0).fit_transform([np.zeros((1, 1)), RING])
    np.testing.assert_allclose(found[0], [1, 0, 0], rtol=1e-14)
    assert found[1].all()
    assert (np.diff(found[1]) >= 0).all()


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_estimated_spectra_approach_the_exact_ones(degree):
    exact = KernelSpectrumFeatures(8, estimate="exact", scale=0.49).fit_transform(GRAPHS)

    def error(n_walks):
        walked = KernelSpectrumFeatures(
            8, degree=degree, n_walks=n_walks, scale=0.49, random_state=1, **INDEPENDENT
        )
        return np.linalg.norm(walked.fit_transform(GRAPHS) - exact) / np.linalg.norm(exact)

    many = error(40_000)
    assert many < 0.01
    assert many < error(40) / 5


@pytest.mark.parametrize("options", [{"estimate": "exact"}, {"degree": 1}, {"degree": 2}])
def test_features_do_not_depend_on_neighbours_threads_or_calls(options, monkeypatch):
    features = KernelSpectrumFeatures(5, n_walks=6, random_state=5, n_jobs=1, **options).fit(GRAPHS)
    found = features.transform(GRAPHS)
    np.testing.assert_array_equal(features.transform(GRAPHS), found)
    several = clone(features).set_params(n_jobs=3).fit(GRAPHS[:1])
    monkeypatch.setattr("grfpp.walks.batch.TASK_NODES", 5)
    np.testing.assert_array_equal(several.transform(GRAPHS), found)
    np.testing.assert_allclose(features.transform(GRAPHS[::-1])[::-1], found, rtol=1e-11)
    for number, graph in enumerate(GRAPHS):
        np.testing.assert_allclose(features.transform([graph])[0], found[number], rtol=1e-11)


def test_seeds():
    def found(random_state):
        features = KernelSpectrumFeatures(5, random_state=random_state, **INDEPENDENT)
        return features.fit_transform(GRAPHS)

    assert not np.allclose(found(0), found(1))
    np.testing.assert_array_equal(found(np.random.RandomState(3)), found(np.random.RandomState(3)))
    drawn = KernelSpectrumFeatures(5).fit(GRAPHS)
    np.testing.assert_array_equal(drawn.transform(GRAPHS), drawn.transform(GRAPHS))
    assert drawn.seed_ != KernelSpectrumFeatures(5).fit(GRAPHS).seed_


def some_graphs(n=30):
    classes = np.arange(n) % 2
    made = [
        nx.gnp_random_graph(12, 0.5, seed=i) if kind else nx.random_labeled_tree(12, seed=i)
        for i, kind in enumerate(classes)
    ]
    return made, classes


def test_grid_search_over_a_list_of_graphs():
    graphs, classes = some_graphs()
    pipeline = make_pipeline(
        KernelSpectrumFeatures(6, random_state=0, n_jobs=1),
        RandomForestClassifier(20, random_state=0),
    )
    grid = {
        "kernelspectrumfeatures__scale": [0.25, 0.81],
        "kernelspectrumfeatures__n_walks": [4, 16],
        "kernelspectrumfeatures__degree": [1, 2],
    }
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(graphs, classes)
    assert len(search.cv_results_["params"]) == 8
    assert search.best_score_ > 0.9
    assert search.predict(graphs[:3]).shape == (3,)
    same = search.best_estimator_.predict(graphs)
    one_by_one = [search.best_estimator_.predict([graph])[0] for graph in graphs]
    np.testing.assert_array_equal(same, one_by_one)


def test_the_protocol():
    features = KernelSpectrumFeatures(3, n_walks=5, random_state=2)
    # What needs arrays of numbers is left out; scikit-learn says so.
    with pytest.warns(SkipTestWarning, match="Can.t test estimator"):
        estimator_checks.check_estimator(features)
    name = type(features).__name__
    for check in (
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_parameters_default_constructible,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_set_params,
        estimator_checks.check_estimator_repr,
        estimator_checks.check_estimator_cloneable,
    ):
        check(name, features)
    with pytest.raises(NotFittedError):
        features.transform(GRAPHS)
    before = features.get_params()
    fitted = features.fit(GRAPHS)
    assert fitted is features
    assert features.get_params() == before
    assert list(features.get_feature_names_out()) == ["eigenvalue0", "eigenvalue1", "eigenvalue2"]
    again = pickle.loads(pickle.dumps(features))
    np.testing.assert_array_equal(again.transform(GRAPHS), features.transform(GRAPHS))
    copy = clone(features)
    assert not hasattr(copy, "seed_")
    assert copy.get_params() == before
    found = features.set_output(transform="default").transform(tuple(GRAPHS))
    assert found.shape == (len(GRAPHS), 3)


def test_anything_that_is_a_graph_is_taken():
    kinds = [Graph(RING), RING, RING.tolist(), sp.coo_matrix(RING), nx.from_numpy_array(RING)]
    found = KernelSpectrumFeatures(4, random_state=0).fit_transform(kinds)
    np.testing.assert_array_equal(found, np.tile(found[0], (5, 1)))
    stacked = KernelSpectrumFeatures(4, random_state=0).fit_transform(np.array([RING, RING]))
    np.testing.assert_array_equal(stacked, found[:2])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_eigenvalues": 0}, "n_eigenvalues must be a whole number >= 1"),
        ({"n_eigenvalues": 2.5}, "n_eigenvalues must be a whole number"),
        ({"scale": 0.0}, "scale must be a positive"),
        ({"scale": np.nan}, "scale must be a positive"),
        ({"n_walks": 0}, "n_walks must be a whole number >= 1"),
        ({"degree": 0}, "degree must be a whole number >= 1"),
        ({"kernel": "warmth"}, "there is no kernel 'warmth'"),
        ({"estimate": "guess"}, "estimate must be 'walks' or 'exact'"),
        ({"termination": "never"}, "unknown termination law 'never'"),
        ({"restrict": "label"}, "restrict must be 'same-label' or None"),
        ({"random_state": -1}, "random_state must be a whole number >= 0"),
        ({"n_jobs": 0}, "n_jobs must be a whole number"),
    ],
)
def test_bad_parameters_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        KernelSpectrumFeatures(**{"n_eigenvalues": 4, **options}).fit(GRAPHS)


@pytest.mark.parametrize("estimate", ["walks", "exact"])
def test_divergent_series_are_refused(estimate):
    features = KernelSpectrumFeatures(2, kernel=InversePower(2), estimate=estimate)
    with pytest.raises(InputError, match=r"converges for spectral radii below 1.*scale="):
        features.fit_transform([RING])
    assert features.set_params(scale=0.49).fit_transform([RING]).shape == (1, 2)


def test_rows_of_numbers_are_no_graphs():
    with pytest.raises(InputError, match="graph 0"):
        KernelSpectrumFeatures(2).fit(np.ones((5, 3)))
