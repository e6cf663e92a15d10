"""Meshes: sides of faces, equal points, weights, and files of every format."""

import gzip
import io
import sys
import warnings
import zipfile

import meshio
import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from io_helpers import QUICK, dense, file_refusal, read_text, real_data, refusal
from refusal_case import refused
from scipy.spatial import Delaunay

from grfpp import Graph, HeatKernel, InputError, PersonalizedPageRank
from grfpp.datasets.meshes import icosphere
from grfpp.errors import InputWarning
from grfpp.io.meshes import merged, read_mesh

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
HALVES = np.array([[0, 1, 2], [0, 2, 3]])
SQUARE_MATRIX = np.array([[0, 1, 1, 1], [1, 0, 1, 0], [1, 1, 0, 1], [1, 0, 1, 0]])
POINTS, FACES = icosphere(1)
QUADS = [[0, 1, 2, 3], [2, 3, 4, 5]]


class Duck:
    def __init__(self, vertices, faces):
        self.vertices, self.faces = vertices, faces


# --- meshes in memory -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        (SQUARE, HALVES),
        (SQUARE.tolist(), HALVES.tolist()),
        (SQUARE[:, :2], HALVES),
        Duck(SQUARE, HALVES),
        trimesh.Trimesh(SQUARE, HALVES, process=False),
        meshio.Mesh(SQUARE, [("triangle", HALVES)]),
    ],
)
def test_sides_of_triangles_weigh_one_and_scenes_are_one_graph(source):
    np.testing.assert_array_equal(dense(source), SQUARE_MATRIX)
    assert Graph(source).node_ids is None
    ball = trimesh.Trimesh(POINTS, FACES, process=False)
    scene = trimesh.Scene([ball, ball.copy().apply_translation([9, 0, 0])])
    assert Graph(scene).n_nodes == 84


@QUICK
@given(st.permutations(range(6)))
def test_equal_points_are_one(order):
    soup = SQUARE[HALVES.ravel()]
    points, faces = soup[list(order)], np.argsort(order).reshape(2, 3)
    graph, mesh = Graph((points, faces)), merged(points, faces)
    assert (graph.n_nodes, graph.n_edges) == (4, 5)
    # Names are the indices of the points that stayed, the first of each class.
    assert (graph.node_ids or [0, 1, 2, 3]) == mesh.origin.tolist() == sorted(mesh.origin)
    assert len(np.unique(points[mesh.origin], axis=0)) == 4
    np.testing.assert_array_equal(mesh.vertices[mesh.faces], points[faces])


