"""Kriging: processes, the choice of their settings, standard errors."""

import copy

import networkx as nx
import numpy as np
import pytest

import grfpp
from grfpp.datasets import grid
from grfpp.tasks import KernelInterpolator, kriging
from grfpp.tasks.kriging import PlannedProcess, SmoothProcess, process_of

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
    assert default.kernel_ in kriging.default_kernels()
    chosen = f"kriging: {default.kernel_}, noise {default.noise_:g}, chosen from "
    assert default.method_.startswith(chosen)
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
    mean, variance = FIELD[KNOWN].mean(), one._kriging.noise / 0.05
    inside = K[np.ix_(KNOWN, KNOWN)] + 0.05 * variance * np.eye(N_KNOWN)
    expected = mean + K[:, KNOWN] @ np.linalg.solve(inside, FIELD[KNOWN] - mean)
    np.testing.assert_allclose(one.field_, expected, atol=1e-5)
    kernels = [grfpp.Diffusion(1.0), grfpp.Diffusion(8.0)]
    several = fitted(kernel=["diffusion:1", kernels[1]])
    assert several.kernel_ == kernels[1]
    assert {setting.kernel for setting in several.losses_} == set(kernels)


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


def test_a_covariance_has_no_negative_eigenvalue():
    W = GRAPH.normalized("sym")
    for spec in ("cosine:3", "p-step:3:0.1", "cosine:0.5", "p-step:2:0.1"):
        kernel = grfpp.kernels.kernel_of(spec)
        smallest = np.linalg.eigvalsh(kernel.exact(W))[0]
        assert kriging.is_covariance(kernel, W) is bool(smallest > -1e-9)
    assert not kriging.is_covariance(grfpp.Diffusion(), grfpp.Graph([[0, 1], [0, 0]]))
    for kernel in ("cosine:3", "p-step:3:0.1", ["diffusion:5", "cosine:3"]):
        with pytest.raises(grfpp.InputError) as error:
            fitted(kernel=kernel, noise=0.1)
        assert error.value.argument == "kernel"


def chosen(field, kernels=None, noises=kriging.NOISES, margin=0.0):
    kernels, values = kernels or kriging.default_kernels(), field[KNOWN, None]
    assert kriging.patch_of(GRAPH, KNOWN, 0)[0] is GRAPH  # small graphs are taken whole
    return kriging.krige(GRAPH, process_of, kernels, noises, KNOWN, values, seed=0, margin=margin)


def test_smooth_fields_choose_wide_kernels_and_rough_ones_noise():
    smooth = chosen(np.cos(np.add.outer(np.arange(12), np.arange(12)) / 5).ravel())
    rough = chosen(RNG.standard_normal(N_GRID), noises=(0.001, 0.1, 10.0))
    assert len(smooth.losses) == len(kriging.default_kernels()) * len(kriging.NOISES)
    assert smooth.setting.kernel.sigma2 > 2
    assert rough.setting.noise == 10.0
    assert smooth.losses[smooth.setting] == min(smooth.losses.values())
    (kernel,) = kriging.default_kernels()[:1]
    one = chosen(FIELD, [kernel], (0.1,))
    assert (one.setting, one.losses) == ((kernel, 0.1), {})
    sure = chosen(RNG.standard_normal(N_GRID), noises=(0.001, 0.1, 10.0), margin=1e9)
    assert sure.setting == (kernel, 0.001)


def test_what_is_held_out_takes_no_part():
    data = kriging.KnownValues(N_GRID, KNOWN, FIELD[KNOWN, None].copy())
    folds = kriging._folds(N_KNOWN, N_GRID, 3)
    held = kriging.CrossValidation(process_of(GRAPH, grfpp.RegularizedLaplacian(2)), data, folds)
    before = held.means(0.1, 1e-6)
    data.values[folds[0]] += 100.0
    after = held.means(0.1, 1e-6)
    np.testing.assert_array_equal(after[0], before[0])
    assert np.abs(after[1] - before[1]).max() > 0.1


def test_folds_hold_every_known_node_once_unless_the_graph_is_large():
    for n_known, n_unknowns, n_folds in ((2, 300, 2), (57, 300, 10), (4_000, 30_000, 2)):
        folds = kriging._folds(n_known, n_unknowns, 0)
        positions = np.concatenate(folds)
        assert len(folds) == n_folds
        assert len(np.unique(positions)) == len(positions) == min(n_known, 400 * n_folds)


def test_settings_of_large_graphs_are_chosen_on_a_part(monkeypatch, default):
    monkeypatch.setattr(kriging, "MAX_PATCH_NODES", 100)
    one = fitted()
    assert one._kriging.cross_validation.data.n_nodes <= 100
    assert one.score(HIDDEN, FIELD[HIDDEN]) > 0.97
    assert (one.losses_ != default.losses_) and one.losses_.keys() == default.losses_.keys()


