"""What others read from the same file: weights to compare with, or None where that is not known.

Other readers crash on some damaged files, and read others as something else. They are asked only
about files that were accepted, and only where the meaning of a file is beyond doubt.
"""

import gzip
import io
import json
import re
import zipfile
from functools import reduce

import networkx as nx
import numpy as np
import scipy.sparse as sp

_PLAIN_LINE = re.compile(r"(\w{1,15})[ \t,;](\w{1,15})(?:[ \t,;](\d{1,9}(?:\.\d{1,9})?))?")


def edge_list(graph, path):
    """Lines ``u v [w]`` of plain words, those of one edge summed: a dictionary."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    if path.suffix == ".zip":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            (name,) = (name for name in archive.namelist() if name.endswith(".txt"))
            data = archive.read(name)
    lines = data.decode("utf-8-sig").removesuffix("\n").split("\n")
    if len({mark for line in lines for mark in re.findall(r"\W", line) if mark != "."}) > 1:
        return None
    fields = [_PLAIN_LINE.fullmatch(line) for line in lines]
    if None in fields or not data.isascii():
        return None
    names = [name for field in fields for name in field.group(1, 2)]
    # A first line of words, or over numbers, may be column names.
    first, others = "".join(names[:2]), names[2:]
    if first.isalpha() or (not first.isdecimal() and all(map(str.isdecimal, others))):
        return None
    return _summed([(field[1], field[2], float(field[3] or 1)) for field in fields])


def _summed(edges):
    """Undirected edges between names: sorted where all are whole numbers as one writes them."""
    names = [name for u, v, _ in edges for name in (u, v)]
    numbers = all(isinstance(n, int) or (n.isdecimal() and n == str(int(n))) for n in names)
    order = sorted(set(names), key=int) if numbers else list(dict.fromkeys(names))
    place = {name: i for i, name in enumerate(order)}
    matrix = np.zeros((len(order), len(order)))
    for u, v, weight in edges:
        matrix[place[u], place[v]] += weight
        if u != v:
            matrix[place[v], place[u]] += weight
    return matrix


def table(graph, path):
    """Read by pyarrow, an edge a row, where the columns have the names of the sound files."""
    from pyarrow import feather, parquet

    found = {".parquet": parquet, ".feather": feather}[path.suffix].read_table(path)
    columns, known = found.to_pydict(), (("source", "target"), ("from", "to"), ("src", "dst"))
    ends = next((pair for pair in known if set(pair) <= set(columns)), None)
    if ends is None or set(columns) - {*ends, "weight"}:
        return None
    weights = columns.get("weight", [1.0] * found.num_rows)
    return _summed(list(zip(columns[ends[0]], columns[ends[1]], weights, strict=True)))


def _dense_rows(data, indices, indptr, n):
    matrix = np.zeros((n, n))
    for row in range(n):
        for entry in range(indptr[row], indptr[row + 1]):
            matrix[row, indices[entry]] += data[entry]
    return matrix


def saved_graph(graph, path):
    """Rows of the arrays, added up one by one."""
    with np.load(path) as arrays:
        parts = (arrays[name] for name in ("weights", "indices", "indptr"))
        return _dense_rows(*(part.tolist() for part in parts), graph.n_nodes)


def saved_by_scipy(graph, path):
    """Read by scipy: what was accepted has a structure that it can be trusted with."""
    matrix = sp.load_npz(path)
    return sp.coo_array(matrix.astype(np.float64)).toarray()


def saved_estimate(estimate, path):
    """The product of the factors, dense, from the arrays of the file."""
    n = estimate.n_nodes
    with np.load(path) as stored:
        arrays = dict(stored)
    meta = json.loads(str(arrays["meta"]))
    chain = []
    for k, number in enumerate(meta["order"]):
        parts = (arrays[f"{part}_{number}"].tolist() for part in ("data", "indices", "indptr"))
        factor = _dense_rows(*parts, n)
        chain.append(factor.T if k % 2 else factor)
    U = arrays.get("deflation_vectors", np.zeros((n, 0)))
    values = arrays.get("deflation_values", np.zeros(0))
    P, half = np.eye(n) - U @ U.T, len(chain) // 2
    X, Y = reduce(np.matmul, chain[:half]), reduce(np.matmul, chain[half:])
    product = meta["sign"] * X @ P @ Y
    if meta.get("symmetrize", False):
        product = (product + product.T) / 2
    return P @ product @ P + U @ np.diag(values) @ U.T


def matrix_market(graph, path):
    """Read by scipy's reader in Python; the compiled one can end the process."""
    from scipy.io._mmio import MMFile

    matrix = MMFile().read(str(path))
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