def test_minus_zero_flat_triangles_and_unused_points():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [-0.0, 0, 0], [0, 1, 0]])
    mesh = merged(points, [[2, 1, 3]])
    assert mesh.origin.tolist() == [0, 1, 3] and mesh.faces.tolist() == [[0, 1, 2]]
    shrunk = np.array([[0.0, 0, 0], [0, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(dense((shrunk, [[0, 1, 2]])), [[0, 1], [1, 0]])  # no loop
    unused = Graph((np.vstack([SQUARE, [[9, 9, 9]]]), HALVES))
    assert unused.n_nodes == 5 and unused.out_degree[4] == 0


def test_polygons_have_no_diagonal():
    cube = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]]
    points = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    for faces in (cube, np.uint8(cube)):
        graph = Graph((points, faces))
        assert (graph.n_nodes, graph.n_edges) == (8, 12) and (graph.out_degree == 3).all()
    assert Graph(Duck(points, cube)).n_edges == 12
    house = Graph((np.vstack([SQUARE, [[2, 0.5, 0]]]), [[0, 1, 2, 3], [1, 4, 2]]))
    assert house.n_edges == 6
    assert merged(points, cube).faces.shape == (12, 3)
    assert Graph(merged(points, cube).triangulated().adjacency()).n_edges == 18


@pytest.mark.parametrize(
    "source",
    [
        (SQUARE, [[0, 1, 2], [0, 1]]),
        (SQUARE, [[0, 1, 2], []]),
        (SQUARE, [[0, 1, 2, 3], [0, 1, 4]]),
        (SQUARE[:, :1], HALVES),
        (SQUARE, HALVES + 2),
        (SQUARE * np.nan, HALVES),
        (SQUARE.astype(str), HALVES),
        (SQUARE, HALVES.astype(float)),
        Duck(SQUARE, HALVES[:, :2]),
        meshio.Mesh(SQUARE, [("tetra", [[0, 1, 2, 3]])]),
    ],
)
def test_what_is_no_mesh(source):
    refusal(source)


# --- weights --------------------------------------------------------------------------------------


def cotangents(points, faces):
    W = np.zeros((len(points),) * 2)
    for face in faces:
        for k in range(3):
            a, b, c = np.roll(face, -k)
            u, v = points[b] - points[a], points[c] - points[a]
            area = np.linalg.norm(np.cross(np.append(u, 0)[:3], np.append(v, 0)[:3]))
            W[b, c] += 0.5 * (u @ v) / area
            W[c, b] = W[b, c]
    return W


def test_lengths_and_units():
    points = np.array([[0.0, 0, 0], [2, 0, 0], [0.5, 1.5, 1]])
    A = dense((points, [[0, 1, 2]]), mesh_weights="length")
    assert A[0, 1] == 0.5 and A[1, 2] == A[2, 1] == 1 / np.linalg.norm(points[1] - points[2])
    np.testing.assert_array_equal(dense((SQUARE, HALVES), mesh_weights="unit"), SQUARE_MATRIX)


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_cotangents_of_a_closed_surface(scale):
    points, faces = icosphere(2)
    graph = Graph((points * scale, faces), mesh_weights="cotangent")
    np.testing.assert_allclose(graph.adjacency.toarray(), cotangents(points, faces), atol=1e-9)
    assert not graph.is_directed and graph.n_edges == 480


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_linear_functions_are_harmonic_on_flat_delaunay_meshes(seed):
    """What cotangent weights are for; and Delaunay meshes have no negative ones inside."""
    points = np.random.default_rng(seed).uniform(size=(30, 2))
    mesh = Delaunay(points)
    inside = np.setdiff1d(np.arange(30), mesh.convex_hull)
    W = cotangents(points, mesh.simplices)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        A = dense((points, mesh.simplices), mesh_weights="cotangent")
    np.testing.assert_allclose(A[inside], W[inside], atol=1e-7 * W.max())
    kept = inside[[not (W[i] < -1e-9).any() for i in inside]]
    laplacian = A[kept] @ points - A[kept].sum(axis=1, keepdims=True) * points[kept]
    np.testing.assert_allclose(laplacian, 0, atol=1e-8 * W.max())


def test_negative_cotangents_are_left_out_with_a_warning():
    points = np.array([[0.0, 0, 0], [4, 0, 0], [2, 0.5, 0], [2, -0.5, 0]])
    with pytest.warns(InputWarning, match="edges have negative") as caught:
        graph = Graph((points, [[0, 1, 2], [0, 3, 1]]), mesh_weights="cotangent")
    assert caught[0].filename == __file__
    assert caught[0].message.details == {"n_edges": 1}
    assert graph.n_edges == 4 and graph.adjacency[0, 1] == 0
    square = Graph((SQUARE, HALVES), mesh_weights="cotangent")
    assert square.n_edges == 4  # the weight of the diagonal is zero, with no warning


def test_flat_triangles():
    line = np.array([[0.0, 0], [1, 0], [2, 0], [0, 1], [2, 1]])
    faces = [[0, 1, 2], [0, 1, 3]]
    with pytest.warns(InputWarning, match="edges belong to flat triangles alone") as caught:
        sides = Graph((line, faces), mesh_weights="cotangent")
    assert caught[0].message.details == {"n_edges": 2}
    assert np.isfinite(sides.weights).all() and sides.out_degree[2] == 0
    others = [[1, 2, 4], [0, 2, 4], [0, 0, 1]]
    kept = Graph((line, [*faces, *others]), mesh_weights="cotangent")  # and no warning
    assert kept.out_degree[2] > 0


@pytest.mark.parametrize(
    ("source", "weights"),
    [
        ((SQUARE, HALVES), "area"),
        ((np.eye(4, 3), [[0, 1, 2, 3]]), "cotangent"),
        ([[0, 1], [1, 0]], "unit"),
        (Graph([[0, 1], [1, 0]]), "length"),
        ("a.txt", "length"),
        ((np.eye(3) * 1e-320, [[0, 1, 2]]), "length"),
    ],
)
def test_weights_that_cannot_be(source, weights):
    refusal(source, mesh_weights=weights)


def test_degrees_of_masses_are_in_proportion_and_heat_is_conserved():
    """Height is an eigenfunction on the sphere: it falls by exp(-2 t)."""
    vertices, faces = icosphere(4)
    graph = Graph.from_mesh((vertices, faces), "cotangent", mass=True)
    mass, rate = graph.meta["mass"], graph.meta["rate"]
    np.testing.assert_allclose(graph.adjacency.sum(axis=1), rate * mass)
    assert mass.sum() == pytest.approx(4 * np.pi, rel=0.01)
    W, t = graph.normalized("rw"), 0.05
    heat = HeatKernel(rate * t).apply(W, np.column_stack([np.eye(2562)[5], vertices[:, 2]]))
    assert mass @ heat[:, 0] == pytest.approx(mass[5])
    np.testing.assert_allclose(heat[:, 1], np.exp(-2 * t) * vertices[:, 2], atol=2e-3)
    euler = PersonalizedPageRank(1 / (1 + rate * t)).apply(W, vertices[:, 2])
    np.testing.assert_allclose(euler, vertices[:, 2] / (1 + 2 * t), atol=2e-3)


def test_masses_of_irregular_meshes_from_files(tmp_path):
    """With a boundary, a point that is twice there, and one without faces; names stay."""
    points = np.random.default_rng(0).uniform(size=(60, 2))
    faces = Delaunay(points).simplices
    file = tmp_path / "flat.obj"
    rows = [f"v {x!r} {y!r} 0" for x, y in [*points.tolist(), points[0].tolist(), [5.0, 5.0]]]
    rows += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces.tolist()]
    file.write_text("\n".join(rows))
    with pytest.warns(InputWarning, match="negative cotangent"):
        graph = Graph.from_mesh(file, "cotangent", mass=True)
    assert graph.n_nodes == 61
    assert graph.node_ids[-1] == 61
    mass, W = graph.meta["mass"], graph.normalized("rw")
    assert mass[-1] == 0 < mass[:-1].min()
    later = HeatKernel(3.0).exact(W)
    np.testing.assert_allclose((mass @ later)[:-1], mass[:-1], atol=1e-14)
    assert Graph.from_mesh(file, "length").meta == {}


