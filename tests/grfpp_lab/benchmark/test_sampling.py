"""Walk steps a second, at the smallest size."""

import pytest
from bench_helpers import run

from grfpp_lab import families


@pytest.fixture
def graph(tmp_path):
    families.grid(64).normalized("sym").save(tmp_path / "graph.npz")
    return str(tmp_path / "graph.npz")


def test_sample(graph):
    found = run("sample", graph=graph)
    double, single = found["grfpp, float64"]["numbers"], found["grfpp, float32"]["numbers"]
    assert double["steps"] == pytest.approx(64 * 144, rel=1e-4)
    assert double["steps_per_second"] == pytest.approx(double["steps"] / double["seconds"])
    pooled = found["grfpp, pooled, float64"]["numbers"]
    assert pooled["steps"] == pytest.approx(64 * 144)
    assert single["bytes_per_node"] < double["bytes_per_node"]


def test_limit():
    assert run("limit", n_bytes=1000)["pointer chases"]["numbers"]["table_bytes"] == 1000


def test_plain(graph):
    found = run("plain", graph=graph)
    assert set(found) == {"plain Python, lists", "plain Python, numpy arrays"}
    assert all(row["version"].startswith("Python 3") for row in found.values())