def test_a_part_is_the_graph_between_its_nodes(monkeypatch):
    monkeypatch.setattr(kriging, "MAX_PATCH_NODES", 200)
    graph = grid(40, 40)
    known = np.arange(0, 1600, 7)
    part, nodes = kriging.patch_of(graph, known, 0)
    assert 150 < len(nodes) <= 200
    assert (np.diff(nodes) > 0).all()
    inside = graph.adjacency.toarray()[np.ix_(nodes, nodes)]
    np.testing.assert_array_equal(part.adjacency.toarray(), inside)
    assert np.isin(nodes, known).sum() > 10
    np.testing.assert_array_equal(kriging.patch_of(graph, known, 0)[1], nodes)
    # Balls: most nodes have all their neighbours.
    assert np.mean(part.out_degree == graph.out_degree[nodes]) > 0.4
    # Many small components end all the same.
    monkeypatch.setattr(kriging, "MAX_PATCH_NODES", 500)
    graph = grfpp.Graph(nx.disjoint_union_all([nx.path_graph(2)] * 600))
    part, nodes = kriging.patch_of(graph, np.arange(0, 1200, 2), 0)
    assert part.n_nodes == len(nodes) == 2 * kriging._MAX_CENTRES


NOVEL = grfpp.Graph(nx.les_miserables_graph())
N, NOVEL_RNG = NOVEL.n_nodes, np.random.default_rng(2)
SOME = np.sort(NOVEL_RNG.choice(N, size=25, replace=False))
VALUES = NOVEL_RNG.standard_normal((N, 2))
KERNELS = [
    (grfpp.RegularizedLaplacian(1, sigma2=3.0), SmoothProcess),
    (grfpp.RegularizedLaplacian(3, sigma2=3.0), SmoothProcess),
    (grfpp.RegularizedLaplacian(2.5, sigma2=3.0), PlannedProcess),
    (grfpp.Diffusion(4.0), PlannedProcess),
]


def covariance(kernel, normalization, scale=1.0):
    K = kernel.exact(NOVEL.normalized(None if normalization is None else "sym", scale))
    if normalization != "rw":
        return K
    strength = NOVEL.adjacency.sum(axis=1)
    roots = np.sqrt(strength / strength.mean())
    return K / np.outer(roots, roots)


def masks(*left_out):
    mask = np.zeros((N, max(1, len(left_out))))
    mask[SOME] = 1.0
    for column, place in enumerate(left_out):
        mask[place, column] = 0.0
    return mask


@pytest.mark.parametrize(("kernel", "kind"), KERNELS, ids=str)
@pytest.mark.parametrize("normalization", ["rw", "sym"])
def test_means_and_variances_are_those_of_the_process(kernel, kind, normalization):
    process = process_of(NOVEL, kernel, normalization)
    assert isinstance(process, kind)
    K, noise = covariance(kernel, normalization), 0.05
    inverse = np.linalg.inv(K[np.ix_(SOME, SOME)] + noise * np.eye(len(SOME)))
    expected = K[:, SOME] @ inverse @ VALUES[SOME]
    found = process.mean(masks(), VALUES, noise, 1e-10)[0]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    nodes = np.array([0, 5, 40])
    variances = np.diag(K - K[:, SOME] @ inverse @ K[SOME])[nodes]
    np.testing.assert_allclose(process.variances(nodes, masks(), noise), variances, rtol=1e-3)
    assert process.prior_variance(0) == pytest.approx(np.diag(K).mean(), rel=0.2)


@pytest.mark.parametrize("kernel", [grfpp.RegularizedLaplacian(2), grfpp.Diffusion(3.0)])
def test_every_column_may_have_known_nodes_of_its_own(kernel):
    process = process_of(NOVEL, kernel)
    together = process.mean(masks(SOME[0], SOME[7]), VALUES, 0.1, 1e-10)[0]
    for column, left_out in enumerate((SOME[0], SOME[7])):
        alone = process.mean(masks(left_out), VALUES[:, [column]], 0.1, 1e-10)[0]
        np.testing.assert_allclose(together[:, [column]], alone, atol=1e-7)


def test_methods_of_the_planner_and_what_is_refused():
    kernel = grfpp.RegularizedLaplacian(2)
    planned, plain = process_of(NOVEL, kernel, method="dense"), process_of(NOVEL, kernel)
    assert isinstance(planned, PlannedProcess)
    means = [each.mean(masks(), VALUES, 0.1, 1e-9)[0] for each in (planned, plain)]
    np.testing.assert_allclose(*means, atol=1e-6)
    with pytest.raises(grfpp.InputError, match="undirected"):
        process_of(grfpp.Graph([[0, 1], [0, 0]]), grfpp.Diffusion())
    with pytest.raises(grfpp.InputError, match="converges"):
        process_of(NOVEL, grfpp.InversePower(2))


@pytest.mark.parametrize("kernel", ["regularized-laplacian:2", "diffusion:2"])
def test_systems_that_do_not_converge_warn(monkeypatch, kernel):
    monkeypatch.setattr(kriging, "_MAX_STEPS", 2)
    with pytest.warns(grfpp.errors.InputWarning, match="have not converged") as seen:
        fitted(kernel=kernel, noise=1e-4)
    assert len({str(warning.message) for warning in seen}) == 1
