"""Names in one buffer behave as the list of them."""

import copy
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grfpp import Graph
from grfpp.io.tables import texts as module
from grfpp.io.tables.labels import distinct_pieces, number_labels
from grfpp.io.tables.texts import Texts, texts_at
from grfpp.io.tables.words import Words

NAMES = st.lists(st.text(max_size=20), min_size=1, max_size=30)


def packed(names):
    raw = [name.encode() for name in names]
    lengths = np.array([len(each) for each in raw], np.int32)
    return b"".join(raw), np.cumsum(lengths) - lengths, lengths


@settings(max_examples=60, deadline=None)
@given(NAMES, st.text(max_size=20))
def test_it_is_the_list(names, other):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_IN_A_LIST", 0)
        patch.setattr(module, "_BATCH", 4)
        texts = texts_at(*packed(names))
        assert isinstance(texts, Texts)
        assert list(texts) == names and texts == names and names == texts
        assert len(texts) == len(names)
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


@settings(max_examples=60, deadline=None)
@given(NAMES)
def test_pieces_sorted_in_parts_are_numbered_as_by_a_dictionary(names):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("grfpp.io.tables.labels._PART_BITS", 2)
        buffer, starts, lengths = packed(names)
        numbers, first = distinct_pieces(Words(buffer), buffer, starts, lengths)
        expected, labels = number_labels(names)
        assert numbers.tolist() == expected.tolist()
        assert [names[place] for place in first] == labels


@pytest.mark.parametrize("kind", [".csv", ".parquet", ".feather"])
def test_graphs_are_the_same_with_many_names(tmp_path, kind, monkeypatch):
    pytest.importorskip("pyarrow")
    from grfpp_lab.studies import reading

    reading.write(tmp_path / f"list{kind}", 300, 200)
    plain = Graph(tmp_path / f"list{kind}")
    monkeypatch.setattr(module, "MOST_IN_A_LIST", 10)
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


def test_a_name_that_utf8_lacks_is_kept_in_a_folder():
    networkx = pytest.importorskip("networkx")
    graph = Graph(networkx.Graph([("a\udc80", "b"), ("b", "\u00e9")]))
    with tempfile.TemporaryDirectory() as folder:
        graph.save(Path(folder, "it.grf"))
        again = Graph.open(Path(folder, "it.grf"))
        assert list(again.node_ids) == graph.node_ids
        assert again.index("a\udc80") == 0
