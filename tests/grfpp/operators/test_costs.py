"""The machine's constants and their file."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from grfpp.graph import Graph
from grfpp.operators import costs as module
from grfpp.operators.costs import Costs, MachineCosts, current_costs, scattering, stays_in_cache
from grfpp_lab.graphs import grid, random_regular, scale_free

SLOW = replace(MachineCosts(), walk=4.5e-8, far=3e-9)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "measure_costs", lambda: SLOW)
    current_costs.cache_clear()
    yield tmp_path / "cache"
    current_costs.cache_clear()


def test_measured_once_and_kept(folder):
    assert current_costs().machine == MachineCosts()
    assert module.measure_and_keep()
    assert current_costs().machine == SLOW
    current_costs.cache_clear()
    assert current_costs().machine == SLOW


def test_folders_that_cannot_be_written_to_do_no_harm(folder):
    folder.write_text("")
    assert not module.measure_and_keep()
    assert current_costs().machine == SLOW


def content(version=2, **changed):
    return json.dumps({"version": version, "seconds": {**asdict(SLOW), **changed}})


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{", '{"version": 1}', "[" * 100_000, '{"version": 2, "seconds": 3}'),
        *(content(version=0), content(step=-1), content(walk=1e9), content(walk="fast")),
        *(content(walk=float("nan")), content(unknown=1.0)),
    ],
)
def test_what_cannot_be_believed_is_not_read(tmp_path, text):
    path = tmp_path / "machine.json"
    path.write_text(content())
    assert MachineCosts.read(path) == SLOW
    path.write_text(text)
    assert MachineCosts.read(path) == MachineCosts.read(tmp_path / "none") == MachineCosts()


@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1e9)), max_size=30))
def test_corrections_stay_within_bounds(pairs):
    learned = Costs(MachineCosts())
    for predicted, seconds in pairs:
        learned.observe("dense", predicted, seconds)
        assert 0.5 <= learned.correction("dense") <= 2


def test_corrections_approach_the_observed_times():
    learned = Costs(MachineCosts())
    for _ in range(20):
        learned.observe("dense", learned.correction("dense"), 1.5)
    assert learned.correction("dense") == pytest.approx(1.5, rel=0.05)


def test_wide_blocks_cost_less_a_column_and_scattered_entries_more_beyond_the_cache():
    costs, n = MachineCosts(), 10**6
    each = [costs.product(10_000, 1000, width) / width for width in (1, 2, 4, 8, 16, 64)]
    assert each == sorted(each, reverse=True) and each[-1] > 0
    near, far = (costs.product(10 * n, n, 16, scattered=share) for share in (0.0, 1.0))
    assert near < far and not stays_in_cache(n, 16)
    assert costs.product(10, 10, 16, scattered=1.0) == costs.product(10, 10, 16, scattered=0.0)
    assert np.isfinite(costs.product(0, 1, 1))


def test_measured_constants_are_positive(monkeypatch):
    monkeypatch.undo()
    assert all(value > 0 for value in asdict(module.measure_costs(0.002)).values())


def test_grids_are_local_and_random_graphs_are_not():
    assert scattering(grid(40_000)) < 0.2
    assert scattering(random_regular(40_000, seed=0)) > 0.4
    assert scattering(scale_free(20_000, 3, seed=0)) < scattering(random_regular(20_000))
    for n in (1, 3, 200):
        assert scattering(Graph(sp.csr_array((n, n)))) == 0.0
