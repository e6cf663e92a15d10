"""Fields on nodes, filled in."""

import networkx as nx
import numpy as np
import pytest
from estimator_case import NodeEstimatorCase
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone

import grfpp
from grfpp.datasets import triangulated_sphere
from grfpp.tasks import KernelInterpolator
from grfpp.tasks.interpolation import cosines, mean_cosine, unit_vectors
from grfpp.tasks.normals import hide_normals, predict_normals, vertex_normals


def by_sums(graph, **options):
    """One product with the kernel, as a weighted mean unless asked for otherwise."""
    return KernelInterpolator(graph, **{"how": "paper", "output": "mean", **options})


KARATE = grfpp.Graph(nx.karate_club_graph())
RNG = np.random.default_rng(3)
KNOWN = np.sort(RNG.choice(34, size=12, replace=False))
HIDDEN = np.setdiff1d(np.arange(34), KNOWN)
FIELD = RNG.standard_normal((34, 3))


def kernel_of(estimator):
    """The matrix whose product the estimator should take."""
    W, kernel = KARATE.normalized("sym", estimator.scale or 1.0), grfpp.Diffusion(1.0)
    if estimator.estimate == "exact":
        return kernel.exact(W)
    names = ("degree", "n_walks", "termination", "reuse_walks", "walks")
    options = {name: getattr(estimator, name) for name in names}
    return grfpp.sample(W, kernel, seed=estimator.random_state, **options).toarray()


METHODS = [
    {"estimate": "exact"},
    {"degree": 1, "n_walks": 64},
    {"degree": 2, "scale": 0.49},
    {"degree": 2, "reuse_walks": True},
]


@pytest.mark.parametrize("parameters", METHODS)
def test_the_sum_is_the_kernel_times_the_known_values(parameters):
    one = by_sums(KARATE, output="sum", random_state=5, **parameters)
    one.fit(KNOWN, FIELD[KNOWN])
    K = kernel_of(one)[:, KNOWN]
    np.testing.assert_allclose(one.field_, K @ FIELD[KNOWN], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.mass_, K.sum(axis=1), rtol=1e-9)
    np.testing.assert_array_equal(one.predict(HIDDEN), one.field_[HIDDEN])
    # Means are weighted by the kernel, and directions have length one.
    mean = clone(one).set_params(output="mean").fit(KNOWN, FIELD[KNOWN])
    expected = K @ FIELD[KNOWN] / K.sum(axis=1, keepdims=True)
    reached = mean.reached_
    np.testing.assert_allclose(mean.field_[reached], expected[reached], rtol=1e-9, atol=1e-12)
    turned = clone(mean).set_params(output="direction").fit(KNOWN, FIELD[KNOWN])
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(turned.field_[reached], (expected / lengths)[reached], atol=1e-9)


def test_columns_do_not_mix_shapes_are_kept_and_the_order_of_nodes_does_not_matter():
    one = by_sums(KARATE, random_state=1)
    together = one.fit(KNOWN, FIELD[KNOWN]).field_
    turned = one.fit(KNOWN[::-1].tolist(), FIELD[KNOWN[::-1]].tolist()).field_
    np.testing.assert_allclose(turned, together, rtol=1e-12)
    for column in range(3):
        alone = one.fit(KNOWN, FIELD[KNOWN, column])
        assert alone.predict(HIDDEN).shape == (len(HIDDEN),)
        np.testing.assert_allclose(alone.field_, together[:, column], rtol=1e-12)
    assert one.fit(KNOWN, FIELD[KNOWN, :1]).predict(HIDDEN[:, None]).shape == (len(HIDDEN), 1)


#: A path, a cycle and an isolated node.
PARTS = grfpp.Graph(nx.disjoint_union_all([nx.path_graph(5), nx.cycle_graph(4), nx.empty_graph(1)]))
BOTH = pytest.mark.parametrize("estimate", ["walks", "exact"])


