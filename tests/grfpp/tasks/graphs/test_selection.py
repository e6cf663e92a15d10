"""Features that are chosen among, and nested cross-validation."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from labelled_cases import CHAIN, HEAVY, ODD, WATER
from refusal_case import refused

from grfpp import InputError
from grfpp.tasks import (
    KernelSpectrumFeatures,
    LabelledGraph,
    LabelPairFeatures,
    WalkLabelFeatures,
)
from grfpp.tasks.graphs import selection

Y = np.arange(60) % 2
CLEAR = np.column_stack([1 - Y, Y]) + 0.1 * np.random.default_rng(0).normal(size=(60, 2))


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    monkeypatch.setattr(selection, "TRIAL_TREES", 16)


def noise(seed, columns=3):
    return np.random.default_rng(seed).normal(size=(len(Y), columns))


def forests(candidates, y=Y, **options):
    return selection.nested_forest_scores(candidates, y, **{"n_folds": 3, "n_trees": 10, **options})


def machines(candidates, y=Y, **options):
    return selection.nested_svm_scores(
        candidates, y, **{"n_folds": 3, "penalties": [1.0, 10.0], **options}
    )


BOTH_LEARNERS = pytest.mark.parametrize("learn", [forests, machines])


@pytest.mark.parametrize("kind", selection.KINDS)
def test_candidates_are_what_the_transformers_give(kind):
    graphs = [ODD, HEAVY]
    options = {"random_state": 3, "n_jobs": 1}
    found = selection.candidate_features(
        graphs, scales=[0.25, 0.64], n_walks=[2, 5], n_eigenvalues=[3, 6], kind=kind, **options
    )
    assert len(found) == (4 if kind == selection.PAIRS else 8)
    own = {**options, "scale": 0.64, "n_walks": 5}
    parts = []
    if kind not in (selection.SAME_LABEL, selection.PAIRS):
        parts.append(KernelSpectrumFeatures(3, **own).fit_transform(graphs))
    if kind in (selection.SAME_LABEL, selection.BOTH):
        within = KernelSpectrumFeatures(3, restrict="same-label", **own)
        parts.append(within.fit_transform(graphs))
    if kind in (selection.PAIRS, selection.UNION):
        parts.append(LabelPairFeatures(**own).fit_transform(graphs))
    setting = selection.Setting(0.64, 5, 0 if kind == selection.PAIRS else 3)
    np.testing.assert_array_equal(found[setting], np.hstack(parts))


def test_scales_of_exact_spectra_are_not_tried():
    """Those of one scale are a monotone function of those of another."""
    grid = {"scales": [0.25, 0.81], "n_walks": [2, 4], "n_eigenvalues": [4]}
    for kernel, n_found in [("diffusion", 1), ("squared-diffusion:2", 1), ("cosine:0.5", 2)]:
        found = selection.candidate_features([ODD, HEAVY], estimate="exact", kernel=kernel, **grid)
        assert len(found) == n_found
    for kind in (selection.PAIRS, selection.UNION):
        assert len(selection.candidate_features([ODD], estimate="exact", kind=kind, **grid)) == 2
    narrow, wide = (
        KernelSpectrumFeatures(9, estimate="exact", scale=scale).fit_transform([ODD, HEAVY])
        for scale in (0.25, 0.81)
    )
    np.testing.assert_allclose(wide, np.where(narrow > 0, narrow.clip(1e-9) ** (0.81 / 0.25), 0))


def test_bad_candidates_are_refused():
    grid = {"scales": [0.25], "n_walks": [2], "n_eigenvalues": [3], "estimate": "exact"}
    several = {"kind": "colours", "n_eigenvalues": [0], "n_walks": [0]}
    for name, value in (*several.items(), ("scales", []), ("scales", [-1.0, 0.5])):
        with pytest.raises(InputError):
            selection.candidate_features([ODD], **{**grid, name: value})


@BOTH_LEARNERS
def test_the_better_features_are_chosen_dense_or_sparse(learn):
    for clear in (CLEAR, sp.csr_array(CLEAR)):
        scores = learn({"bad": noise(2), "clear": clear})
        assert [score.fold for score in scores] == list(range(3))
        assert {score.chosen for score in scores} == {"clear"}
        assert all(score.accuracy == 1.0 and score.inner > 0.95 for score in scores)


@BOTH_LEARNERS
def test_noise_is_no_better_than_chance(learn):
    """No graph of a fold has a say in what it is predicted by, however many are chosen among."""
    candidates = {seed: noise(seed) for seed in range(4)}
    scores = [score for seed in range(2) for score in learn(candidates, seed=seed)]
    assert abs(np.mean([score.accuracy for score in scores]) - 0.5) < 0.12
    # The choice itself is of course for what looked best.
    assert np.mean([score.inner for score in scores]) > 0.53


@BOTH_LEARNERS
def test_results_are_repeatable_for_any_number_of_threads(learn):
    assert learn({0: noise(3)}) == learn({0: noise(3)}, n_jobs=2)
    assert learn({0: noise(3)}) != learn({0: noise(3)}, seed=2**40 + 1)
    same = learn({"first": noise(0), "second": noise(0)})
    assert {score.chosen for score in same} == {"first"}


def test_the_penalty_is_chosen():
    """With next to none, all graphs are of the larger class."""
    y = np.arange(60) % 4 == 0
    X = np.column_stack([~y, y]) + 0.1 * noise(1, 2)
    found = machines({0: X}, y, penalties=[1e-6, 1.0])
    assert {(score.penalty, score.accuracy) for score in found} == {(1.0, 1.0)}
    poor = machines({0: X}, y, penalties=[1e-6])
    assert {(score.penalty, score.accuracy) for score in poor} == {(1e-6, 0.75)}


def test_rules_about_neighbours_and_whole_graphs_are_learned_from_colours():
    """Equal degrees and labels; only two rounds of colours tell the graphs apart."""
    rng = np.random.default_rng(0)

    def ring(pattern):
        n = 12
        graph = sp.coo_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)))
        order = rng.permutation(n)
        A = (graph + graph.T).tocsr()[order][:, order]
        return LabelledGraph(A, np.array(pattern)[order])

    # Both have as many edges between each two labels.
    far, near = [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    graphs = [ring(near if y else far) for y in Y]
    for kind in ("colours", "auto"):
        scores = selection.nested_scores(selection.walk_candidates(graphs, kind), Y, n_folds=3)
        assert [score.accuracy for score in scores] == [1.0] * 3


def test_the_kernel_of_auto_is_the_mean_of_its_parts():
    graphs = [WATER, CHAIN, LabelledGraph(1 - np.eye(3), ["C", "C", "H"])]
    ((_, K),) = selection.walk_candidates(graphs).items()
    colours = WalkLabelFeatures("colours", 5)
    counts, kernels = colours.fit_transform(graphs).toarray(), []
    for n_rounds in range(6):
        X = counts[:, : sum(map(len, colours.colours_[: n_rounds + 1]))]
        shared = np.minimum(X[:, np.newaxis], X).sum(axis=2)
        kernels.append(shared / np.sqrt(np.outer(*[shared.diagonal()] * 2)))
    X = np.sqrt(WalkLabelFeatures(n_lengths=3).fit_transform(graphs).toarray())
    X = X[:, X.std(axis=0) > 0] / X.std(axis=0)[X.std(axis=0) > 0]
    squares = ((X[:, np.newaxis] - X) ** 2).sum(axis=2)
    kernels = [np.mean(kernels, axis=0), np.exp(-squares / np.median(squares))]
    np.testing.assert_allclose(K, np.mean(kernels, axis=0), atol=1e-12)
    # Equal graphs have no median distance.
    ((_, K),) = selection.walk_candidates([WATER, WATER, WATER]).items()
    np.testing.assert_allclose(K, 1.0)


def test_many_graphs_are_tried_on_one_part(monkeypatch):
    monkeypatch.setattr(selection, "_MANY_GRAPHS", 30)
    for learn in (forests, machines):
        scores = learn({"bad": noise(2), "clear": CLEAR})
        assert all(score.accuracy == 1.0 for score in scores)


def test_cosines():
    X = np.array([[3.0, 4.0], [6.0, 8.0], [0.0, 0.0], [4.0, -3.0]])
    wanted = np.eye(4)
    wanted[[0, 1], [1, 0]] = 1
    for factor in (1.0, 1e-200, 1e30):
        np.testing.assert_allclose(selection.cosine_kernel(factor * X), wanted, atol=1e-12)


def test_folds_have_equal_shares_and_are_shared_by_methods():
    y = np.repeat([0, 1, 2], [30, 20, 10])
    folds = selection.stratified_folds(y, 10, seed=4)
    tested = np.concatenate([test for _, test in folds])
    np.testing.assert_array_equal(np.sort(tested), np.arange(60))
    for train, test in folds:
        assert not set(train) & set(test)
        assert np.bincount(y[test]).tolist() == [3, 2, 1]
    for (_, a), (_, b) in zip(folds, selection.stratified_folds(y, 10, seed=4), strict=True):
        np.testing.assert_array_equal(a, b)


FOLDS = partial(selection.stratified_folds, n_folds=2)
test_bad_folds_are_refused = refused(
    classes=[
        *(partial(FOLDS, y) for y in (np.zeros(10), [0, 0, 0, 1])),
        partial(FOLDS, [0, 0, 0, 0, 1, 1, 1], n_folds=4),
    ],
    n_folds=partial(FOLDS, [0, 0, 1, 1], n_folds=1),
)
