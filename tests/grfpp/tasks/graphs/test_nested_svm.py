import numpy as np
import pytest
import scipy.sparse as sp

from grfpp import InputError
from grfpp.tasks.graphs.nested import FoldScore, nested_forest_scores
from grfpp.tasks.graphs.nested_svm import best_of, cosine_kernel, nested_svm_scores

Y = np.arange(60) % 2
CLEAR = np.column_stack([1 - Y, Y]) + 0.1 * np.random.default_rng(0).normal(size=(60, 2))


def noise(seed, columns=3):
    return np.random.default_rng(seed).normal(size=(len(Y), columns))


def test_the_better_features_are_chosen_dense_or_sparse():
    for clear in (CLEAR, sp.csr_array(CLEAR)):
        scores = nested_svm_scores({"bad": noise(2), "clear": clear}, Y, n_folds=5)
        assert [score.fold for score in scores] == list(range(5))
        assert {score.chosen.features for score in scores} == {"clear"}
        assert all(score.accuracy == 1.0 for score in scores)


def test_noise_is_no_better_than_chance():
    """No graph of a fold has a say in what it is predicted by, however many are chosen among."""
    scores = [
        score
        for seed in range(4)
        for score in nested_svm_scores({i: noise(i) for i in range(5)}, Y, n_folds=3, seed=seed)
    ]
    assert abs(np.mean([score.accuracy for score in scores]) - 0.5) < 0.12
    assert np.mean([score.inner for score in scores]) > 0.53


def test_the_penalty_is_chosen():
    """With next to none, all graphs are of the larger class."""
    y = np.arange(60) % 4 == 0
    X = np.column_stack([~y, y]) + 0.1 * noise(1, 2)
    found = nested_svm_scores({0: X}, y, n_folds=3, penalties=[1e-6, 1.0])
    assert {(score.chosen.penalty, score.accuracy) for score in found} == {(1.0, 1.0)}
    poor = nested_svm_scores({0: X}, y, n_folds=3, penalties=[1e-6])
    assert {(score.chosen.penalty, score.accuracy) for score in poor} == {(1e-6, 0.75)}


def test_results_are_repeatable_for_any_number_of_threads():
    def scores(**options):
        return nested_svm_scores({0: noise(3), 1: noise(4)}, Y, n_folds=3, **options)

    assert scores() == scores(n_jobs=2)
    assert scores() != scores(seed=1)


def test_the_best_of_forests_and_machines():
    def found(name, *inner):
        return [FoldScore(fold, name, each, 0.5) for fold, each in enumerate(inner)]

    best = best_of(found("a", 0.5, 0.8, 0.7), found("b", 0.6, 0.7, 0.7))
    assert [score.chosen for score in best] == ["b", "a", "a"]
    forests = nested_forest_scores({"f": sp.csr_array(CLEAR)}, Y, n_folds=3, n_trees=10)
    assert len(best_of(forests, nested_svm_scores({"s": CLEAR}, Y, n_folds=3))) == 3


def test_cosines():
    X = np.array([[3.0, 4.0], [6.0, 8.0], [0.0, 0.0], [4.0, -3.0]])
    wanted = np.eye(4)
    wanted[[0, 1], [1, 0]] = 1
    for factor in (1.0, 1e-200, 1e30):
        np.testing.assert_allclose(cosine_kernel(factor * X), wanted, atol=1e-12)


def test_what_cannot_be_done_is_refused():
    with pytest.raises(InputError, match="no candidates"):
        nested_svm_scores({}, Y)
    with pytest.raises(InputError, match="a row for each of the 60 graphs"):
        nested_svm_scores({"wrong": sp.csr_array(noise(0)[:-1])}, Y)
    with pytest.raises(InputError, match="not finite"):
        nested_svm_scores({"wrong": sp.csr_array(np.full((60, 1), np.nan))}, Y)
    with pytest.raises(InputError, match="penalty must be"):
        nested_svm_scores({0: noise(0)}, Y, penalties=[0.0])
    with pytest.raises(InputError, match="penalties must have a value"):
        nested_svm_scores({0: noise(0)}, Y, penalties=[])
    with pytest.raises(InputError, match="too few graphs to choose a penalty"):
        nested_svm_scores({0: np.ones((6, 1))}, [0, 0, 0, 0, 1, 1], n_folds=2)