@BOTH
def test_a_part_without_a_known_node_gets_the_mean_or_nothing(estimate):
    known, values = [0, 3], np.array([[1.0, 2.0], [3.0, 6.0]])
    options = {"estimate": estimate, "random_state": 0, "n_walks": 64}
    mean = by_sums(PARTS, **options).fit(known, values)
    assert mean.reached_.tolist() == [True] * 5 + [False] * 5
    np.testing.assert_array_equal(mean.field_[5:], np.tile([2.0, 4.0], (5, 1)))
    np.testing.assert_array_equal(mean.mass_[5:], 0.0)
    for output in ("direction", "sum"):
        other = by_sums(PARTS, output=output, **options).fit(known, values)
        np.testing.assert_array_equal(other.field_[5:], 0.0)
        assert (other.field_[:5] != 0).all()


@BOTH
def test_components_are_independent_and_constants_stay(estimate):
    one = by_sums(PARTS, estimate=estimate, random_state=0, n_walks=64)
    known, values = [0, 3, 6, 9], np.array([1.0, 3.0, -2.0, 7.0])
    before = one.fit(known, values).field_
    changed = one.fit(known, values + np.array([0, 0, 5, 0])).field_
    np.testing.assert_array_equal(changed[[*range(5), 9]], before[[*range(5), 9]])
    np.testing.assert_allclose(changed[5:9], before[5:9] + 5)
    assert before[9] == pytest.approx(7.0)  # an isolated node has its own value alone
    np.testing.assert_allclose(one.fit(known, [2.5] * 4).field_, 2.5)
    # Directed graphs predict from where arcs lead.
    arcs = grfpp.Graph([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    one = by_sums(arcs, estimate=estimate, n_walks=64, random_state=0).fit([1], [4.0])
    assert one.reached_.tolist() == [True, True, False]


def test_rounding_does_not_pass_for_an_answer():
    """Far from the only known node the exact mass is below what is computed exactly."""
    one = by_sums(nx.path_graph(60), estimate="exact", output="direction")
    one.fit([0], [[1.0, 0.0]])
    assert one.reached_[:6].all() and not one.reached_[20:].any()
    assert np.isin(one.field_[:, 0], [0.0, 1.0]).all()


def test_scores():
    sphere = triangulated_sphere(2)
    normals = vertex_normals(sphere.vertices, sphere.faces)
    task = hide_normals(sphere, 0.7, 1)
    one = by_sums(sphere.graph, output="direction", random_state=0)
    one.fit(task.known, normals[task.known])
    cosine = one.score(task.hidden, normals[task.hidden])
    assert cosine == mean_cosine(one.predict(task.hidden), normals[task.hidden])
    assert cosine == predict_normals(task, how="paper", random_state=0).cosine
    assert 0.9 < cosine < 1
    with pytest.raises(grfpp.InputError, match="sample_weight"):
        one.score(task.hidden, normals[task.hidden], np.ones(len(task.hidden)))


def test_means_need_a_positive_mass():
    cosine = by_sums(KARATE, kernel="cosine", scale=0.64, estimate="exact")
    with pytest.raises(grfpp.InputError, match="negative mass"):
        cosine.fit(KNOWN, FIELD[KNOWN])
    assert np.isfinite(cosine.set_params(output="sum").fit(KNOWN, FIELD[KNOWN]).field_).all()


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_nodes_and_any_columns(data):
    n = data.draw(st.integers(2, 20))
    edges = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    graph = nx.empty_graph(n)
    graph.add_edges_from(edges)
    known = data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True))
    columns = data.draw(st.integers(1, 4))
    values = np.random.default_rng(0).uniform(-1, 1, (len(known), columns))
    for estimate in ("walks", "exact"):
        one = by_sums(graph, estimate=estimate, random_state=0).fit(known, values)
        assert (np.abs(one.field_) <= 1 + 1e-6).all()  # and finite
        within = set().union(*(nx.node_connected_component(graph, node) for node in known))
        assert set(known) <= set(np.flatnonzero(one.reached_)) <= within


