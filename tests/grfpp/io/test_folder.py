"""Folders of graphs: a fixed format, names on disk, and damage that is found."""

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grfpp import Graph, InputError
from grfpp.io.folder import reader
from grfpp.io.folder.layout import ARRAYS, HEADER, STAMP
from grfpp.io.folder.reader import GraphFolder, StoredNames
from grfpp.io.folder.writer import save_folder
from grfpp.nodes import NodeNames
from grfpp.normalization import Rows

#: A folder of version 1, of the arcs a -> b (2.0) and b -> c (0.5), byte by byte.
FILES = {
    "indptr": "0000000000000000010000000000000002000000000000000200000000000000",
    "indices": "0100000002000000",
    "weights": "0000000000000040000000000000e03f",
    "out_strength": "0000000000000040000000000000e03f0000000000000000",
    "in_indptr": "0000000000000000000000000000000001000000000000000200000000000000",
    "in_indices": "0000000001000000",
    "in_weights": "0000000000000040000000000000e03f",
    "in_strength": "00000000000000000000000000000040000000000000e03f",
    "name_text": "616263",
    "name_ends": "010000000000000002000000000000000300000000000000",
    "name_order": "000000000100000002000000",
}
CHECKSUMS = [
    "8e781d2cdf9e3e50c92b53831d268649",
    "2cc5e4d47c5f3c5fbe635a5a5b7bb392",
    "a9afdb76c4321666c52ad910b05a9187",
    "57f16992802b0e5e6f19445a7a074dfe",
    "9b39f61446f7f52a663c2618142dda11",
    "a8b2f5ace066b0ffd5f2150532e06618",
    "a9afdb76c4321666c52ad910b05a9187",
    "b36ed17659be6cf0817b662d5b828c1a",
    "cf4ab791c62b8d2b2109c90275287816",
    "abccad42d03c940bc2b249bf5a4e1e3d",
    "953221e3def79ccd1f76477e81644e13",
]
LENGTHS = (4, 2, 2, 3, 4, 2, 2, 3, 3, 3, 3)
VERSION_1 = {
    **{"format": "grfpp-graph-folder", "version": 1, "n_nodes": 3, "n_stored": 2, "n_loops": 0},
    **{"directed": True, "symmetric": [], "tame": True, "kind": None, "value": 1.0},
    **{"names": "text", "spectral_radius": None},
    "arrays": {
        name: {"length": length, "checksum": checksum}
        for name, length, checksum in zip(FILES, LENGTHS, CHECKSUMS, strict=True)
    },
}


def test_folders_of_version_1_are_read_and_written(tmp_path):
    old, new = tmp_path / "old.grf", tmp_path / "new.grf"
    old.mkdir()
    (old / HEADER).write_text(json.dumps(VERSION_1, indent=1))
    for name, content in FILES.items():
        (old / f"{name}.bin").write_bytes(bytes.fromhex(content))
    graph = Graph.open(old)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 2, 0], [0, 0, 0.5], [0, 0, 0]])
    assert list(graph.node_ids) == ["a", "b", "c"] and graph.index("c") == 2
    Graph([("a", "b", 2.0), ("b", "c", 0.5)], directed=True).save(new)
    assert json.loads((new / HEADER).read_text()) == VERSION_1
    for name, content in FILES.items():
        assert (new / f"{name}.bin").read_bytes().hex() == content


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "graph.grf"
    graph = nx.gnp_random_graph(40, 0.2, seed=1, directed=True)
    nx.set_edge_attributes(graph, {edge: 1.0 + sum(edge) for edge in graph.edges}, "weight")
    Graph(nx.relabel_nodes(graph, str)).save(path)
    return path


def refusal(path, **options):
    with pytest.raises(InputError) as caught:
        Graph.open(path, **options)
    text = str(caught.value)
    assert str(path) in text and "\n" not in text
    return text


def changed_header(path, **changes):
    header = json.loads((path / HEADER).read_text())
    header.update(changes)
    (path / HEADER).write_text(json.dumps(header))


