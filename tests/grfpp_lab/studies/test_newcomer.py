import networkx as nx

from grfpp.graph import Graph
from grfpp_lab.graphs import grid
from grfpp_lab.studies import newcomer


def test_errors_and_methods():
    error, method = newcomer.error_of(grid(400).normalized("sym"))
    assert 0 <= error <= newcomer.TOL
    assert method in ("dense", "chebyshev", "lanczos")


def test_printed(monkeypatch, capsys):
    found = [("club", Graph(nx.karate_club_graph())), ("grid", grid(64))]
    monkeypatch.setattr(newcomer, "graphs", lambda folder, n: found)
    monkeypatch.setattr(newcomer, "data_folder", lambda: "somewhere")
    newcomer.main([])
    assert "4 products, kinds beyond 0.001: 0" in capsys.readouterr().out
