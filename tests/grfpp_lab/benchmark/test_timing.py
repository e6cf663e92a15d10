"""Seconds and bytes are those of the work."""

import subprocess
import sys
from random import Random

import networkx as nx
import numpy as np
import pytest
from scipy.linalg import expm

from grfpp import Graph, InputError
from grfpp_lab.benchmark import timing as plain
from grfpp_lab.benchmark.sampling import walk_plan
from grfpp_lab.benchmark.settings import N_WALKS, P_HALT
from grfpp_lab.benchmark.timing import best_seconds, random_cycle, timed


def test_best_of_several_runs_and_the_time_of_one(monkeypatch):
    clock = iter([0.0, 3.0, 10.0, 11.0, 20.0, 22.0, 3.0, 5.5])
    monkeypatch.setattr(plain, "perf_counter", lambda: next(clock))
    assert best_seconds(lambda: None, budget=10, most=3) == 1.0
    assert timed(lambda: "done") == ("done", 2.5)
    monkeypatch.undo()
    calls = []
    best_seconds(lambda: calls.append(1), budget=0)
    assert len(calls) == 1
    best_seconds(lambda: calls.append(1), budget=100, most=4)
    assert len(calls) == 5


def test_peak_memory_forgets_what_was_before_and_sees_what_is_freed():
    # In a process of its own, as benchmarks measure: here, other tests' memory comes and goes.
    code = """
import numpy as np
from grfpp_lab.benchmark.timing import peak_memory
np.ones(10_000_000)  # 80 MB, gone
with peak_memory() as peak:
    np.ones(5_000_000)
with peak_memory() as nothing:
    pass
print(peak.n_bytes, nothing.n_bytes)
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    peak, nothing = map(int, told.stdout.split())
    assert peak == pytest.approx(40e6, rel=0.2)
    assert nothing < 5e6


@pytest.mark.parametrize("n", [2, 3, 1000])
def test_one_cycle_through_the_whole_table(n):
    table = random_cycle(n)
    seen, place = set(), 0
    while place not in seen:
        seen.add(place)
        place = int(table[place])
    assert place == 0
    assert len(seen) == n
    if n == 1000:  # and a random one
        assert np.abs(np.diff(table.astype(float))).mean() == pytest.approx(n / 3, rel=0.15)


GRAPH = Graph(nx.karate_club_graph()).normalized("sym")


def rows(graph, n_walks, seed):
    modulation = walk_plan(graph).modulation.tolist()
    cuts = list(zip(graph.indptr[:-1], graph.indptr[1:], strict=True))
    features, steps = plain.list_features(
        [graph.indices[a:b].tolist() for a, b in cuts],
        [graph.weights[a:b].tolist() for a, b in cuts],
        *(0, n_walks, P_HALT, modulation, Random(seed)),
    )
    dense = np.zeros(graph.n_nodes)
    dense[list(features)] = list(features.values())
    yield dense, steps
    yield plain.array_features(
        *(graph, 0, n_walks, P_HALT, modulation, np.random.default_rng(seed))
    )


def test_mean_number_of_steps_and_dead_ends():
    exact = expm(GRAPH.adjacency.toarray() / 2)[0]
    n_walks = 20_000
    for features, steps in rows(GRAPH, n_walks, seed=1):
        assert np.linalg.norm(features - exact) / np.linalg.norm(exact) < 0.02
        assert steps / n_walks == pytest.approx(9, rel=0.03)
    for features, steps in rows(Graph(np.zeros((2, 2))), 3, seed=0):
        assert (features.tolist(), steps) == ([1.0, 0.0], 0)


@pytest.mark.parametrize("run", [plain.time_lists, plain.time_arrays])
def test_timing_stops_at_the_budget_or_at_the_last_node(run):
    modulation = walk_plan(GRAPH).modulation.tolist()
    steps, seconds = run(GRAPH, N_WALKS, P_HALT, modulation, 60.0)
    assert steps == pytest.approx(34 * N_WALKS * 9, rel=0.25)
    few, _ = run(GRAPH, N_WALKS, P_HALT, modulation, 0.0)
    assert 0 < few < steps
    assert seconds > 0


def test_memory_of_attention(monkeypatch, capsys):
    pytest.importorskip("torch", reason="torch is not installed")
    from grfpp_lab.benchmark import attention_memory

    monkeypatch.setattr(
        attention_memory, "call", lambda name, request, **limits: attention_memory.one_pass(request)
    )
    attention_memory.main(["--tokens", "16", "--how", "add", "--threads", "1"])
    _, line = capsys.readouterr().out.splitlines()
    assert line.split()[:2] == ["16", "add"]
    with pytest.raises(InputError, match="square"):
        attention_memory.measure(15, "add")
