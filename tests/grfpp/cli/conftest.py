"""Graphs that the tests of several commands read."""

import networkx as nx
import pytest
from cli_helpers import write_karate


@pytest.fixture
def karate(tmp_path, monkeypatch):
    """A graph whose nodes are numbers, in the current folder."""
    monkeypatch.chdir(tmp_path)
    return write_karate(tmp_path)


@pytest.fixture
def novel(tmp_path, monkeypatch):
    """A graph whose nodes have names."""
    monkeypatch.chdir(tmp_path)
    nx.write_gml(nx.les_miserables_graph(), "novel.gml")
    return tmp_path / "novel.gml"
