"""`GraphSearch`: what it proposes, that it resumes, and that it finds."""

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose

from grfpp.datasets import grid
from grfpp.errors import InputError
from grfpp.gp import GraphGP, GraphSearch

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


def test_new_values_condition_draws():
    search = searched(4, 5)
    new = search.ask(2)
    first = search._n_fitted
    search.tell(new, [3.0, 3.0])
    search._update()
    assert search._n_fitted == first  # no new fit
    before, after = search._fields[new], search._conditioned(slice(None))[new]
    assert after[:, -1].mean() > before[:, -1].mean() + 1
    assert after[:, :-1].std(axis=1).max() < before[:, :-1].std(axis=1).max()


@pytest.mark.parametrize("method", ["columns", "precision"])
@pytest.mark.parametrize("mean", [None, 0.5])
def test_columns_are_those_of_the_joint_covariance(method, mean):
    given = {"width": 4.0, "noise": 0.02, "outputscale": 0.5, "mean": mean}
    seen = np.arange(0, 400, 9)
    gp = GraphGP(grid(20, 20), method=method, **given).fit(seen, HEIGHT[seen])
    covariance = gp.predict(return_cov=True)[1]
    assert_allclose(gp.posterior_columns([7, 9]), covariance[:, [7, 9]], rtol=1e-8, atol=1e-12)


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
