"""`GraphSearch`: what it proposes, that it resumes, and that it finds."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from grfpp.datasets import grid
from grfpp.errors import InputError
from grfpp.gp import GraphGP, GraphSearch
from grfpp.graph import Graph
from grfpp.kernels import RegularizedLaplacian

ROWS, COLUMNS = np.divmod(np.arange(400), 20)
HEIGHT = np.exp(-((ROWS - 13) ** 2 + (COLUMNS - 6) ** 2) / 40)


def searched(n_steps, batch=1, seed=0, search=None, **options):
    search = search or GraphSearch(grid(20, 20), random_state=seed, n_jobs=1, **options)
    for _ in range(n_steps):
        nodes = search.ask(batch)
        search.tell(nodes, HEIGHT[nodes])
    return search


@pytest.mark.parametrize("acquisition", ["thompson", "ei"])
def test_it_finds_the_peak(acquisition):
    counts = []
    for seed in range(5):
        nodes, _ = searched(30, seed=seed, acquisition=acquisition).observations
        counts.append(np.append(HEIGHT[nodes] > 0.95, True).argmax())
    assert np.median(counts) < 20  # at random, five of 400 nodes take 67


@pytest.mark.parametrize("acquisition", ["thompson", "ei"])
def test_batches_repeat_nothing_and_stay_among(acquisition):
    among = np.arange(0, 400, 3)
    search = searched(4, 20, acquisition=acquisition, among=among)
    nodes, values = search.observations
    assert len(set(nodes)) == 80
    assert set(nodes) <= set(among.tolist())
    assert_allclose(values, HEIGHT[nodes])
    waiting = search.ask(3)
    assert not set(waiting) & {*nodes, *search.ask(3)}
    with pytest.raises(InputError, match=r"n must be at most the 48 nodes that are left"):
        search.ask(49)


@pytest.mark.parametrize("acquisition", ["thompson", "ei"])
def test_a_resumed_search_goes_on_as_it_would_have(acquisition, tmp_path):
    search = searched(9, 3, acquisition=acquisition, among=range(200, 400))
    search.save(tmp_path / "search.npz")
    resumed = GraphSearch.load(tmp_path / "search.npz", grid(20, 20))
    assert resumed.best == search.best
    for _ in range(3):
        nodes = search.ask(2)
        assert resumed.ask(2) == nodes
        for each in (search, resumed):
            each.tell(nodes, HEIGHT[nodes])
    with pytest.raises(InputError, match="another graph"):
        GraphSearch.load(tmp_path / "search.npz", grid(10, 40))


def conditioned(search):
    """Draws from the posterior, and its mean in the last column."""
    search._update()
    return np.concatenate([block for _, block in search._conditioned(np.eye(32, 33))])


def test_new_values_condition_draws():
    search = searched(4, 5)
    new, first, before = search.ask(2), search._n_fitted, conditioned(search)
    search.tell(new, [3.0, 3.0])
    after = conditioned(search)
    assert search._n_fitted == first  # no new fit
    assert after[new, -1].mean() > before[new, -1].mean() + 1
    assert after[new, :-1].std(axis=1).max() < before[new, :-1].std(axis=1).max()


@pytest.mark.parametrize("factorize", [True, False])
@pytest.mark.parametrize("normalization", ["sym", "rw"])
def test_the_process_is_that_of_the_regression(factorize, normalization, monkeypatch):
    monkeypatch.setattr("grfpp.gp.search._is_cheaper_to_factorize", lambda series: factorize)
    graph, seen = grid(20, 20), np.arange(0, 400, 9)
    search = GraphSearch(graph, normalization=normalization, n_jobs=1)
    search.tell(seen, HEIGHT[seen] + 0.1 * np.sin(seen))
    fields = conditioned(search)
    prior, profile = search._prior, search._profile
    assert prior.factorize == factorize
    kernel = RegularizedLaplacian(2, prior.width)
    ratio = profile.ratios[profile.log_density.argmax()]
    gp = GraphGP(graph, kernel=kernel, normalization=normalization, noise_ratio=ratio)
    mean, std = gp.fit(seen, search._values).predict(return_std=True)
    assert_allclose(fields[:, -1], mean, rtol=0, atol=0.03 * np.ptp(mean))
    errors = (fields[:, :-1] - mean[:, None]) / std[:, None]
    assert 0.8 < np.sqrt(np.square(errors).mean()) < 1.25


def test_wide_kernels_take_a_factorisation_or_short_polynomials(monkeypatch):
    graph, seen = grid(2, 6000), [5, 3000, 9000]
    search = GraphSearch(graph, acquisition="ei", n_jobs=1)
    search.tell(seen, [0.0, 1.0, 0.5])
    assert len(set(search.ask(2))) == 2
    assert search._priors[-1].width > 1e7  # polynomials would have tens of thousands of terms
    monkeypatch.setattr("grfpp.gp.search.fits", lambda n_bytes: False)
    search = GraphSearch(graph, acquisition="ei", n_jobs=1)
    search.tell(seen, [0.0, 1.0, 0.5])
    assert len(set(search.ask(2))) == 2
    assert len(search._priors[-1]._solver.coefficients()) < 700


def test_tiny_components_are_not_asked_for_first():
    pairs = [(2 * k, 2 * k + 1) for k in range(60)]
    graph = Graph(sp.block_diag([grid(20, 20).adjacency, Graph(pairs).adjacency]))
    for acquisition in ("ei", "thompson"):
        search = GraphSearch(graph, acquisition=acquisition, random_state=3)
        search.tell([10, 150, 390], HEIGHT[[10, 150, 390]])
        for _ in range(15):
            nodes = search.ask()
            assert nodes[0] < 400
            search.tell(nodes, HEIGHT[nodes])
    for prior in search._priors:
        variances = prior.block(np.array([10, 150, 390, 400])).diagonal()
        assert variances[3] < 1.5 * variances[:3].min()  # in proportion to the size: above 50
        assert prior.drawn(0)[400:].std() < 2 * prior.drawn(0)[:400].std()


def test_the_best_and_the_latest_count_where_memory_is_short(monkeypatch):
    monkeypatch.setattr("grfpp.gp.search._MAX_NUMBERS", 400 * 10)
    search = searched(20)
    seen = search._seen(20).nodes
    nodes, values = search.observations
    assert len(seen) == 10
    assert {nodes[values.argmax()], *nodes[-5:]} <= set(seen.tolist())
    assert len(set(search.ask(3))) == 3


def test_names_and_the_smallest_value():
    graph = nx.relabel_nodes(nx.path_graph(30), {k: f"n{k}" for k in range(30)})
    search = GraphSearch(graph, maximize=False, acquisition="ei")
    for _ in range(12):
        (name,) = search.ask()
        search.tell(name, (int(name[1:]) - 20) ** 2)
    assert search.best == ("n20", 0.0)
    tuples = GraphSearch(nx.grid_2d_graph(3, 3)).ask(9)
    assert sorted(tuples) == [(a, b) for a in range(3) for b in range(3)]


def test_equal_values_are_followed_by_nodes_at_random():
    search = GraphSearch(grid(5, 5))
    for _ in range(25):
        search.tell(search.ask(), [1.0])
    assert sorted(search.observations[0]) == list(range(25))


@pytest.mark.parametrize(
    ("nodes", "values", "problem"),
    [
        ([1, 2], [1.0], "values must be 2 finite numbers"),
        ([1], [np.nan], "values must be 1 finite numbers"),
        ([25], [1.0], "nodes must"),
        ([1], ["a"], "values must be 1 finite numbers"),
    ],
)
def test_bad_observations_are_refused(nodes, values, problem):
    with pytest.raises(InputError, match=problem):
        GraphSearch(grid(5, 5)).tell(nodes, values)


def test_bad_settings_are_refused(tmp_path):
    for options in ({"acquisition": "ucb"}, {"random_state": -1}, {"among": [99]}):
        with pytest.raises(InputError, match=next(iter(options))):
            GraphSearch(grid(5, 5), **options)
    with pytest.raises(InputError, match="nothing has been observed"):
        _ = GraphSearch(grid(5, 5)).best
    (tmp_path / "x.npz").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"x\.npz"):
        GraphSearch.load(tmp_path / "x.npz", grid(5, 5))