def by_networkx(graph, path):
    """Read and laid out by networkx."""
    found = nx.read_gml(path, label="id") if path.suffix == ".gml" else nx.read_graphml(path)
    edges = [data for *_, data in found.edges(data=True)]
    values = [data["value"] for data in edges if "value" in data]
    plain = values and all(isinstance(value, int | float) for value in values)
    weighted = any("weight" in data for data in edges)
    name = "value" if plain and not weighted else "weight"
    return nx.to_numpy_array(found, weight=name, multigraph_weight=sum)


def mesh(graph, path):
    """Triangles of OFF and OBJ files by trimesh; of STL and PLY files by the plainest reader."""
    import trimesh

    from grfpp.io import load_mesh

    ours = load_mesh(path)
    if ours.largest > 3:
        return None  # polygons have no diagonals here, and trimesh cuts them
    data = path.read_bytes()
    if path.suffix == ".stl":
        theirs = _stl_corners(data)
    elif path.suffix == ".ply":
        theirs = _ply_corners(data)
    else:
        other = trimesh.load(path, process=False, force="mesh", maintain_order=True)
        theirs = np.asarray(other.vertices, np.float64)[np.asarray(other.faces)]
        if theirs.shape != (*ours.faces.shape, 3) or not np.allclose(
            theirs, ours.vertices[ours.faces], rtol=1e-6
        ):
            return None  # it skips damaged lines
    if theirs is None:
        return None
    place = {tuple(point): i for i, point in enumerate(ours.vertices.tolist())}
    corners = [[place[tuple(point)] for point in triangle] for triangle in theirs.tolist()]
    return _sides(corners, len(ours.vertices))


def _stl_corners(data):
    if len(data) == 84 + 50 * int.from_bytes(data[80:84], "little"):
        facets = np.frombuffer(data[84:], np.dtype([("f", "<f4", (4, 3)), ("a", "<u2")]))
        return facets["f"][:, 1:].astype(np.float64)
    lines = [line.split() for line in data.decode().lower().splitlines()]
    points = [list(map(float, line[1:4])) for line in lines if line[:1] == ["vertex"]]
    return np.array(points).reshape(-1, 3, 3)


def _ply_corners(data):
    """Files with the header of the sound ones, but for counts."""
    header, end, body = data.partition(b"end_header\n")
    text = re.sub(r"\d+", "N", header.decode())
    order = {"a": "", "l": "<", "b": ">"}[re.search("ascii|little|big", text)[0][0]]
    names = re.findall(r"property (?:list \w+ )?\w+ (\w+)", text)
    if not end or names != ["x", "y", "z", "vertex_indices"] or "uchar int " not in text:
        return None
    n, m = (int(count) for count in re.findall(rb"^element \w+ (\d+)", header, re.MULTILINE))
    if order:
        points = np.frombuffer(body[: 12 * n], f"{order}f4").reshape(n, 3)
        rows = np.frombuffer(body[12 * n : 12 * n + 13 * m], [("k", "u1"), ("c", f"{order}i4", 3)])
        faces = rows["c"]
    else:
        rows = [line.split() for line in body.decode().splitlines() if line.strip()]
        points = np.array([row[:3] for row in rows[:n]], np.float32)
        faces = np.array([row[1:4] for row in rows[n : n + m]], np.int64)
    return points.astype(np.float64)[faces]


def _sides(triangles, n):
    matrix = np.zeros((n, n))
    for a, b, c in triangles:
        for u, v in ((a, b), (b, c), (c, a)):
            if u != v:
                matrix[u, v] = matrix[v, u] = 1
    return matrix


def triangles(graph, path):
    """Read by meshio; sides of triangles, corners as they are numbered."""
    import meshio

    surface = meshio.read(path)
    points = surface.points
    if {block.type for block in surface.cells} != {"triangle"} or len(np.unique(points, axis=0)) < (
        len(points)
    ):
        return None
    return _sides(surface.cells_dict["triangle"], len(points))