test_meshes_without_masses_are_refused = refused(
    mass=[
        lambda: Graph.from_mesh((SQUARE, HALVES), mass=True),
        lambda: Graph.from_mesh((SQUARE, HALVES), "length", mass=True),
        lambda: Graph.from_mesh((SQUARE, HALVES), "cotangent", mass=2),
    ],
    mesh=lambda: Graph.from_mesh(np.eye(3), "cotangent", mass=True),
)


# --- files ----------------------------------------------------------------------------------------


def test_real_shapes_against_trimesh():
    with zipfile.ZipFile(real_data("shapes", "geometric_shapes.zip")) as archive:
        names = [name for name in archive.namelist() if name.endswith(".off")]
        for name in names[::16]:
            content = archive.read(name)
            peer = trimesh.load_mesh(io.BytesIO(content), file_type="off")
            mesh = read_mesh(content, name, ".off").triangulated()
            edges = {tuple(edge) for edge in peer.edges_unique.tolist() if edge[0] != edge[1]}
            assert len(mesh.vertices) == len(peer.vertices)
            assert np.count_nonzero(mesh.adjacency().toarray()) == 2 * len(edges)


def test_names_are_the_indices_in_the_file(tmp_path):
    text = "v 0 0 0\nv 2 0 0\nv 2 0 0\nv 0 3 0\nf 1 2 4\nf 1 3 4\n"
    assert read_text(text, ".obj").node_ids == [0, 1, 3]
    weighted = read_text(text, ".obj", mesh_weights="length")
    assert weighted.node_ids == [0, 1, 3] and weighted.adjacency[0, 1] == 0.5
    assert "is for meshes" in file_refusal("0 1\n", ".txt", mesh_weights="length")