def rewritten(path, name, change):
    """Change an array, and the header so that it has the checksum of the changed one."""
    file = path / f"{name}.bin"
    array = np.fromfile(file, ARRAYS[name][0])
    change(array)
    array.tofile(file)
    checksum = hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()
    arrays = json.loads((path / HEADER).read_text())["arrays"]
    arrays[name] = {"checksum": checksum, "length": len(array)}
    changed_header(path, arrays=arrays)


def test_a_sound_folder_is_opened_without_reading_it_and_a_copy_is_read_once(folder, monkeypatch):
    copy = folder.with_name("copy.grf")
    shutil.copytree(folder, copy)
    looked = []
    monkeypatch.setattr("grfpp.io.folder.layout.verify_folder", lambda *_: looked.append(1))
    assert Graph.open(folder).n_nodes == 40 and not looked
    Graph.open(folder, verify=True)
    assert len(looked) == 1
    for _ in range(3):
        Graph.open(copy)
    assert len(looked) == 2
    (copy / STAMP).write_text("{")  # nonsense is no stamp
    Graph.open(copy)
    assert len(looked) == 3


def test_names_of_all_files_that_are_cut_or_missing(folder):
    for file in sorted(folder.glob("*.bin")):
        copy = folder.with_name("copy.grf")
        shutil.copytree(folder, copy)
        size = file.stat().st_size
        os.truncate(copy / file.name, size - 1)
        assert f"{file.name} is damaged" in refusal(copy)
        (copy / file.name).unlink()
        assert f"{file.name} cannot be read" in refusal(copy)
        shutil.rmtree(copy)


@pytest.mark.parametrize("verify", [False, True])
def test_a_flipped_bit_in_any_file(folder, verify):
    for file in sorted(folder.glob("*.bin")):
        data = file.read_bytes()
        file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        assert f"{file.name} is damaged: its checksum" in refusal(folder, verify=verify)
        file.write_bytes(data)
    Graph.open(folder)


def setting(place, value):
    return lambda array: array.__setitem__(place, value)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("indices", setting(5, 40)),
        ("in_indices", setting(-1, 2**31 - 1)),
        ("indices", lambda a: a.__setitem__(slice(0, 2), a[1::-1].copy())),
        ("indices", lambda a: a.__setitem__(1, a[0])),
        ("indptr", setting(3, 10**9)),
        ("in_indptr", lambda a: a.__setitem__(-1, a[-1] - 1)),
        ("weights", setting(2, -1.0)),
        ("in_weights", setting(2, np.nan)),
        ("out_strength", setting(2, np.inf)),
        ("out_strength", setting(2, 0.0)),
        ("out_strength", lambda a: a.__setitem__(2, 2 * a[2])),
        ("in_strength", setting(2, 0.0)),
        ("in_strength", lambda a: a.__setitem__(2, 2 * a[2])),
        ("name_text", setting(0, 0xFF)),
        ("name_text", setting(0, 0x80)),
        ("name_order", setting(2, 99)),
        ("name_order", lambda a: a.__setitem__(2, a[3])),
        ("name_ends", setting(2, 10**6)),
    ],
)
def test_structure_is_verified_whatever_the_checksum(folder, name, change):
    rewritten(folder, name, change)
    file = "name_ends" if name == "name_text" else name
    assert f"{file}.bin is damaged: " in refusal(folder)


def swapped(one, other):
    return lambda array: array.__setitem__([one, other], array[[other, one]])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("in_indices", setting(0, 0)),
        ("name_order", swapped(2, 3)),
    ],
)
def test_arrays_that_contradict_each_other_are_refused_by_verify(folder, name, change):
    rewritten(folder, name, change)
    Graph.open(folder)  # each by itself is sound
    assert f"{name}.bin is damaged: " in refusal(folder, verify=True)


