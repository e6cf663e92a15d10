import numpy as np
import pytest

from grfpp import InputError
from grfpp.tasks.graphs import nested
from grfpp.tasks.graphs.nested import nested_forest_scores, stratified_folds

Y = np.arange(60) % 2


def noise(seed, columns=2):
    return np.random.default_rng(seed).normal(size=(len(Y), columns))


def test_the_better_features_are_chosen():
    good = np.column_stack([Y + 0.1 * noise(0, 1)[:, 0], noise(1)])
    scores = nested_forest_scores({"bad": noise(2), "good": good}, Y, n_folds=5, n_trees=20)
    assert [score.fold for score in scores] == list(range(5))
    assert {score.chosen for score in scores} == {"good"}
    assert all(score.accuracy == 1.0 and score.inner > 0.95 for score in scores)


def test_noise_is_no_better_than_chance(monkeypatch):
    """No graph of a fold has a say in what it is predicted by, however many are chosen among."""
    monkeypatch.setattr(nested, "TRIAL_TREES", 16)
    candidates = {seed: noise(seed) for seed in range(6)}
    scores = [
        score
        for seed in range(3)
        for score in nested_forest_scores(candidates, Y, n_folds=3, seed=seed, n_trees=20)
    ]
    assert abs(np.mean([score.accuracy for score in scores]) - 0.5) < 0.12
    # The choice itself is of course for what looked best.
    assert np.mean([score.inner for score in scores]) > 0.55


def test_equal_scores_choose_the_first():
    same = noise(0)
    scores = nested_forest_scores({"first": same, "second": same}, Y, n_folds=3, n_trees=5)
    assert {score.chosen for score in scores} == {"first"}


def test_results_are_repeatable_for_any_number_of_threads():
    def scores(**options):
        return nested_forest_scores({0: noise(3)}, Y, n_folds=3, n_trees=10, **options)

    assert scores() == scores(n_jobs=2)
    assert scores() != scores(seed=1)


def test_folds_have_equal_shares_and_are_shared_by_methods():
    y = np.repeat([0, 1, 2], [30, 20, 10])
    folds = stratified_folds(y, 10, seed=4)
    tested = np.concatenate([test for _, test in folds])
    np.testing.assert_array_equal(np.sort(tested), np.arange(60))
    for train, test in folds:
        assert not set(train) & set(test)
        assert np.bincount(y[test]).tolist() == [3, 2, 1]
    for (_, a), (_, b) in zip(folds, stratified_folds(y, 10, seed=4), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("y", "n_folds", "words"),
    [
        (np.zeros(10), 2, "all 10 graphs are of one class"),
        ([0, 0, 0, 0, 1, 1, 1], 4, "class 1 has 3 graphs, too few for 4 folds; use at most 3"),
        ([0, 0, 0, 1], 2, "class 1 has a single graph"),
        ([0, 0, 1, 1], 1, "n_folds must be a whole number >= 2"),
    ],
)
def test_what_cannot_be_cut_is_refused(y, n_folds, words):
    with pytest.raises(InputError, match=words):
        stratified_folds(y, n_folds)


def test_bad_features_are_refused():
    with pytest.raises(InputError, match="no candidates"):
        nested_forest_scores({}, Y)
    for wrong in (noise(0)[:-1], noise(0)[:, 0]):
        with pytest.raises(InputError, match="a row for each of the 60 graphs"):
            nested_forest_scores({"wrong": wrong}, Y)
    for wrong in (np.inf, np.nan, 1e300):
        with pytest.raises(InputError, match="'wrong' are not finite, or too large"):
            nested_forest_scores({"wrong": np.full((60, 1), wrong)}, Y)
    with pytest.raises(InputError, match="seed must be a whole number"):
        nested_forest_scores({"good": noise(0)}, Y, seed=-1)


def test_seeds_may_be_large():
    for seed in (2**32, 2**63):
        assert len(nested_forest_scores({"x": noise(0)}, Y, n_folds=2, n_trees=5, seed=seed)) == 2
