"""Folders that are damaged, foreign, too new, or change: one clear line, and no crash."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from grfpp import Graph, InputError
from grfpp.io.folder import reader
from grfpp.io.folder.header import ARRAYS, HEADER, Header
from grfpp.io.folder.reader import GraphFolder
from grfpp.io.folder.stamp import STAMP


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
    header = json.loads((path / HEADER).read_text())
    header["arrays"][name]["checksum"] = hashlib.blake2b(
        file.read_bytes(), digest_size=16
    ).hexdigest()
    header["arrays"][name]["length"] = len(array)
    (path / HEADER).write_text(json.dumps(header))


def test_a_sound_folder_is_opened_without_reading_it(folder, monkeypatch):
    def never(*_):
        raise AssertionError

    monkeypatch.setattr("grfpp.io.folder.reader.verify_folder", never)
    assert Graph.open(folder).n_nodes == 40
    with pytest.raises(AssertionError):
        Graph.open(folder, verify=True)


def test_a_copy_is_looked_through_once(folder, monkeypatch):
    copy = folder.with_name("copy.grf")
    shutil.copytree(folder, copy)
    looked = []
    monkeypatch.setattr("grfpp.io.folder.reader.verify_folder", lambda *_: looked.append(1))
    for _ in range(3):
        Graph.open(copy)
    assert len(looked) == 1
    (copy / STAMP).write_text("{")  # nonsense is no stamp
    Graph.open(copy)
    assert len(looked) == 2


def test_names_of_all_files_that_are_cut_or_missing(folder):
    for file in sorted(folder.glob("*.bin")):
        copy = folder.with_name("copy.grf")
        shutil.copytree(folder, copy)
        size = file.stat().st_size
        os.truncate(copy / file.name, size - 1)
        assert f"{file.name} is damaged: it has {size - 1:,} bytes" in refusal(copy)
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


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("indices", lambda a: a.__setitem__(5, 40), "edge 5 leads to node 40 of 40"),
        ("indices", lambda a: a.__setitem__(5, -1), "edge 5 leads to node -1 of 40"),
        ("in_indices", lambda a: a.__setitem__(-1, 2**31 - 1), "leads to node 2147483647"),
        ("indices", lambda a: a.__setitem__(slice(0, 2), a[1::-1].copy()), "not in order"),
        ("indices", lambda a: a.__setitem__(1, a[0]), "there twice"),
        ("indptr", lambda a: a.__setitem__(3, 10**9), "do not ascend"),
        ("indptr", lambda a: a.__setitem__(0, -5), "do not ascend"),
        ("in_indptr", lambda a: a.__setitem__(-1, a[-1] - 1), "its last row ends at"),
        ("weights", lambda a: a.__setitem__(2, -1.0), "weights cannot be"),
        ("in_weights", lambda a: a.__setitem__(2, np.nan), "weights cannot be"),
        ("out_strength", lambda a: a.__setitem__(2, np.inf), "strengths cannot be"),
        ("name_order", lambda a: a.__setitem__(2, 99), "leads to nodes that there are none of"),
        ("name_order", lambda a: a.__setitem__(2, a[3]), "not lead to every node"),
        ("name_ends", lambda a: a.__setitem__(2, 10**6), "do not ascend"),
        ("name_ends", lambda a: a.__setitem__(-1, a[-2]), "do not end where their text does"),
    ],
)
def test_numbers_that_lead_nowhere_are_found_whatever_the_checksum(folder, name, change, problem):
    rewritten(folder, name, change)
    text = refusal(folder)
    assert f"{name}.bin is damaged: " in text and problem in text


def test_wrong_indices_do_not_end_the_process(folder):
    """Compiled loops would read far outside of the array: the folder must not get there."""
    rewritten(folder, "indices", lambda a: a.fill(2**31 - 1))
    code = (
        "import sys, grfpp\n"
        "try:\n"
        "    W = grfpp.Graph.open(sys.argv[1]).normalized('rw')\n"
        "    grfpp.sample(W, grfpp.Diffusion(1.0), seed=0)\n"
        "except grfpp.InputError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True
    )
    assert "leads to node 2147483647" in run.stdout


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"format": "other"}, "was not written by grfpp"),
        ({"version": 2}, "is of version 2, and this grfpp reads up to version 1"),
        ({"version": "1"}, "is of version '1'"),
        ({"n_nodes": 0}, "not a whole header"),
        ({"n_nodes": 2**40}, "not a whole header"),
        ({"n_nodes": True}, "not a whole header"),
        ({"n_nodes": 41}, "indptr of length 41 instead of 42"),
        ({"n_stored": 3}, "indices of length"),
        ({"kind": "other"}, "kind 'other'"),
        ({"value": -1}, "-1 is no size"),
        ({"value": 0}, "0 is not positive"),
        ({"kind": []}, "kind []"),
        ({"value": float("nan")}, "not a whole header"),
        ({"directed": 1}, "neither true nor false"),
        ({"directed": False}, "the arrays of such a graph are"),
        ({"names": None}, "the arrays of such a graph are"),
        ({"symmetric": ["all"]}, "symmetric"),
        ({"arrays": {"../../x": {"length": 1, "checksum": ""}}}, "the arrays of such a graph are"),
        ({"arrays": 3}, "not a whole header"),
        ({"arrays": {"indptr": None}}, "not a whole header"),
        ({"spectral_radius": "large"}, "no number"),
    ],
)
def test_headers_that_say_nonsense(folder, changes, problem):
    changed_header(folder, **changes)
    text = refusal(folder)
    assert HEADER in text and problem in text


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"format": "grfpp-graph-folder"}', "[" * 9999]
)
def test_headers_that_are_none(folder, text):
    (folder / HEADER).write_text(text)
    refusal(folder)


def test_folders_that_are_none(tmp_path):
    (tmp_path / "empty.grf").mkdir()
    assert "is not a graph's folder: header.json cannot be read" in refusal(tmp_path / "empty.grf")
    (tmp_path / "empty.grf" / HEADER).write_text(" " * (1 << 17))
    assert "too long" in refusal(tmp_path / "empty.grf")


def test_headers_survive_a_round_trip(folder):
    header, text = Header.read(folder)
    assert header.to_json().encode() == text
    assert header.directed and header.names == "text" and header.symmetric == ()


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

    monkeypatch.setattr("grfpp.io.folder.stamp.atomic_write", refuse)
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
