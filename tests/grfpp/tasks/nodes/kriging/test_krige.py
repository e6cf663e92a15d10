"""`KernelInterpolator` by kriging: the protocol, standard errors, what is refused."""

import pickle

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import grfpp
from grfpp.datasets import grid, triangulated_sphere
from grfpp.tasks import KernelInterpolator, NodeKFold, hide_normals, predict_normals
from grfpp.tasks.nodes.kriging import deviations
from grfpp.tasks.nodes.kriging.defaults import default_kernels

GRAPH = grid(16, 16)
FIELD = np.cos(np.add.outer(np.arange(16), 2 * np.arange(16)) / 7).ravel()
RNG = np.random.default_rng(0)
KNOWN = np.sort(RNG.choice(256, size=60, replace=False))
HIDDEN = np.setdiff1d(np.arange(256), KNOWN)


def fitted(values=None, **options):
    return KernelInterpolator(GRAPH, **options).fit(
        KNOWN, FIELD[KNOWN] if values is None else values
    )


def test_the_default_is_kriging_and_better_than_sums():
    one = fitted()
    assert (one.how_, one.output_) == ("kriging", "mean")
    assert one.kernel_ in default_kernels()
    assert one.method_.startswith(f"kriging: {one.kernel_}, noise {one.noise_:g}, chosen from ")
    sums = fitted(how="mean", estimate="exact", scale=2.0)
    assert one.score(HIDDEN, FIELD[HIDDEN]) > sums.score(HIDDEN, FIELD[HIDDEN]) > 0.5
    assert one.score(HIDDEN, FIELD[HIDDEN]) > 0.97


def test_what_is_settled():
    assert fitted(output="sum").how_ == "paper"
    assert fitted(how="paper").output_ == "sum"
    assert fitted(how="mean").output_ == "mean"
    directed = KernelInterpolator([[0, 1, 0], [0, 0, 1], [0, 0, 0]]).fit([1], [2.0])
    assert directed.how_ == "mean"
    # The paper's mean is the mean.
    same = [fitted(how="paper", output="mean", random_state=0), fitted(how="mean", random_state=0)]
    np.testing.assert_array_equal(*(each.field_ for each in same))
    given = fitted(scale=3.0)
    assert (given.kernel_, given._choice.scale) == (grfpp.Diffusion(1.0), 3.0)


def test_given_kernels_and_noises_are_taken():
    K = grfpp.Diffusion(2.0).exact(GRAPH.normalized("sym"))
    one = fitted(kernel="diffusion:2", noise=0.05, normalization="sym")
    assert (one.kernel_, one.noise_, one.losses_) == (grfpp.Diffusion(2.0), 0.05, {})
    mean, variance = FIELD[KNOWN].mean(), one._kriging.variance
    inside = K[np.ix_(KNOWN, KNOWN)] + 0.05 * variance * np.eye(60)
    expected = mean + K[:, KNOWN] @ np.linalg.solve(inside, FIELD[KNOWN] - mean)
    np.testing.assert_allclose(one.field_, expected, atol=1e-5)
    several = fitted(kernel=["diffusion:1", grfpp.Diffusion(8.0)])
    assert several.kernel_ == grfpp.Diffusion(8.0)
    assert {setting.kernel for setting in several.losses_} == {
        grfpp.Diffusion(1.0),
        grfpp.Diffusion(8.0),
    }


@pytest.mark.parametrize("factor", [1e-200, 1.0, 1e200])
def test_units_do_not_matter(factor):
    one = fitted(factor * FIELD[KNOWN])
    np.testing.assert_allclose(one.field_ / factor, fitted().field_, atol=1e-5)
    shifted = fitted(FIELD[KNOWN] + 50.0)
    np.testing.assert_allclose(shifted.field_ - 50.0, fitted().field_, atol=1e-5)


def test_a_constant_field_stays_constant():
    np.testing.assert_allclose(fitted(np.full(60, 7.5)).field_, 7.5)


@pytest.mark.parametrize("options", [{}, {"kernel": "diffusion:3"}])
def test_the_result_is_the_same_for_any_number_of_threads(options):
    task = hide_normals(triangulated_sphere(4), 0.8, 0)
    one, two = (
        KernelInterpolator(task.graph, output="direction", n_jobs=n_jobs, noise=0.1, **options).fit(
            task.known, task.normals[task.known]
        )
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.field_, two.field_)
    assert one.kernel_ == two.kernel_


