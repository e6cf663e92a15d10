import networkx as nx
import numpy as np
import pytest

from grfpp.errors import InputError
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


def test_numbers_whose_squares_are_out_of_range():
    exact = np.array([1e200, 1e199])
    assert newcomer.distance(1.01 * exact, exact) == pytest.approx(0.01)


def test_without_data(monkeypatch):
    monkeypatch.setattr(newcomer, "data_folder", lambda: None)
    with pytest.raises(InputError, match="GRFPP_DATA"):
        newcomer.main([])
