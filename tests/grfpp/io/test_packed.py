"""Paths, packed files, and what reading takes."""

import bz2
import gzip
import lzma
import os
import tracemalloc
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from io_helpers import file_holding, file_refusal, read_text, refusal
from little_memory import only

from grfpp import Graph, InputError, KernelEstimate
from grfpp.datasets.tudataset import read_tudataset
from grfpp.io import load_mesh
from grfpp.io.files import read_attribute
from grfpp.io.packed import existing_file, opened_zip, parsing_bytes


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compressed_files(monkeypatch, suffix, pack):
    packed = pack(b"0 1\n1 2\n" * 1000)
    assert read_text(packed, f".txt{suffix}", duplicates="max").n_edges == 2
    assert f"not a {suffix} file" in file_refusal(packed[:-9], f".txt{suffix}")
    for damaged in (b"0 1\n", packed[:10] + b"\xff" * 20):
        file_refusal(damaged, f".txt{suffix}")
    only(monkeypatch, 1000)
    assert "too much for the memory" in file_refusal(pack(b"0 1\n" * 10_000), f".txt{suffix}")


def test_zip_files_that_are_none_or_not_there(tmp_path):
    (tmp_path / "a").write_bytes(b"not packed")
    for name, problem in (("none", "there is no file"), ("a", "truncated, or not a zip file")):
        with pytest.raises(InputError, match=problem), opened_zip(tmp_path / name):
            pass


@pytest.mark.parametrize(
    ("read", "suffix"),
    [
        (Graph, ".txt"),
        (Graph, ".csv.zip"),
        (Graph, ".stl"),
        (Graph.load, ".npz"),
        (KernelEstimate.load, ".npz"),
        (load_mesh, ".off"),
        (lambda path: read_attribute(path, "x"), ".gml"),
        (read_tudataset, ".zip"),
    ],
)
def test_whoever_reads(tmp_path, read, suffix):
    os.mkfifo(tmp_path / f"pipe{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    (tmp_path / f"device{suffix}").symlink_to("/dev/zero")
    for name, problem in (
        *(("pipe", "is a pipe or a device"), ("device", "is a pipe or a device")),
        *(("none", "there is no file"), ("folder", "is a folder")),
    ):
        with pytest.raises(InputError, match=problem):
            read(tmp_path / f"{name}{suffix}")


def test_links_and_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    Graph(np.eye(2)).save(tmp_path / "g.npz")
    (tmp_path / "link.npz").symlink_to("g.npz")
    assert Graph("~/link.npz").n_nodes == 2
    assert existing_file("~/g.npz") == tmp_path / "g.npz"
    (tmp_path / "loop.npz").symlink_to("loop.npz")
    assert str(tmp_path / "loop.npz") in refusal(tmp_path / "loop.npz")
    # Names that no file can have.
    for name in ("a\0b.txt", "x" * 5000 + ".txt"):
        assert "no file" in refusal(name) or "cannot read" in refusal(name)


N = 4000
N_ELEMENTS = 1500
PIECE = 300_000  # a file is read in pieces of a fixed size
PLY = (
    "ply\nformat {} 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n"
    "element face {}\nproperty list uchar {} vertex_indices\nend_header\n"
)
FACET = "facet\nouter\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
MTX = "%%MatrixMarket matrix"
PLACES = f"{MTX} coordinate pattern general\n9 9 {N}\n" + "1 2\n" * (N - 1)
LOOPS = "edge[source 0 target 0]" * N_ELEMENTS
# Files whose bytes say as much as they can.
FILES = {
    "mtx pattern": (".mtx", f"{PLACES}1 2\n"),
    "mtx array": (".mtx", f"{MTX} array real symmetric\n90 90\n" + "1\n" * 4095),
    "mtx damaged": (".mtx", f"{PLACES}x"),
    "gml nodes": (".gml", f"graph[{''.join(f'node[id {i}]' for i in range(N_ELEMENTS))}]"),
    "gml edges": (".gml", f"graph[multigraph 1 node[id 0]{LOOPS}]"),
    "gml attributes": (".gml", f"graph[node[id 0 {'a 0 ' * N}]]"),
    "graphml": (
        ".graphml",
        "<graphml><graph edgedefault='undirected'>"
        + "".join(f"<node id='{i}'/>" for i in range(N_ELEMENTS))
        + "".join(f"<edge source='{i}' target='{i}'/>" for i in range(N_ELEMENTS))
        + "</graph></graphml>",
    ),
    "stl": (".stl", f"solid\n{FACET * N_ELEMENTS}endsolid\n"),
    "off points": (".off", f"OFF\n{N + 2} 1 0\n" + "0 0 0\n" * N + "1 0 0\n0 1 0\n3 0 1 2\n"),
    "off faces": (".off", f"OFF\n3 {N} 0\n0 0 0\n1 0 0\n0 1 0\n" + "3 0 1 2\n" * N),
    "obj points": (".obj", "v 0 0 0\n" * N + "f 1 2 3\n"),
    "obj faces": (".obj", "v 0 0 0\n" * 3 + "f 1 2 3\n" * N),
    "ply ascii": (".ply", PLY.format("ascii", 3, N, "int") + "0 0 0\n" * 3 + "3 0 1 2\n" * N),
    "ply binary": (
        ".ply",
        PLY.format("binary_little_endian", 3, N, "uchar").encode() + bytes(36) + b"\3\0\1\2" * N,
    ),
    "ply mixed": (
        ".ply",
        PLY.format("binary_little_endian", 3, N + 1, "uchar").encode()
        + bytes(36) + b"\3\0\1\2" * N + b"\4\0\1\2\0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_no_file_takes_more(kind):
    suffix, content = FILES[kind]
    content = content if isinstance(content, bytes) else content.encode()
    with file_holding(content, suffix) as path:
        with suppress(InputError):
            Graph(path)  # imports what it takes
        tracemalloc.start()
        with suppress(InputError):
            Graph(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak <= parsing_bytes(content, suffix) + PIECE


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz", ".txt.zip"])
def test_text_that_grows_when_it_is_read_is_refused(tmp_path, monkeypatch, suffix):
    path, text = tmp_path / f"g{suffix}", b"0 1\n" * 100_000
    if suffix.endswith("zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("g.txt", text)
    else:
        path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    only(monkeypatch, 8 * len(text))  # it would do to unpack, and not to parse
    with pytest.raises(InputError, match=r"reading .*g\.txt.* needs"):
        Graph(path)


def test_sizes_are_known_before_anything_is_read(tmp_path, monkeypatch):
    path = tmp_path / "g.txt"
    with path.open("wb") as stream:
        stream.truncate(10**13)  # takes no room on the disk
    with pytest.raises(InputError, match="10,000,000,000,000 bytes, too much"):
        Graph(path)
    packed = tmp_path / "g.txt.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("g.txt", bytes(10**6))
    only(monkeypatch, 10**6)
    with pytest.raises(InputError, match="1,000,000 bytes, too much"):
        Graph(packed)