def test_the_protocol():
    one = fitted(random_state=3)
    again = pickle.loads(pickle.dumps(one))
    nodes = HIDDEN[:5]
    for first, second in zip(
        again.predict(nodes, return_std=True), one.predict(nodes, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(clone(one).fit(KNOWN, FIELD[KNOWN]).field_, one.field_)
    np.testing.assert_array_equal(fitted().field_, fitted().field_)  # also without a seed
    search = GridSearchCV(
        KernelInterpolator(GRAPH, kernel="diffusion:2"), {"noise": [0.01, 100.0]}, cv=NodeKFold(3)
    )
    assert search.fit(KNOWN, FIELD[KNOWN]).best_params_ == {"noise": 0.01}
    scores = cross_val_score(KernelInterpolator(GRAPH), KNOWN, FIELD[KNOWN], cv=NodeKFold(3))
    assert (scores > 0.8).all()


def test_refitting_another_way_forgets_the_first():
    one = fitted()
    one.set_params(how="mean", random_state=0).fit(KNOWN, FIELD[KNOWN])
    assert not hasattr(one, "kernel_")
    with pytest.raises(grfpp.InputError, match="how='mean' has none"):
        one.predict([0], return_std=True)
    one.set_params(how="kriging").fit(KNOWN, FIELD[KNOWN])
    assert not hasattr(one, "mass_")


def test_parts_without_a_known_node():
    graph = nx.disjoint_union_all([nx.path_graph(6), nx.cycle_graph(4), nx.path_graph(1)])
    values = np.array([[1.0, 2.0], [3.0, 6.0]])
    mean = KernelInterpolator(graph).fit([0, 3], values)
    assert mean.reached_.tolist() == [True] * 6 + [False] * 5
    np.testing.assert_array_equal(mean.field_[6:], np.tile([2.0, 4.0], (5, 1)))
    turned = KernelInterpolator(graph, output="direction").fit([0, 3], values)
    np.testing.assert_array_equal(turned.field_[6:], 0.0)
    np.testing.assert_allclose(np.linalg.norm(turned.field_[:6], axis=1), 1.0)
    _, std = mean.predict(np.arange(11), return_std=True)
    assert (std[6:] > std[[0, 3]].max(axis=0)).all()


def test_one_known_node_is_enough():
    one = KernelInterpolator(GRAPH).fit([5], [3.0])
    np.testing.assert_allclose(one.field_, 3.0)
    _, std = one.predict([5, 6, 200], return_std=True)
    assert np.isfinite(std).all()


def test_standard_errors_hold_what_they_should():
    """Draws of a known process, observed with noise; one draw alone is not much to go by."""
    W = GRAPH.normalized("sym")
    held, noises = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        draw = grfpp.Diffusion(3.0).apply(W, rng.standard_normal(256))
        draw /= draw.std()
        noisy = draw + 0.2 * rng.standard_normal(256)
        one = KernelInterpolator(GRAPH, kernel="diffusion:6", random_state=0)
        mean, std = one.fit(KNOWN, noisy[KNOWN]).predict(HIDDEN, return_std=True)
        held.append(np.mean(np.abs(mean - draw[HIDDEN]) < 1.96 * std))
        noises.append(one.noise_std[0])
    assert 0.05 < np.median(noises) < 0.5
    assert 0.88 < np.mean(held) < 0.99


def test_known_nodes_are_surer_and_draws_agree_with_solves(monkeypatch):
    values = np.column_stack([FIELD, 10 * FIELD])[KNOWN]
    one = fitted(values)
    mean, exact = one.predict(np.arange(256), return_std=True)
    assert mean.shape == exact.shape == (256, 2)
    assert exact[KNOWN].max() < exact[HIDDEN].max()
    np.testing.assert_allclose(exact[:, 1], 10 * exact[:, 0], rtol=1e-4)
    monkeypatch.setattr(deviations, "_EXACT_WORK", 0.0)
    _, drawn = one.predict(np.arange(256), return_std=True)
    # A hundred draws have a relative deviation of 7 %.
    ratio = drawn[:, 0] / exact[:, 0]
    assert abs(ratio.mean() - 1) < 0.03
    assert 0.04 < ratio.std() < 0.11


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"how": "magic"}, "how must be"),
        ({"output": "median"}, "output must be"),
        ({"how": "kriging", "output": "sum"}, "output 'sum' is that of how='paper'"),
        ({"how": "mean", "output": "sum"}, "output 'sum' is that of how='paper'"),
        ({"noise": 0.0}, "noise must be a positive"),
        ({"noise": "little"}, "noise must be 'auto' or a positive number, found 'little'"),
        ({"kernel": []}, "kernel must not be an empty list"),
        ({"kernel": ["diffusion", "warmth"]}, "there is no kernel 'warmth'"),
        ({"kernel": "inverse-power:2"}, "converges"),
        ({"normalization": "none"}, "normalization must be"),
        ({"scale": -1.0}, "scale must be"),
        ({"n_walks": 0}, "n_walks must be"),
        ({"output": "direction"}, "needs vectors"),
    ],
)
def test_bad_parameters_are_refused(options, message):
    with pytest.raises(grfpp.InputError, match=message):
        fitted(**options)


def test_directed_graphs_have_no_process():
    directed = grfpp.Graph([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    with pytest.raises(grfpp.InputError, match="this graph is directed"):
        KernelInterpolator(directed, how="kriging").fit([1], [2.0])


def test_normals_are_predicted_by_it():
    task = hide_normals(triangulated_sphere(3), 0.8, 1)
    assert predict_normals(task).cosine > 0.999 > predict_normals(task, how="paper").cosine
    assert predict_normals(task).method.startswith("kriging")


@pytest.mark.parametrize("n_nodes", [1, 3])
def test_graphs_without_edges(n_nodes):
    one = KernelInterpolator(np.zeros((n_nodes, n_nodes))).fit([0], [1.0])
    mean, std = one.predict([0], return_std=True)
    assert mean == pytest.approx([1.0])
    assert np.isfinite(std).all()


def test_no_kernels_to_choose_from():
    with pytest.raises(grfpp.InputError, match=r"^kernel must not be an empty list"):
        fitted(kernel=[])