@pytest.mark.parametrize(("suffix", "package"), [(".glb", "trimesh"), (".vtk", "meshio")])
def test_without_the_packages(monkeypatch, suffix, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert f"needs {package}" in file_refusal(b"x", suffix)


OFF_BODY = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"
OBJ_POINTS = "v 0 0 0\nv 1 0 0\nv 1 1 0 1.0\nv 0 1 0\n"


@pytest.mark.parametrize(
    "head", ["OFF\n4 1 0\n", "OFF 4 1 0\n", "OFF4 1 0\n", "# c\nOFF # c\n\n4 1\n", "COFF\n4 1 0\n"]
)
def test_off(head):
    body = OFF_BODY.replace("\n", " 255 0 0 255\n") if head.startswith("C") else OFF_BODY
    graph = read_text(head + body + "4 0 1 2 3 255 0 0\n", ".off")
    assert (graph.n_nodes, graph.n_edges) == (4, 4)


@pytest.mark.parametrize(
    "faces",
    [
        "f 1 2 3\nf 1 3 4\n",
        "f 1 2 3 4\n",
        "f -4 -3 -2 -1\n",
        "vn 0 0 1\nvt 0 0\ng part\nusemtl red\ns off\nf 1/1/1 2/1 3//1 4\n",
        "f 1 2 \\\n 3 4 # comment\n",
    ],
)
def test_obj(faces):
    graph = read_text(OBJ_POINTS + faces, ".obj")
    assert (graph.n_nodes, graph.n_edges) == (4, 3 + faces.count("f "))
    assert read_text("f 1 2 3\n" + OBJ_POINTS, ".obj").n_edges == 3


@pytest.mark.parametrize(
    ("suffix", "content", "words"),
    [
        (".off", "", "line 1"),
        (".off", "OFF\n4 2 0\n0 0 0\n", "line 3"),
        (".off", f"OFF\n4 2 0\n{OFF_BODY}3 0 1 2\n", "line 7"),
        (".off", f"OFF\n4 1 0\n{OFF_BODY}3 0 1\n", "line 7"),
        (".off", f"OFF\n4 1 0\n{OFF_BODY}3 0 1 4\n", "vertex 4"),
        (".off", f"OFF\n4 1 0\n{OFF_BODY}x 0 1\n", "line 7"),
        (".off", "OFF\n1 0 0\n0 zero 0\n", "line 3"),
        (".off", "OFF\n-4 1 0\n", "line"),
        (".off", f"OFF\n{10**15} 1 0\n0 0 0\n", "line 3"),
        (".off", "OFF BINARY\n", "line 1"),
        (".off", "OFF\n0 0 0\n", "no triangles"),
        (".off", f"OFF\n4 1 0\n{OFF_BODY}{'9' * 5000} 1 2\n", "line 7"),
        (".obj", OBJ_POINTS + "f 1 2\n", "line 5"),
        (".obj", OBJ_POINTS + "f 1 2 5\n", "vertex 4"),
        (".obj", OBJ_POINTS + "f 0 1 2\n", "line 5"),
        (".obj", OBJ_POINTS + "f 1 2 x\n", "line 5"),
        (".obj", OBJ_POINTS + "f 1 2 \\", "line 5"),
        (".obj", OBJ_POINTS + "nonsense 1\n", "line 5"),
        (".obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "finite"),
    ],
)
def test_damaged_off_and_obj(suffix, content, words):
    assert words in file_refusal(content, suffix)


FACET = (
    "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
)
SOLID = f"solid a b\n{FACET}endsolid a b\n"


def binary_stl(n_declared=1, n=1, title=b""):
    triangle = bytes(12) + np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes() + b"\0\0"
    return title.ljust(80) + n_declared.to_bytes(4, "little") + n * triangle


def test_stl():
    far = SOLID.replace("vertex 0", "vertex 7").replace("vertex 1", "vertex 8")
    upper = SOLID.upper().replace("\n", "\r\n  ")
    for content in (SOLID, upper, binary_stl(), binary_stl(title=b"solid but binary")):
        assert read_text(content, ".stl").n_edges == 3
    assert read_text(SOLID + far, ".stl").n_edges == 6


ROWS = "".join(" ".join(map(str, point)) + "\n" for point in SQUARE.astype(int))


def ply(encoding="ascii", faces=1, vertices=4, extra="", title="vertex_indices"):
    return (
        f"ply\nformat {encoding} 1.0\ncomment made here\nelement vertex {vertices}\n"
        f"property float x\nproperty float y\nproperty float z\n{extra}element face {faces}\n"
        f"property list uchar int {title}\nend_header\n"
    )


def binary_ply(faces, order="<", **header):
    encoding = "binary_little_endian" if order == "<" else "binary_big_endian"
    content = ply(encoding, len(faces), **header).encode() + SQUARE.astype(f"{order}f4").tobytes()
    for face in faces:
        content += bytes([len(face)]) + np.array(face, dtype=f"{order}i4").tobytes()
    return content


@pytest.mark.parametrize("title", ["vertex_indices", "vertex_index"])
@pytest.mark.parametrize(
    ("faces", "n_edges"),
    [
        ([[0, 1, 2]], 3),
        ([[0, 1, 2], [0, 2, 3]], 5),
        ([[0, 1, 2, 3]], 4),
        ([[0, 1, 2], [0, 1, 2, 3]], 5),
    ],
)
def test_ply(faces, n_edges, title):
    text = "".join(f"{len(face)} {' '.join(map(str, face))}\n" for face in faces)
    content = ply(faces=len(faces), title=title) + ROWS + text
    for each in (content, content.replace("\n", "\r\n")):
        assert read_text(each, ".ply").n_edges == n_edges
    for order in "<>":
        assert read_text(binary_ply(faces, order, title=title), ".ply").n_edges == n_edges
    # Other properties and elements are passed over.
    extra = "property uchar red\nelement camera 1\nproperty double w\nproperty list int float f\n"
    rows = ROWS.replace("\n", " 255\n") + "0.5 2 1.5 2.5\n"
    assert read_text(ply(extra=extra) + rows + "3 0 1 2\n", ".ply").n_edges == 3


BOX = ROWS + "3 0 1 2\n"


STL = [
    SOLID + f"solid c\n{FACET}",
    SOLID[:60],
    SOLID.replace("vertex 1 0 0", "vertex 1 0"),
    SOLID.replace("endfacet\n", ""),
    SOLID.replace("vertex 1 0 0", "vertex 1 nan 0"),
    "solid\nendsolid\n",
    *(binary_stl()[:-1], binary_stl(n_declared=2**32 - 1), binary_stl(0, 0), b""),
]
PLY = [
    "",
    ply()[:-5],
    ply().replace("float x", "floot x") + BOX,
    ply().replace("float x", "float w") + BOX,
    ply() + ROWS,
    ply(vertices=10**15) + ROWS,
    ply() + ROWS + "3 0 1\n",
    ply() + ROWS.replace("1 1 0", "1 1"),
    ply() + ROWS + "3 0 1 9\n",
    ply() + ROWS + "2 0 1\n",
    ply(faces=0) + ROWS,
    binary_ply([[0, 1, 2], [0, 2, 3]])[:-1],
    binary_ply([[0, 1, 2], [0, 1, 2, 3]])[:-1],
    binary_ply([[0, 1, 9]]),
    binary_ply([[0, 1, 2], [0, 1, 2, -1]]),
    ply().replace("list uchar int", "int") + ROWS + "3\n",
    ply("binary_little_endian", vertices=10**15),
]


@pytest.mark.parametrize(
    ("suffix", "content"), [*((".stl", each) for each in STL), *((".ply", each) for each in PLY)]
)
def test_damaged_stl_and_ply(suffix, content):
    file_refusal(content, suffix)


def glb():
    ball = trimesh.Trimesh(POINTS, FACES, process=False)
    return trimesh.Scene([ball, ball.copy().apply_translation([5, 0, 0])]).export(file_type="glb")


def test_glb(tmp_path):
    graph = read_text(glb(), ".glb")
    assert (graph.n_nodes, graph.n_edges) == (84, 240)
    path = tmp_path / "balls.glb.gz"
    path.write_bytes(gzip.compress(glb()))
    assert Graph(path, mesh_weights="length").weights.max() > 1
    whole = glb()
    for content in (b"", b"glTF", whole[:50], whole[: len(whole) // 2], whole[::-1]):
        file_refusal(content, ".glb")


@pytest.mark.parametrize("suffix", [".vtk", ".vtu"])
def test_vtk(tmp_path, suffix):
    path = tmp_path / f"mesh{suffix}"
    meshio.Mesh(POINTS, [("triangle", FACES)]).write(path)
    np.testing.assert_array_equal(dense(path), dense((POINTS, FACES)))
    whole = path.read_bytes()
    mixed = [("line", [[0, 1]]), ("triangle", [[0, 1, 2]]), ("quad", QUADS)]
    meshio.Mesh(POINTS, mixed).write(path)
    assert Graph(path).n_edges == 7 + 1  # of two quads, and the triangle's third side
    meshio.Mesh(POINTS, [("tetra", [[0, 1, 2, 3]])]).write(path)
    with pytest.raises(InputError, match="tetra"):
        Graph(path)
    for content in (b"", b"# vtk DataFile", b"<VTKFile", whole[: len(whole) // 2]):
        file_refusal(content, suffix)
