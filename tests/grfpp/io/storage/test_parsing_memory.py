"""What reading a file takes, measured, is no more than what is asked for."""

import gzip
import tracemalloc
import zipfile
from contextlib import suppress

import pytest
from io_helpers import file_holding
from little_memory import only

from grfpp import Graph, InputError
from grfpp.io.storage.parsing_memory import parsing_bytes

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
    "short lines": (".txt", "0 1\n" * N),
    "numbers": (".txt", "".join(f"{i} {i + 1}\n" for i in range(N))),
    "names": (".csv", "".join(f"a{i},b{i}\n" for i in range(N))),
    "wide names": (".txt", "".join(f"a{i} b{i}\r\n" for i in range(N)) + "😀 x\n"),
    "empty lines": (".txt", "0 1\n" + "\n" * N),
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