@pytest.mark.parametrize("block", [None, 3])
def test_undirected_folders_must_be_symmetric(tmp_path, monkeypatch, block):
    if block:
        monkeypatch.setattr("grfpp.normalization.BLOCK_EDGES", block)
    path = tmp_path / "path.grf"
    Graph(nx.path_graph(6)).save(path)
    Graph.open(path, verify=True)
    rewritten(path, "indices", setting(0, 4))  # 0 -> 4, but not 4 -> 0
    Graph.open(path)
    assert "indices.bin is damaged: the graph is undirected by its header" in refusal(
        path, verify=True
    )


@pytest.mark.parametrize(
    ("name", "change"), [("indices", swapped(0, 3)), ("indptr", setting(1, 0)), ("weights", None)]
)
def test_columns_must_be_those_of_the_rows(tmp_path, name, change):
    path = tmp_path / "few.grf"
    Graph([("a", "b", 2.0), ("b", "c", 0.5), ("c", "d", 3.0), ("d", "a", 1.0)], directed=True).save(
        path
    )
    rewritten(path, name, change or swapped(0, 1))
    assert "is damaged" in refusal(path, verify=True)


@pytest.mark.parametrize(("key", "value"), [("n_loops", 7), ("symmetric", ["rw"]), ("tame", False)])
def test_the_header_must_say_what_the_arrays_are(folder, key, value):
    changed_header(folder, **{key: value})
    Graph.open(folder)
    assert f"{HEADER} is damaged: {key} is not" in refusal(folder, verify=True)


@pytest.mark.parametrize("numbers", [False, True])
def test_all_sound_folders_are_verified(tmp_path, numbers, monkeypatch):
    monkeypatch.setattr("grfpp.normalization.BLOCK_EDGES", 5)
    monkeypatch.setattr("grfpp.io.folder.layout._PIECE", 5)
    monkeypatch.setattr("grfpp.io.folder.reader._NAMES_PER_BLOCK", 4)
    rng = np.random.default_rng(0)
    names = list(rng.permutation(30)) if numbers else [f"é\ud800{i}" for i in range(30)]
    for directed in (False, True):
        for scale in (0.0, 1.0):
            edges = rng.integers(0, 30, (60, 2)).tolist()
            listed = [(names[a], names[b], 1.0 + scale * rng.random()) for a, b in edges]
            graph = Graph(listed, directed=directed, duplicates="sum")
            for form in (graph, graph.normalized("rw"), graph.normalized("sym", 0.3)):
                form.save(tmp_path / "x.grf")
                assert Graph.open(tmp_path / "x.grf", verify=True).n_nodes == graph.n_nodes


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("format", ["other"]),
        ("version", [2, "1"]),
        ("n_nodes", [0, 41, 2**40, True]),
        ("n_stored", [3]),
        ("kind", ["other", []]),
        ("value", [-1, 0, float("nan")]),
        ("directed", [1, False]),
        ("names", [None]),
        ("symmetric", [["all"]]),
        ("spectral_radius", ["large"]),
        ("arrays", [3, {"indptr": None}, {"../../x": {"length": 1, "checksum": ""}}]),
    ],
)
def test_headers_that_say_nonsense(folder, key, values):
    for value in values:
        changed_header(folder, **{key: value})
        assert HEADER in refusal(folder)


def test_headers_that_are_none(folder):
    several = "", "{", "[]", "3", '{"format": "grfpp-graph-folder"}', "[" * 9999, " " * (1 << 17)
    for text in several:
        (folder / HEADER).write_text(text)
        refusal(folder)
    (folder / HEADER).unlink()
    assert "is not a graph's folder: header.json cannot be read" in refusal(folder)


@pytest.mark.parametrize("change", ["touch", "replace", "remove"])
def test_a_change_after_opening(folder, change):
    opened = GraphFolder.open(folder)
    opened.require_unchanged()
    file = folder / "indices.bin"
    if change == "touch":
        os.utime(file)
    elif change == "replace":
        data = file.read_bytes()
        file.unlink()
        file.write_bytes(data)
    else:
        file.unlink()
    with pytest.raises(InputError, match=r"has changed since it was opened \(indices.bin"):
        opened.require_unchanged()


