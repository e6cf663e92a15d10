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
    texts = [
        "\n".join(lines) + "\n",
        "# a comment\n\n" + "\n".join(weighted),
        "source target weight\n" + "\n".join(weighted) + "\n",
        "\n".join(named) + "\n",
        "\n".join(attributes) + "\n",
    ]
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


def ascii_stl():
    lines = ["solid octahedron"]
    for face in _FACES:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += ["vertex {} {} {}".format(*_POINTS[corner]) for corner in face]
        lines += ["endloop", "endfacet"]
    return ["\n".join([*lines, "endsolid octahedron", ""]).encode()]


def binary_stl():
    kind = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    triangles = np.zeros(len(_FACES), kind)
    triangles["corners"] = np.array(_POINTS)[np.array(_FACES)]
    return [bytes(80) + len(_FACES).to_bytes(4, "little") + triangles.tobytes()]


def _lines(table, prefix=()):
    return [" ".join(map(str, [*prefix, *row])) for row in table]


def off():
    body = [*_lines(_POINTS), *_lines(_FACES, (3,))]
    square = ["OFF", "4 1 0", "0 0 0", "1 0 0", "1 1 0", "0 1 0", "4 0 1 2 3 255 0 0"]
    return ["\n".join(["OFF", "# octahedron", "6 8 0", *body]).encode(), "\n".join(square).encode()]


def obj():
    faces = [[corner + 1 for corner in face] for face in _FACES]
    words = ["o thing", *_lines(_POINTS, "v"), "vn 0 0 1", *_lines(faces, "f")]
    textured = [*_lines(_POINTS[:3], "v"), "vt 0 0", "f 1/1 2/1 3/1", "f -3//1 -2//1 -1//1"]
    return ["\n".join(words).encode(), "\n".join(textured).encode() + b"\n"]


def _ply_header(form, index="int"):
    return (
        f"ply\nformat {form} 1.0\ncomment made by hand\nelement vertex 6\nproperty float x\n"
        "property float y\nproperty float z\nelement face 8\n"
        f"property list uchar {index} vertex_indices\nend_header\n"
    ).encode()


def ascii_ply():
    body = "\n".join([*_lines(_POINTS), *_lines(_FACES, (3,))])
    return [_ply_header("ascii") + body.encode() + b"\n"]


def binary_ply():
    found = []
    for form, order in (("binary_little_endian", "<"), ("binary_big_endian", ">")):
        faces = np.zeros(len(_FACES), [("n", "u1"), ("corners", f"{order}i4", 3)])
        faces["n"], faces["corners"] = 3, _FACES
        points = np.array(_POINTS, f"{order}f4")
        found.append(_ply_header(form) + points.tobytes() + faces.tobytes())
    return found


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
    import pyarrow.parquet as pq

    return [_saved(lambda path, table=each: pq.write_table(table, path)) for each in _tables()]


def feather():
    from pyarrow import feather as files

    kinds = cycle(("uncompressed", "lz4"))
    return [
        _saved(lambda path, table=each, how=kind: files.write_feather(table, path, compression=how))
        for each, kind in zip(_tables(), kinds, strict=False)
    ]


def glb():
    import trimesh

    return [trimesh.Trimesh(_POINTS, _FACES, process=False).export(file_type="glb")]


def vtk():
    import meshio

    surface = meshio.Mesh(np.array(_POINTS, float), [("triangle", np.array(_FACES))])
    return [
        _saved(lambda path, kind=each: surface.write(path, file_format="vtk", binary=kind))
        for each in (True, False)
    ]
