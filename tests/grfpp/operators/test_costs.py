"""The machine's constants and their file."""

import json
from dataclasses import asdict

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from grfpp.graph import Graph
from grfpp.operators.costs import (
    Costs,
    MachineCosts,
    costs_file,
    current_costs,
    measure_and_keep,
    measure_costs,
    scattering,
    stays_in_cache,
)
from grfpp_lab.graphs import grid, random_regular, scale_free


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "folder" / "machine.json"
    found = MachineCosts().times(1.5)
    assert found.write(path)
    assert MachineCosts.read(path) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"version": 1}',
        json.dumps({"version": 0, "seconds": asdict(MachineCosts())}),
        json.dumps({"version": 2, "seconds": {**asdict(MachineCosts()), "step": -1}}),
        json.dumps({"version": 2, "seconds": {**asdict(MachineCosts()), "walk": 1e9}}),
        json.dumps({"version": 2, "seconds": {**asdict(MachineCosts()), "walk": float("nan")}}),
        json.dumps({"version": 2, "seconds": {**asdict(MachineCosts()), "walk": "fast"}}),
        "[" * 100_000,
    ],
)
def test_what_cannot_be_believed_is_not_read(tmp_path, text):
    path = tmp_path / "machine.json"
    path.write_text(text)
    assert MachineCosts.read(path) is None
    assert MachineCosts.read(tmp_path / "none.json") is None


def test_folders_that_cannot_be_written_to_do_no_harm(tmp_path):
    (tmp_path / "file").write_text("")
    assert not MachineCosts().write(tmp_path / "file" / "machine.json")


@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1e9)), max_size=30))
def test_corrections_stay_within_bounds(pairs):
    learned = Costs(MachineCosts())
    for predicted, took in pairs:
        learned.observe("dense", predicted, took)
        assert 0.5 <= learned.correction("dense") <= 2


def test_corrections_go_where_the_times_are():
    learned = Costs(MachineCosts())
    for _ in range(20):
        predicted = learned.correction("dense")
        learned.observe("dense", predicted, 1.5)
    assert learned.correction("dense") == pytest.approx(1.5, rel=0.05)


def test_wide_blocks_cost_less_a_column_and_all_cost_something():
    machine = MachineCosts()
    each = [machine.product(10_000, 1000, width) / width for width in (1, 2, 4, 8, 16, 64)]
    assert each == sorted(each, reverse=True)
    assert each[-1] > 0


def test_measured_once_and_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path))
    monkeypatch.setattr("grfpp.operators.costs.measure_costs", lambda: MachineCosts().times(2.0))
    before = current_costs().machine
    try:
        assert measure_and_keep()
        assert MachineCosts.read(costs_file()) == current_costs().machine
        current_costs.cache_clear()
        assert current_costs().machine == MachineCosts().times(2.0)
    finally:
        current_costs.cache_clear()
        current_costs().machine = before


def test_without_a_file_there_are_built_in_values(tmp_path, monkeypatch):
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path / "none"))
    current_costs.cache_clear()
    assert current_costs().machine == MachineCosts()
    current_costs.cache_clear()


def test_measured_constants_are_positive():
    assert all(value > 0 for value in asdict(measure_costs(0.002)).values())


def test_grids_are_local_and_random_graphs_are_not():
    assert scattering(grid(40_000)) < 0.2
    assert scattering(random_regular(40_000, seed=0)) > 0.4
    assert scattering(scale_free(20_000, 3, seed=0)) < scattering(random_regular(20_000))


@pytest.mark.parametrize("n", [1, 3, 200])
def test_small_and_empty_graphs(n):
    assert scattering(Graph(sp.csr_array((n, n)))) == 0.0


def test_what_leads_elsewhere_takes_longer_beyond_the_cache():
    costs, n = MachineCosts(), 10**6
    near, far = (costs.product(10 * n, n, 16, scattered=share) for share in (0.0, 1.0))
    assert near < far and not stays_in_cache(n, 16)
    assert costs.product(10, 10, 16, scattered=1.0) == costs.product(10, 10, 16, scattered=0.0)
    assert np.isfinite(costs.product(0, 1, 1))