def test_read_only_folders_are_opened_all_the_same(folder, monkeypatch):
    """They are looked through every time: nobody can leave a stamp."""
    (folder / STAMP).unlink()

    def refuse(*_):
        raise InputError("cannot write")

    monkeypatch.setattr("grfpp.io.folder.layout.atomic_write", refuse)
    assert Graph.open(folder).n_nodes == 40
    assert not (folder / STAMP).exists()


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what it was told about maps")
@pytest.mark.parametrize("fits", [True, False])
def test_graphs_larger_than_memory_are_not_read_ahead(folder, monkeypatch, fits):
    monkeypatch.setattr(reader, "available_bytes", lambda: 10**9 if fits else 100)
    opened = GraphFolder.open(folder)
    assert opened["indices"].dtype == np.int32 and not opened["indices"].flags.writeable
    maps = Path("/proc/self/smaps").read_text().split(f"{folder}/indices.bin")[1]
    flags = next(line for line in maps.splitlines() if line.startswith("VmFlags"))
    assert ("rr" in flags.split()) is not fits


# --- names --------------------------------------------------------------------------------------

TEXTS = st.lists(st.text(max_size=4), min_size=1, max_size=12)
NUMBERS = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3), min_size=1, max_size=12)


def stored(folder, names):
    """Names in memory as a file would keep them, and on disk."""
    n = len(names)
    kept = NodeNames(n, names).to_array()
    nothing = Rows(np.zeros(n + 1, np.int64), np.empty(0, np.int32))
    save_folder(folder / "names.grf", nothing, names=kept)
    return NodeNames(n, kept.tolist()), StoredNames(GraphFolder.open(folder / "names.grf"))


def outcome(function, *arguments):
    try:
        return np.asarray(function(*arguments)).tolist()
    except InputError as error:
        return str(error).partition(";")[0]


def test_names_whose_difference_overflows(tmp_path):
    _, disk = stored(tmp_path, [1, -(2**63)])
    assert disk.index([1, -(2**63)]).tolist() == [0, 1]


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
        assert outcome(memory.index_of_text, str(wanted), "x") == outcome(
            disk.index_of_text, str(wanted), "x"
        )


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


@pytest.mark.parametrize("is_large", [False, True])
def test_misspelt_names_are_corrected_wherever_the_slip_is(tmp_path, monkeypatch, is_large):
    texts = [f"{word}{number}" for word in ("anna", "ben", "über") for number in range(2000)]
    memory, disk = stored(tmp_path, texts)
    for wrong, right in (("xnna17", "anna17"), ("nna17", "anna17"), ("bben5", "ben5")):
        if is_large:
            monkeypatch.setattr(reader, "MAX_COMPARED", 100)
            monkeypatch.setattr(reader, "_N_NEAR", 5)
        for names in (memory, disk):
            with pytest.raises(InputError, match=rf"the closest .*'{right}'"):
                names.numbers(wrong)
    _, disk = stored(tmp_path, [1_000_003 * number for number in range(10_000)])
    for wrong in ("7o00021", "700021"):
        with pytest.raises(InputError, match=r"the closest .*'7000021'"):
            disk.index(wrong)


def test_all_kinds_of_names_of_graphs(tmp_path):
    for ids in ([3, 1, 2], ["x", "y", "z"], [(1, 2), "y", 3.5], [2**63, 1, 0], [2**70, 1, 0]):
        edges = [(ids[0], ids[1]), (ids[1], ids[2])]
        if not isinstance(ids[0], str):
            edges = nx.Graph([(ids[0], ids[1])])
            edges.add_nodes_from(ids)
        graph = Graph(edges)
        graph.save(tmp_path / "x.grf")
        disk = Graph.open(tmp_path / "x.grf")
        assert [disk.index(name) for name in ids] == [graph.index(name) for name in ids]
