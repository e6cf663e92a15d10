"""Kriging by `KernelInterpolator`: its defaults, given settings, units and standard errors."""

import copy

import networkx as nx
import numpy as np
import pytest

import grfpp
from grfpp.datasets import grid
from grfpp.gp.covariance import is_covariance
from grfpp.tasks import KernelInterpolator
from grfpp.tasks.interpolation import Setting

N_GRID, N_KNOWN = 144, 40
GRAPH = grid(12, 12)
FIELD = np.cos(np.add.outer(np.arange(12), 2 * np.arange(12)) / 7).ravel()
RNG = np.random.default_rng(0)
KNOWN = np.sort(RNG.choice(N_GRID, size=N_KNOWN, replace=False))
HIDDEN = np.setdiff1d(np.arange(N_GRID), KNOWN)


def fitted(values=None, **options):
    values = FIELD[KNOWN] if values is None else values
    return KernelInterpolator(GRAPH, **options).fit(KNOWN, values)


@pytest.fixture(scope="module")
def default():
    return fitted()


def test_the_default_is_kriging_and_better_than_sums(default):
    assert (default.how_, default.output_) == ("kriging", "mean")
    assert isinstance(default.kernel_, grfpp.RegularizedLaplacian)
    assert default.method_.startswith(f"kriging: {default.kernel_}, noise {default.noise_:g}")
    sums = fitted(how="mean", estimate="exact", scale=2.0)
    assert default.score(HIDDEN, FIELD[HIDDEN]) > sums.score(HIDDEN, FIELD[HIDDEN]) > 0.5
    assert default.score(HIDDEN, FIELD[HIDDEN]) > 0.97


def test_defaults_are_resolved():
    assert fitted(output="sum").how_ == "paper"
    assert fitted(how="paper").output_ == "sum"
    directed = KernelInterpolator([[0, 1, 0], [0, 0, 1], [0, 0, 0]]).fit([1], [2.0])
    assert directed.how_ == "mean"
    # The paper's mean is the mean.
    same = [fitted(how="paper", output="mean", random_state=0), fitted(how="mean", random_state=0)]
    assert same[1].output_ == "mean"
    np.testing.assert_array_equal(*(each.field_ for each in same))
    given = fitted(scale=3.0)
    assert (given.kernel_, given._choice.scale) == (grfpp.Diffusion(1.0), 3.0)


def test_given_kernels_and_noises_are_taken():
    K = grfpp.Diffusion(2.0).exact(GRAPH.normalized("sym"))
    one = fitted(kernel="diffusion:2", noise=0.05, normalization="sym")
    assert (one.kernel_, one.noise_, one.losses_) == (grfpp.Diffusion(2.0), 0.05, {})
    C = K / K[KNOWN, KNOWN].mean()
    inverse = np.linalg.inv(C[np.ix_(KNOWN, KNOWN)] + 0.05 * np.eye(N_KNOWN))
    mean = inverse.sum(axis=0) @ FIELD[KNOWN] / inverse.sum()
    expected = mean + C[:, KNOWN] @ inverse @ (FIELD[KNOWN] - mean)
    np.testing.assert_allclose(one.field_, expected, atol=1e-8)
    kernels = [grfpp.Diffusion(1.0), grfpp.Diffusion(8.0)]
    several = fitted(kernel=["diffusion:1", kernels[1]])
    assert several.kernel_ == kernels[1]
    assert {setting.kernel for setting in several.losses_} == set(kernels)


def test_losses_are_those_of_nodes_predicted_from_the_others():
    one = fitted(kernel=["diffusion:4", "diffusion:5"], noise=0.1)
    errors = []
    for left_out in range(N_KNOWN):
        keep = np.arange(N_KNOWN) != left_out
        other = KernelInterpolator(GRAPH, kernel="diffusion:4", noise=0.1)
        # The unit of the noise is the kernel's variance at known nodes, hardly another one.
        other.fit(KNOWN[keep], FIELD[KNOWN[keep]])
        errors.append(other.field_[KNOWN[left_out]] - FIELD[KNOWN[left_out]])
    unit = np.abs(FIELD[KNOWN] - FIELD[KNOWN].mean()).max()
    loss = one.losses_[Setting(grfpp.Diffusion(4.0), 0.1)]
    assert loss == pytest.approx(np.mean(np.square(errors)) / unit**2, rel=0.01)


