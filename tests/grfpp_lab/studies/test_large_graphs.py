"""The study of large graphs, on small ones."""

import re

import numpy as np
import pytest

import grfpp
from grfpp import Graph
from grfpp_lab.graphs import save_scale_free, scale_free
from grfpp_lab.studies import large_graphs


def test_lists_have_as_many_lines_and_the_nodes_they_should(tmp_path):
    path = tmp_path / "edges.tsv"
    large_graphs.write_edge_list(path, 3000, 50, named=True)
    lines = path.read_text().splitlines()
    assert len(lines) == 3000 and re.fullmatch(r"user\d+\tuser\d+", lines[-1])
    assert Graph(path).n_nodes == 50
    large_graphs.write_edge_list(path, 300, 50, named=False)
    assert re.fullmatch(r"\d+\t\d+", path.read_text().splitlines()[0])


def test_peaks_of_memory_are_those_of_the_process_alone():
    import resource

    held = np.ones(30_000_000)  # counts as the peak of whatever is started from here
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > held.nbytes
    done = large_graphs.run("-c", "x = bytearray(50_000_000); x[::512] = x[::512]; print(7)")
    assert done.document == 7
    with pytest.raises(SystemExit, match="it ended with 3"):
        large_graphs.run("-c", "raise SystemExit(3)")
    assert 50e6 < done.peak_bytes < 150e6 < held.nbytes


def test_what_it_prints(tmp_path, capsys, monkeypatch):
    common = ["--nodes", "500", "--folder", str(tmp_path)]
    large_graphs.main(["convert", "--lines", "2000", "--memory", "100MB", *common])
    told = capsys.readouterr().out
    assert told.startswith("2,000 lines, ") and "nodes with names (text)" in told
    assert " s of CPU, peak of memory " in told
    done = large_graphs.Run({"steps": 576.0}, 2.0, 3.0, 10**8)
    monkeypatch.setattr(large_graphs, "run", lambda *arguments: done)
    large_graphs.main(["product", "--arcs", "1500", "--kind", "rw", *common])
    assert "500 nodes, 1,500 arcs, rw: " in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_the_product_is_that_of_the_estimate(tmp_path):
    large_graphs.save_directed(tmp_path / "x.grf", 300, 900)
    program = large_graphs._PRODUCT
    printed = large_graphs.run("-c", program, str(tmp_path / "x.grf"), "sym", "2").document
    W = Graph.open(tmp_path / "x.grf").normalized("sym")
    K = grfpp.sample(W, grfpp.Diffusion(1.0), seed=0, check_error=False)
    v = np.random.default_rng(0).normal(size=300)
    assert printed["norm"] == np.linalg.norm(K @ v)


def test_graphs_on_disk(tmp_path):
    large_graphs.save_directed(tmp_path / "d.grf", 200, 800)
    graph = Graph.open(tmp_path / "d.grf", verify=True)
    assert graph.is_directed and 700 < graph.n_edges <= 800
    reverse = graph.reversed().adjacency.toarray()
    np.testing.assert_array_equal(reverse, graph.adjacency.toarray().T)
    save_scale_free(tmp_path / "x.grf", 3000, 4, seed=2)
    disk, memory = Graph.open(tmp_path / "x.grf", verify=True), scale_free(3000, 4, seed=2)
    assert repr(disk) == repr(memory)
    np.testing.assert_array_equal(disk.indices, memory.indices)
    np.testing.assert_array_equal(disk.indptr, memory.indptr)
