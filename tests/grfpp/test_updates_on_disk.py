"""Updates of folders: segments, compaction, readers and processes that are killed meanwhile."""

import gzip
import json
import pickle

import numpy as np
import pytest

import grfpp
from grfpp import Graph, InputError, LocalKernel
from grfpp.io.atomic import _exchange
from grfpp.io.folder.reader import GraphFolder
from grfpp_lab.studies.updates import kills

EDGES = [("a", "b", 2.0), ("b", "c", 1.0), ("c", "d", 3.0), ("d", "a", 0.3), ("e", "a", 0.7)]


def saved(folder, directed=False, edges=EDGES):
    graph = Graph(edges, directed=directed)
    graph.save(folder / "graph.grf")
    return graph, folder / "graph.grf"


def answers(graph):
    W = graph.normalized("rw")
    return LocalKernel(W, "diffusion:2", budget=6, seed=0).rows(range(graph.n_nodes)).toarray()


def assert_same(one, other):
    assert repr(one) == repr(other)
    assert (one.node_ids is None) == (other.node_ids is None)
    assert list(one.node_ids or []) == list(other.node_ids or [])
    np.testing.assert_array_equal(one.adjacency.toarray(), other.adjacency.toarray())
    np.testing.assert_array_equal(answers(one), answers(other))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_updates_and_compaction(tmp_path, directed, weighted):
    graph, path = saved(tmp_path, directed, EDGES if weighted else [edge[:2] for edge in EDGES])
    before = Graph.open(path)
    first = {"add": [("a", "c"), ("x", "a"), ("y", "y")], "remove": [("b", "c")]}
    second = {"add": [("b", "c")], "remove": [("x", "a")]}
    if weighted:
        second["reweight"] = [("c", "d", 0.25)]
    kept, expected = answers(before), graph.updated(**first)
    once = grfpp.update(path, **first)
    assert_same(once, expected)
    expected = expected.updated(**second)
    assert_same(grfpp.update(path, **second), expected)
    assert_same(Graph.open(path, verify=True), expected)
    assert_same(pickle.loads(pickle.dumps(once)), graph.updated(**first))
    assert len(list(path.glob("update-*.seg"))) == 2
    reader = Graph.open(path)
    assert_same(grfpp.compact(path), expected)
    assert_same(Graph.open(path, verify=True), expected)
    assert not list(path.glob("*.seg")) and grfpp.compact(path).index("y") == 6
    # Who had it open keeps what was there, also after another compaction.
    assert_same(reader, expected)
    grfpp.update(path, add=[("z", "a")])
    assert grfpp.compact(path).n_nodes == 8
    np.testing.assert_array_equal(answers(before), kept)
    assert before._form.indices_file() is None
    with pytest.raises(InputError, match="has changed since it was opened"):
        pickle.loads(pickle.dumps(reader))


@pytest.mark.parametrize("named", ["text", "whole", None])
def test_names_of_many_nodes(tmp_path, named):
    n = 3000
    form = {"text": "node{}é".format, "whole": lambda i: 7 * ((i * 11) % 5003) - 50, None: int}[
        named
    ]
    graph, path = saved(tmp_path, edges=[(form(i), form(i + 1)) for i in range(n - 1)])
    index = Graph.open(path).index
    listed = [form(i) for i in range(n)]
    np.testing.assert_array_equal(index(listed), [index(name) for name in listed])
    names = Graph.open(path).names
    if named:
        np.testing.assert_array_equal(names.find_all(listed, "nodes"), index(listed))
        unknown = form(n) if named == "text" else 10**9
        assert names.find_all([*listed, unknown], "nodes", missing=True)[-1] == -1
        with pytest.raises(InputError, match="must exist"):
            names.find_all([*listed, unknown], "nodes")
    changes = {
        "add": [(form(i), form(i + 2)) for i in range(n)],
        "remove": [(form(i), form(i + 1)) for i in range(0, n - 1, 2)],
    }
    later = grfpp.update(path, **changes)
    assert_same(later, graph.updated(**changes))
    assert later.n_nodes == n + 2 and later.index(form(n + 1)) == n + 1
    assert_same(grfpp.compact(path), graph.updated(**changes))


def test_damaged_segments_are_refused(tmp_path):
    _, path = saved(tmp_path)
    grfpp.update(path, add=[("a", "c")])
    grfpp.update(path, add=[("a", "x")])
    first, second = sorted(path.glob("*.seg"))
    content = second.read_bytes()
    for at in (-1, 30, content.index(b"\n") + 3):
        damaged = bytearray(content)
        damaged[at] ^= 1
        second.write_bytes(damaged)
        with pytest.raises(InputError, match=r"update-000002\.seg"):
            Graph.open(path)
    second.write_bytes(content[:-5])
    with pytest.raises(InputError, match=r"update-000002\.seg is damaged"):
        Graph.open(path)
    second.write_bytes(content)
    assert Graph.open(path).n_nodes == 6
    first.rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"update-000001\.seg is missing"):
        Graph.open(path)
    second.rename(first)  # of another version
    with pytest.raises(InputError, match="belongs to another graph"):
        Graph.open(path)


def test_refused_updates_write_nothing(tmp_path):
    graph, path = saved(tmp_path)
    for changes in ({"add": [("a", "b")]}, {"remove": [("a", "c")]}, {"add": [("a", "c", -1.0)]}):
        with pytest.raises(InputError):
            grfpp.update(path, **changes)
    grfpp.update(path)  # nothing
    assert not list(path.glob("*.seg"))
    assert_same(Graph.open(path), graph)
    with pytest.raises(InputError, match="exclude each other"):
        grfpp.update(path, "changes.csv", add=[])
    with pytest.raises(InputError, match=r"folder must end in \.grf"):
        grfpp.compact(tmp_path)
    Graph([("a", "b")]).normalized("sym").save(path)
    with pytest.raises(InputError, match="normalised"):
        grfpp.update(path, add=[("a", "c")])


