"""Small sound files of every format, to be damaged."""

import gzip
import io
import tempfile
import zipfile
from itertools import cycle
from pathlib import Path

import networkx as nx
import numpy as np
import scipy.sparse as sp

import grfpp

_POINTS = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
_FACES = [(a, b, c) for a in (0, 1) for b in (2, 3) for c in (4, 5)]


def edge_lists(separator):
    lines = [f"{u} {v}" for u, v in nx.path_graph(6).edges]
    weighted = [f"{u} {v} {0.5 + u}" for u, v in nx.cycle_graph(5).edges]
    named = ["a1 b2 2", "b2 c3 1.25", "c3 a1 0.3"]
    attributes = ["a1 b2 {'weight':2,'x':'y'}", "b2 c3 {'weight':0.5}", "c3 a1 {'weight':1e1}"]
    plain, *others = ("\n".join(each) for each in (weighted, lines, named, attributes))
    texts = [f"{others[0]}\n", f"# a comment\n\n{plain}", f"source target weight\n{plain}\n"]
    texts += [f"{each}\n" for each in others[1:]]
    return [text.replace(" ", separator).encode() for text in texts]


def gzipped():
    return [gzip.compress(text, mtime=0) for text in edge_lists(" ")]


def zipped():
    return [_zip({"folder/edges.txt": text, "README": b"x"}) for text in edge_lists(" ")]


def _zip(members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _graphs():
    ring = nx.cycle_graph(6)
    named = nx.Graph([("a", "b", {"weight": 2.0}), ("b", "ç", {"weight": 0.5})])
    arcs = nx.DiGraph([(0, 1, {"weight": 1.5}), (1, 2, {"weight": 1}), (2, 0, {"weight": 4})])
    return [ring, named, arcs]


def _saved(save):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        save(path)
        return path.read_bytes()


def saved_graphs():
    return [_saved(grfpp.Graph(graph).save) for graph in _graphs()]


def saved_by_scipy():
    found = []
    for kind, graph in zip(("csr", "csc", "coo", "bsr", "dia"), cycle(_graphs()), strict=False):
        matrix = sp.coo_array(nx.to_numpy_array(graph)).asformat(kind)
        stream = io.BytesIO()
        sp.save_npz(stream, matrix, compressed=kind != "csr")
        found.append(stream.getvalue())
    return found


def saved_estimates():
    found = []
    for graph, options in ((_graphs()[0], {"deflate": 2}), (_graphs()[2], {"degree": 1}),
                           (_graphs()[1], {"dtype": "float32"})):  # fmt: skip
        W = grfpp.Graph(graph).normalized("sym")
        K = grfpp.sample(W, grfpp.Diffusion(0.5), n_walks=2, seed=0, n_jobs=1, **options)
        found.append(_saved(K.save))
    return found


def matrix_market():
    banner = "%%MatrixMarket matrix"
    return [
        f"{banner} coordinate real general\n% x\n3 3 4\n1 2 1.5\n2 1 0.5\n3 3 2\n1 3 1\n".encode(),
        f"{banner} coordinate pattern symmetric\n4 4 3\n2 1\n3 2\n4 4\n".encode(),
        f"{banner} coordinate integer symmetric\n3 3 2\n2 1 7\n3 1 2\n".encode(),
        f"{banner} array real general\n2 2\n0\n1\n2\n3\n".encode(),
        f"{banner} array real symmetric\n3 3\n0\n1\n2\n0\n1\n0\n".encode(),
    ]


def gml():
    nested = 'graph [ directed 1 node [ id 1 label "x" point [ x 1 ] ] node [ id 4 label "y" ]'
    return ["\n".join(nx.generate_gml(_graphs()[0])).encode(),
            "\n".join(nx.generate_gml(nx.convert_node_labels_to_integers(_graphs()[1]))).encode(),
            f"{nested} edge [ source 1 target 4 value 2.5 ] ]".encode()]  # fmt: skip


def graphml():
    plain = '<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/>'
    return [*("\n".join(nx.generate_graphml(graph)).encode() for graph in _graphs()),
            f'{plain}<edge source="a" target="b"/></graph></graphml>'.encode()]  # fmt: skip


def mesh(kind, *others, **options):
    """An octahedron as trimesh writes it, and other files."""
    import trimesh

    content = trimesh.Trimesh(_POINTS, _FACES, process=False).export(file_type=kind, **options)
    return [content.encode() if isinstance(content, str) else content, *others]


SQUARE_OFF = b"OFF\n# c\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3 255 0 0\n"
TEXTURED_OBJ = b"v 1 0 0\nv -1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\nf -3//1 -2//1 -1//1\n"


def binary_ply():
    """In both byte orders."""
    (little,) = mesh("ply", vertex_normal=False)
    header, _, body = little.partition(b"end_header\n")
    faces = np.frombuffer(body[72:], [("n", "u1"), ("c", "<i4", 3)])
    turned = faces.astype([("n", "u1"), ("c", ">i4", 3)])
    points = np.frombuffer(body[:72], "<f4").astype(">f4")
    header = header.replace(b"little", b"big") + b"end_header\n"
    return [little, header + points.tobytes() + turned.tobytes()]


def _tables():
    import pyarrow as pa

    ends = {"source": [0, 1, 2, 2], "target": [1, 2, 3, 0]}
    names = [["a", "b", "ç"], ["b", "ç", "a"]]
    coded = pa.array(names[0]).dictionary_encode()
    return [
        pa.table(ends),
        pa.table({**ends, "weight": [0.5, 1.0, 2.0, 3.5]}),
        pa.table({"from": names[0], "to": names[1], "weight": pa.array([1, 2, 3], pa.int8())}),
        pa.table({"src": coded, "dst": pa.array(names[1])}),
    ]


def parquet():
    from pyarrow import parquet as files

    return [_saved(lambda path, table=each: files.write_table(table, path)) for each in _tables()]


def feather():
    from pyarrow import feather as files

    kinds = cycle(("uncompressed", "lz4"))
    return [
        _saved(lambda path, table=each, how=kind: files.write_feather(table, path, compression=how))
        for each, kind in zip(_tables(), kinds, strict=False)
    ]


def vtk():
    import meshio

    surface = meshio.Mesh(np.array(_POINTS, float), [("triangle", np.array(_FACES))])
    return [
        _saved(lambda path, kind=each: surface.write(path, file_format="vtk", binary=kind))
        for each in (True, False)
    ]