def test_nodes_by_name():
    graph = nx.les_miserables_graph()
    known, values = list(graph)[::2], np.linspace(0, 1, 39)
    one = by_sums(graph, random_state=0).fit(known, values)
    other = by_sums(graph, random_state=0).fit(np.arange(0, 77, 2), values)
    np.testing.assert_array_equal(one.predict(["Valjean", 0]), other.predict([10, 0]))
    with pytest.raises(grfpp.InputError, match="Valjan"):
        one.predict(["Valjan"])


@pytest.mark.parametrize("method", ["auto", "dense", "chebyshev", "lanczos"])
def test_the_planner_fills_in_what_the_exact_kernel_does(method):
    graph = nx.disjoint_union(nx.grid_2d_graph(12, 12), nx.path_graph(5))
    known = np.arange(0, 144, 3)
    height = np.random.default_rng(0).normal(size=(len(known), 2))
    exact = by_sums(graph, estimate="exact", scale=2.0).fit(known, height)
    planned = by_sums(graph, method=method, scale=2.0).fit(known, height)
    np.testing.assert_allclose(planned.field_, exact.field_, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(planned.reached_, exact.reached_)
    assert not planned.reached_[144:].any()
    assert planned.method_


def test_bad_values_are_refused():
    several = [1, 2, 3], ["a", "b"], [1, np.nan], np.zeros((2, 0)), np.zeros((2, 2, 2)), [1, 2]
    for y in several:
        with pytest.raises(grfpp.InputError) as error:
            KernelInterpolator(KARATE, output="direction").fit([0, 1], y)  # which needs vectors
        assert error.value.argument == "y"


class TestSums(NodeEstimatorCase):
    FITTED = ("graph_", "field_", "reached_", "how_", "output_", "method_", "mass_")
    BAD = {"output": "median", "how": "magic", "normalization": "none"}

    def make(self, **parameters):
        return KernelInterpolator(**{"graph": KARATE, "how": "mean", **parameters})

    def fit(self, estimator):
        return estimator.fit(KNOWN, FIELD[KNOWN, 0])

    def result(self, fitted):
        return fitted.predict(HIDDEN[:, None])


class TestKriging(TestSums):
    FITTED = ("graph_", "field_", "reached_", "how_", "output_", "method_", "kernel_", "noise_")
    BAD = {**TestSums.BAD, "noise": [0.0, "little"], "kernel": [[]]}
    OTHER = {"noise": 10.0}

    def make(self, **parameters):
        return KernelInterpolator(**{"graph": KARATE, "how": "kriging", **parameters})

    def result(self, fitted):
        return np.concatenate(fitted.predict(HIDDEN, return_std=True))


REALS = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=REALS))
def test_unit_vectors(vectors):
    units = unit_vectors(vectors)
    lengths = np.linalg.norm(units, axis=1)
    has_direction = vectors.any(axis=1)
    np.testing.assert_allclose(lengths[has_direction], 1)
    assert (lengths[~has_direction] == 0).all()
    # The same direction: what is left after projecting is nothing.
    along = (units * vectors).sum(axis=1, keepdims=True) * units
    np.testing.assert_allclose(along, vectors, atol=1e-9 * np.abs(vectors).max(initial=1))
    found = cosines(vectors, vectors)
    np.testing.assert_allclose(found[has_direction], 1)
    assert np.isnan(found[~has_direction]).all()


def test_cosines():
    true = [[1, 0], [1, 0], [1, 0], [0, 2], [0, 0]]
    predicted = [[5, 0], [-2, 0], [1, 1], [0, 0], [1, 0]]
    np.testing.assert_allclose(cosines(predicted, true), [1, -1, 0.5**0.5, 0, np.nan])
    assert mean_cosine(predicted, true) == pytest.approx(0.5**0.5 / 4)
    for wrong in ([[1, 0]], [1, 0], [[0, 0]] * 5):
        with pytest.raises(grfpp.InputError):
            mean_cosine(predicted, wrong)