CHANGES = "target,Operation,weight,source\nc,add,,a\nx,ADD,4,a\nc,remove,,b\nb,reweight,0.5,a\n"


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_files_of_changes(tmp_path, suffix):
    graph, path = saved(tmp_path)
    file = tmp_path / f"changes{suffix}"
    if suffix == ".parquet":
        parquet, csv = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow.csv")
        (tmp_path / "changes.csv").write_text(CHANGES)
        parquet.write_table(csv.read_csv(tmp_path / "changes.csv"), file)
    else:
        file.write_text(CHANGES.replace(",", "\t") if suffix == ".tsv" else CHANGES)
    later = grfpp.update(path, file)
    changes = {"add": [("a", "c", 1.0), ("a", "x", 4.0)], "remove": [("b", "c")]}
    assert_same(later, graph.updated(**changes, reweight=[("a", "b", 0.5)]))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("operation,source,target\nadd,a,c\nput,a,b\n", "line 3: the operation must be add, re"),
        ("source,target\na,c\n", "has no column 'operation', found source, target"),
        ("operation,source\nadd,a\n", "at least two columns"),
        ("operation,source,target,weight\nadd,a,c,-1\n", "line 2: the weight must be positive"),
        ("operation,source,target,weight\nadd,a,c,x\n", "line 2: the weight must be positive"),
        ("operation,source,target,weight\nreweight,a,b,\n", "line 2: the weight must be"),
        ("operation,source,target\nadd,,c\n", "line 2: source must be the name of a node"),
        ("operation,source,target\nadd,a,b\n", "add lists 'a' - 'b', which is an edge already"),
        ("", "has no column 'operation'"),
    ],
)
def test_bad_files_of_changes(tmp_path, text, problem):
    _, path = saved(tmp_path)
    (tmp_path / "changes.csv").write_text(text)
    with pytest.raises(InputError, match=problem):
        grfpp.update(path, tmp_path / "changes.csv")


def test_packed_files_of_changes(tmp_path):
    graph, path = saved(tmp_path)
    for name in ("changes.csv.zip", "changes.gml"):
        (tmp_path / name).write_text("")
        with pytest.raises(InputError, match=r"changes are \.csv, \.tsv, \.txt, \.parquet files"):
            grfpp.update(path, tmp_path / name)
    with gzip.open(tmp_path / "changes.csv.gz", "wt") as stream:
        stream.write("operation,source,target\nremove,a,b\n")
    later = grfpp.update(path, tmp_path / "changes.csv.gz")
    assert_same(later, graph.updated(remove=[("a", "b")]))


def test_numbered_nodes_in_files_of_changes(tmp_path):
    path = tmp_path / "graph.grf"
    Graph([(0, 1), (1, 2)]).save(path)
    (tmp_path / "changes.csv").write_text("operation,source,target\nadd,2,3\nremove,0,1\n")
    assert grfpp.update(path, tmp_path / "changes.csv").n_nodes == 4
    (tmp_path / "changes.csv").write_text("operation,source,target\nadd,2,x\n")
    with pytest.raises(InputError, match="target must be the name of a node, found 'x'"):
        grfpp.update(path, tmp_path / "changes.csv")


def test_a_folder_that_is_replaced_by_another_is_refused(tmp_path):
    """Only compactions keep readers."""
    _, path = saved(tmp_path)
    opened = Graph.open(path)
    grfpp.update(path, add=[("a", "c")])
    opened.require_unchanged()
    saved(tmp_path, edges=EDGES[:3])
    assert not list(path.glob("*.seg"))
    with pytest.raises(InputError, match="has changed since it was opened"):
        opened.require_unchanged()


def test_readers_that_have_not_mapped_yet(tmp_path):
    _, path = saved(tmp_path)
    opened = GraphFolder.open(path)
    grfpp.update(path, add=[("a", "c")])
    grfpp.compact(path)
    with pytest.raises(InputError, match="has changed since it was opened"):
        opened["indptr"]
    assert json.loads((path / "header.json").read_text())["replaces"] == [opened.fingerprint]


def test_two_folders_are_exchanged(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    assert not _exchange(one, other)  # there is nothing to exchange it for
    other.mkdir()
    (one / "file").write_text("")
    if _exchange(one, other):
        assert (other / "file").exists() and not (one / "file").exists()
    else:
        assert (one / "file").exists()


def test_a_killed_process_leaves_the_old_or_the_new_graph():
    for _, n_sound, _, n in kills(3000, 1000, 2, seed=1):
        assert n_sound == n


def test_neighbours_that_are_read_from_the_file(tmp_path, monkeypatch):
    graph, path = saved(tmp_path)
    changes = {"add": [("a", "c"), ("x", "e")], "remove": [("b", "c")]}
    later, nodes = grfpp.update(path, **changes), range(6)
    monkeypatch.setattr("grfpp.local.plan._MAX_MAPPED_BYTES", 0)
    for kernel, normalization in (("diffusion:2", "sym"), ("personalized-pagerank:0.2", "rw")):
        pair = [one.normalized(normalization) for one in (later, graph.updated(**changes))]
        near = [LocalKernel(W, kernel, budget=4, seed=0) for W in pair]
        assert near[0].plan.read_layout.file is not None
        np.testing.assert_array_equal(near[0].block(nodes), near[1].block(nodes))