@pytest.mark.parametrize(("factor", "shift"), [(1e-200, 0.0), (1e200, 0.0), (1.0, 50.0), (0, 7.5)])
def test_units_do_not_matter(factor, shift, default):
    one = fitted(factor * FIELD[KNOWN] + shift)
    expected = default.field_ if factor else 0.0
    np.testing.assert_allclose((one.field_ - shift) / (factor or 1), expected, atol=1e-5)


def test_refitting_another_way_forgets_the_first(default):
    one = copy.copy(default)
    one.set_params(how="mean", random_state=0).fit(KNOWN, FIELD[KNOWN])
    assert not hasattr(one, "kernel_")
    with pytest.raises(grfpp.InputError, match="kriging"):
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


@pytest.mark.parametrize("graph", [GRAPH, np.zeros((1, 1)), np.zeros((3, 3))], ids=str)
def test_one_known_node_is_enough_even_without_edges(graph):
    one = KernelInterpolator(graph).fit([0], [3.0])
    np.testing.assert_allclose(one.field_, 3.0)
    _, std = one.predict([0, len(one.field_) - 1], return_std=True)
    assert np.isfinite(std).all()


def test_standard_errors_hold_what_they_should():
    """Draws of a known process, observed with noise; one draw alone is not much to go by."""
    W = GRAPH.normalized("sym")
    held, noises = [], []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        draw = grfpp.Diffusion(3.0).apply(W, rng.standard_normal(N_GRID))
        draw /= draw.std()
        noisy = draw + 0.2 * rng.standard_normal(N_GRID)
        one = KernelInterpolator(GRAPH, kernel="diffusion:6", random_state=0)
        mean, std = one.fit(KNOWN, noisy[KNOWN]).predict(HIDDEN, return_std=True)
        held.append(np.mean(np.abs(mean - draw[HIDDEN]) < 1.96 * std))
        noises.append(one.noise_std[0])
    assert 0.05 < np.median(noises) < 0.5
    assert 0.88 < np.mean(held) < 0.99


def test_known_nodes_are_surer():
    values = np.column_stack([FIELD, 10 * FIELD])[KNOWN]
    one = fitted(values)
    mean, exact = one.predict(np.arange(N_GRID), return_std=True)
    assert mean.shape == exact.shape == (N_GRID, 2)
    assert exact[KNOWN].max() < exact[HIDDEN].max()
    np.testing.assert_allclose(exact[:, 1], 10 * exact[:, 0], rtol=1e-4)


def test_smooth_fields_choose_wide_kernels_and_rough_ones_are_left_to_their_mean():
    smooth = fitted(np.cos(np.add.outer(np.arange(12), np.arange(12)) / 5).ravel()[KNOWN])
    rough = fitted(np.random.default_rng(1).standard_normal(N_KNOWN))
    assert smooth.kernel_.sigma2 > 10
    assert smooth.noise_std[0] < 0.05
    assert rough.field_[HIDDEN].std() < 0.5
    assert smooth.losses_[Setting(smooth.kernel_, smooth.noise_)] < 0.01


def test_a_covariance_has_no_negative_eigenvalue():
    W = GRAPH.normalized("sym")
    for spec in ("cosine:3", "p-step:3:0.1", "cosine:0.5", "p-step:2:0.1"):
        kernel = grfpp.kernels.kernel_of(spec)
        smallest = np.linalg.eigvalsh(kernel.exact(W))[0]
        assert is_covariance(kernel, W) is bool(smallest > -1e-9)
    assert not is_covariance(grfpp.Diffusion(), grfpp.Graph([[0, 1], [0, 0]]))
    for kernel in ("cosine:3", "p-step:3:0.1", ["diffusion:5", "cosine:3"]):
        with pytest.raises(grfpp.InputError) as error:
            fitted(kernel=kernel, noise=0.1)
        assert error.value.argument == "kernel"


def test_kernels_that_diverge_and_directed_graphs_are_refused():
    with pytest.raises(grfpp.InputError, match="converges"):
        fitted(kernel=grfpp.InversePower(2))
    directed = KernelInterpolator([[0, 1], [0, 0]], how="kriging")
    with pytest.raises(grfpp.InputError, match="undirected"):
        directed.fit([0], [1.0])
