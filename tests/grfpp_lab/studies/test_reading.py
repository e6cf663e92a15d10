"""Reading long lists: what it takes, and the program that measures it."""

from pathlib import Path

import pytest
from experiment_cases import run_cells_here

from grfpp.graph import Graph
from grfpp_lab.studies import reading


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="peaks of memory are read as Linux has them"
)
@pytest.mark.parametrize(
    ("kind", "n_edges", "n_names", "limit"),
    [(".csv", 200_000, 400_000, 250e6), (".parquet", reading.N_EDGES, 100_000, 300e6)],
)
def test_long_lists_take_little_memory(kind, n_edges, n_names, limit):
    """Names that are all different, and names that are repeated."""
    row = reading.measure(kind, n_edges, n_names)
    assert row["n_nodes"] == n_names
    assert row["peak_bytes"] < limit
    assert row["seconds"] > 0


@pytest.mark.parametrize("n_names", [50, 400])
def test_all_kinds_hold_the_same(tmp_path, n_names):
    graphs = []
    for kind in reading.KINDS:
        reading.write(tmp_path / f"list{kind}", 200, n_names)
        graphs.append(Graph(tmp_path / f"list{kind}"))
    assert graphs[0].n_nodes == n_names
    for graph in graphs[1:]:
        assert graph.node_ids == graphs[0].node_ids
        assert (graph.adjacency != graphs[0].adjacency).nnz == 0


def test_the_program(capsys, monkeypatch):
    run_cells_here(monkeypatch)
    reading.main(["--edges", "500", "--names", "40", "--kinds", ".csv"])
    header, line = capsys.readouterr().out.splitlines()
    assert header.split()[:3] == ["kind", "edges", "names"]
    assert line.split()[:3] == [".csv", "500", "40"]
