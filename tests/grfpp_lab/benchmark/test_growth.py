"""Growth, at the smallest size."""

import pytest
from bench_helpers import run


def test_growth():
    numbers = run("growth", n_nodes=100)["grfpp, float32"]["numbers"]
    assert numbers["n_nodes"] == 100
    assert 100 < numbers["stored_bytes_per_node"] < 600
    assert numbers["microseconds_per_node"] == pytest.approx(1e4 * numbers["seconds"])


def test_recompute():
    assert run("recompute", n_nodes=100)["grfpp, recompute"]["numbers"]["same_as_stored"] == 1
