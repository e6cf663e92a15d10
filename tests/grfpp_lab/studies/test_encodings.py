"""Times of encodings: what is measured, on a few graphs."""

import pytest

pytest.importorskip("torch_geometric", reason="torch and torch_geometric are not installed")

from grfpp_lab.studies import encodings


def test_every_kind_is_measured_and_printed(capsys, monkeypatch):
    monkeypatch.setattr(encodings, "_SOME", 3)
    graphs = encodings.small_graphs(2)
    assert all(graph.num_nodes == 30 and graph.is_undirected() for graph in graphs)
    encodings.main(["--graphs", "20"])
    lines = capsys.readouterr().out.splitlines()
    assert [line[:16].strip() for line in lines[1:]] == [
        *encodings.KINDS,
        "PyG random walk",
        "PyG Laplacian",
    ]
    assert all(float(line.split()[-1]) >= 0 for line in lines[1:])
    encodings.main(["--large", "300"])
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(encodings.KINDS)
