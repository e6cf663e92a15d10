"""Where walks win and lose, at the smallest size."""

import numpy as np
import pytest
from bench_helpers import COMMON, run

from grfpp_lab import families
from grfpp_lab.benchmark import uses
from grfpp_lab.benchmark.suite import TASKS


@pytest.mark.parametrize("patch", [True, False])
def test_local(patch):
    found = run("local", n_nodes=400, n_rows=20, patch=patch)
    ours = found["grfpp"]["numbers"]["error"]
    assert 0 < ours < 0.5
    assert found["Chebyshev, sparse vectors"]["numbers"]["error"] <= ours
    chebyshev = found["Chebyshev"]
    assert chebyshev["status"] == "estimated"
    assert "16 of 20 measured" in chebyshev["note"]


def test_chebyshev_on_sparse_vectors():
    W = families.grid(100).normalized("sym")
    nodes = np.array([3, 50, 51])
    exact = uses.KERNEL.exact(W)[np.ix_(nodes, nodes)]
    assert np.abs(uses._sparse_block(W, nodes, 1e-12) - exact).max() < 1e-11


def test_patch_and_spread():
    W = families.grid(100)
    assert uses._patch(W, 4).tolist() == [44, 45, 54, 55]
    assert len(uses._patch(W, 5)) == 5
    spread = uses._spread(W, 20)
    assert len(np.unique(spread)) == 20


def test_dense_graph():
    results = TASKS["dense"]({**COMMON, "n_nodes": 60, "degree": 20, "columns": {"a": 2, "b": 5}})
    named = [(result["workload"], result["method"]) for result in results]
    assert named == [
        ("a", "grfpp"),
        ("a", "grfpp, plan made before"),
        ("a", "Chebyshev"),
        ("a", "Al-Mohy–Higham"),
        ("b", "grfpp"),
        ("b", "grfpp, plan made before"),
        ("b", "Chebyshev"),
    ]
    assert results[2]["numbers"]["error"] <= results[0]["numbers"]["error"]


def test_sparse_graph():
    found = run("sparse", n_nodes=100, columns={"a": 3})
    assert set(found) == {"grfpp", "Chebyshev", "Al-Mohy–Higham"}
