"""Names in one buffer behave as the list of them."""

import copy
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK

from grfpp import Graph
from grfpp.nodes import Texts
from grfpp_lab.studies import reading

NAMES = st.lists(st.text(max_size=20), min_size=1, max_size=30)


@QUICK
@given(NAMES, st.text(max_size=20))
def test_it_is_the_list(names, other):
    raw = [name.encode() for name in names]
    texts = Texts(np.frombuffer(b"".join(raw), np.uint8), np.cumsum([len(each) for each in raw]))
    assert list(texts) == names and texts == names and names == texts
    assert [texts[i] for i in range(-len(names), len(names))] == names * 2
    assert texts[1::2] == names[1::2]
    assert repr(texts) == repr(names)
    assert texts != [*names, "x"] and texts != [*names[:-1], names[-1] + "x"]
    for name in [*names, other, other + "\0", names[0] + "x"]:
        assert (name in texts) == (name in names)
    assert texts.index(names[-1]) == names.index(names[-1])
    assert pickle.loads(pickle.dumps(texts)) == copy.copy(texts) == names


def test_what_lists_refuse():
    texts = Texts(np.frombuffer(b"ab", np.uint8), np.array([1, 2]))
    with pytest.raises(IndexError):
        texts[2]
    with pytest.raises(TypeError):
        hash(texts)
    assert texts != ("a", "b") and 1 not in texts
    assert np.asarray(texts).tolist() == ["a", "b"]


@pytest.mark.parametrize("kind", [".csv", ".parquet", ".feather"])
def test_graphs_are_the_same_with_many_names(tmp_path, kind, monkeypatch):
    reading.write(tmp_path / f"list{kind}", 300, 200)
    plain = Graph(tmp_path / f"list{kind}")
    monkeypatch.setattr("grfpp.io.table_sql.MAX_LIST_LENGTH", 10)
    monkeypatch.setattr("grfpp.io.table_sql._NAMES_PER_BATCH", 64)
    graph = Graph(tmp_path / f"list{kind}")
    assert isinstance(plain.node_ids, list) and isinstance(graph.node_ids, Texts)
    assert graph.node_ids == plain.node_ids
    assert (graph.adjacency != plain.adjacency).nnz == 0
    name = plain.node_ids[7]
    assert graph.index(name) == 7
    for file in ("graph.npz", "graph.grf"):
        graph.normalized().save(tmp_path / file)
        again = Graph(tmp_path / file)
        assert list(again.node_ids) == plain.node_ids and again.index(name) == 7
    assert pickle.loads(pickle.dumps(graph)).node_ids == plain.node_ids


def test_a_name_that_utf8_lacks_is_kept_in_a_folder(tmp_path):
    graph = Graph(nx.Graph([("a\udc80", "b"), ("b", "\u00e9")]))
    graph.save(tmp_path / "it.grf")
    again = Graph.open(tmp_path / "it.grf")
    assert list(again.node_ids) == graph.node_ids
    assert again.index("a\udc80") == 0
