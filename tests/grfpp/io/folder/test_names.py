"""Names on disk are found as those in memory are."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grfpp import Graph, InputError
from grfpp.io.folder.names import names_of
from grfpp.io.folder.reader import GraphFolder
from grfpp.io.folder.save import Rows, save_folder
from grfpp.nodes import NodeNames

TEXTS = st.lists(st.text(max_size=4), min_size=1, max_size=12)
NUMBERS = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3), min_size=1, max_size=12)


def stored(folder, names):
    """Names in memory as a file would keep them, and on disk."""
    n = len(names)
    kept = NodeNames(n, names).to_array()
    nothing = Rows(np.zeros(n + 1, np.int64), np.empty(0, np.int32))
    save_folder(folder / "names.grf", nothing, names=kept)
    return NodeNames(n, kept.tolist()), names_of(GraphFolder.open(folder / "names.grf"))


def outcome(function, *arguments):
    try:
        return np.asarray(function(*arguments)).tolist()
    except InputError as error:
        return str(error).partition(";")[0]


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(TEXTS | NUMBERS, st.data())
def test_the_same_places_or_the_same_refusal(tmp_path_factory, names, data):
    names = [name.replace("\0", "0") if isinstance(name, str) else name for name in names]
    memory, disk = stored(tmp_path_factory.mktemp("names"), names)
    assert list(disk.ids) == list(memory.ids) and disk.kind == memory.kind
    asked = st.sampled_from(names) | st.text(max_size=3) | st.integers(-9, 9) | st.just(1.0)
    for wanted in (data.draw(asked), data.draw(st.lists(asked, max_size=3))):
        assert outcome(memory.index, wanted) == outcome(disk.index, wanted)
        assert outcome(memory.numbers, wanted) == outcome(disk.numbers, wanted)
        assert outcome(memory.written, str(wanted), "x") == outcome(disk.written, str(wanted), "x")


def test_close_names_are_offered(tmp_path):
    names = [f"user{number}" for number in range(5000)]
    _, disk = stored(tmp_path, names)
    with pytest.raises(InputError, match="the closest are 'user"):
        disk.numbers("user4321x")
    _, disk = stored(tmp_path, [5, 3, 10**6])
    with pytest.raises(InputError, match="no node is named '10000001'"):
        disk.index("10000001")
    with pytest.raises(InputError, match="no node is named"):
        disk.index("9" * 5000)


def test_names_are_a_sequence(tmp_path):
    _, disk = stored(tmp_path, ["b", "", "ü", "a"])
    ids = disk.ids
    assert ids[-1] == "a" and ids[1:3] == ["", "ü"] and len(ids) == 4 and "ü" in ids
    with pytest.raises(IndexError):
        ids[4]


def test_all_kinds_of_names_of_graphs(tmp_path):
    for ids in ([3, 1, 2], ["x", "y", "z"], [(1, 2), "y", 3.5], [2**63, 1, 0], [2**70, 1, 0]):
        edges = [(ids[0], ids[1]), (ids[1], ids[2])]
        graph = Graph(edges) if isinstance(ids[0], str) else _named(ids)
        graph.save(tmp_path / "x.grf")
        disk = Graph.open(tmp_path / "x.grf")
        assert [disk.index(name) for name in ids] == [graph.index(name) for name in ids]


def _named(ids):
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(ids)
    graph.add_edge(ids[0], ids[1])
    return Graph(graph)
