"""`grfpp interpolate`: what goes in, what comes out, what is refused."""

from pathlib import Path

import numpy as np
import pytest
import trimesh
from cli_helpers import accepted, document, facts, refused, table
from independent_walks import IN_WORDS, INDEPENDENT
from PIL import Image

from grfpp.datasets import triangulated_sphere
from grfpp.tasks import KernelInterpolator
from grfpp.tasks.normals import hide_normals, predict_normals

SPHERE = triangulated_sphere(2)


def write_off(path, vertices, faces):
    lines = ["OFF", f"{len(vertices)} {len(faces)} 0"]
    lines += [" ".join(map(repr, point)) for point in np.asarray(vertices, dtype=float).tolist()]
    lines += [" ".join(map(str, [3, *face])) for face in np.asarray(faces).tolist()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def sphere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_off(tmp_path / "sphere.off", SPHERE.vertices, SPHERE.faces)


def library(mask=0.8, seed=0, **options):
    options = {"random_state": seed, **options}
    return predict_normals(hide_normals(SPHERE, mask, seed), **options)


def test_tells_what_the_library_predicts(capsys, sphere):
    told = facts(accepted(capsys, "interpolate", sphere, *IN_WORDS))
    assert told["mesh"].endswith("sphere.off: 162 vertices, 480 edges, 320 faces")
    assert told["normals"] == "32 known, 130 hidden"
    assert told["method"] == (
        "the paper's sum: diffusion, scale 1, stitching degree 2, 16 walks a node and factor, "
        "lengths geometric:0.1, seed 0"
    )
    cosine = library(how="paper", **INDEPENDENT).cosine
    assert told["cosine"] == f"{cosine:.4f}, mean over the hidden vertices"
    assert told["time"].endswith(" s predicting")


def test_the_default_is_kriging_and_says_so(capsys, sphere):
    told, found = facts(accepted(capsys, "interpolate", sphere)), library()
    assert told["method"] == found.method
    assert found.method.startswith("kriging: RegularizedLaplacian(")
    assert "held-out of 32 known nodes" in found.method
    assert told["cosine"] == f"{found.cosine:.4f}, mean over the hidden vertices"
    kriged = document(capsys, "interpolate", sphere)
    assert (kriged["how"], kriged["method"]) == ("kriging", found.method)
    paper = document(capsys, "interpolate", sphere, "--how", "paper")
    assert paper["how"] == "paper"
    assert paper["mean_cosine"] == pytest.approx(library(how="paper").cosine, rel=1e-12)
    assert paper["mean_cosine"] < kriged["mean_cosine"]


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--seed", "7"], {"seed": 7}),
        (["--mask", "0.5"], {"mask": 0.5}),
        (["--jobs", "1"], {}),
        (["--degree", "1", "--walks", "5"], {"how": "paper", "degree": 1, "n_walks": 5}),
        (["--method", "exact"], {"how": "paper", "estimate": "exact"}),
        (["--how", "paper", "--method", "auto"], {"how": "paper", "method": "auto"}),
        (["--how", "mean", "--scale", "2"], {"how": "mean", "scale": 2.0}),
        (["--scale", "0.25", "--kernel", "diffusion:2"], {"scale": 0.25, "kernel": "diffusion:2"}),
        (["--kernel", "diffusion:5", "--noise", "0.1"], {"kernel": "diffusion:5", "noise": 0.1}),
        (["--scale", "3"], {"scale": 3.0}),
        (["--termination", "poisson:4"], {"how": "paper", "termination": "poisson:4"}),
        (["--reuse-walks", "--jobs", "1"], {"how": "paper", "reuse_walks": True}),
    ],
)
def test_options_reach_the_library(capsys, sphere, arguments, options):
    told = document(capsys, "interpolate", sphere, *arguments)
    found = library(**options)
    assert told["mean_cosine"] == pytest.approx(found.cosine, rel=1e-12)
    assert told["n_hidden"] == len(found.task.hidden)
    assert told["mask"] == options.get("mask", 0.8)
    assert told["seed"] == options.get("seed", 0)
    assert (told["mesh"]["n_vertices"], told["n_unreached"]) == (162, found.n_unreached)
    assert set(told["seconds"]) == {"read", "predict"}


def test_the_table_holds_every_vertex(capsys, sphere):
    out = accepted(capsys, "interpolate", sphere, "--output", "normals.csv")
    assert "normals.csv, " in out
    rows, found = table("normals.csv"), library()
    assert [int(row["vertex"]) for row in rows] == list(range(162))
    is_hidden = [row["normal"] == "hidden" for row in rows]
    assert np.flatnonzero(is_hidden).tolist() == found.task.hidden.tolist()
    for names, array in (
        (("x", "y", "z"), found.task.normals),
        (("predicted_x", "predicted_y", "predicted_z"), found.predicted),
    ):
        written = np.array([[float(row[name]) for name in names] for row in rows])
        np.testing.assert_allclose(written, array, rtol=1e-12)
    hidden = [row for row in rows if row["normal"] == "hidden"]
    cosines = np.cos(np.radians([float(row["angle"]) for row in hidden]))
    assert cosines.mean() == pytest.approx(found.cosine)
    assert {row["angle"] for row in rows if row["normal"] == "known"} == {""}


def test_merged_vertices_keep_the_numbers_of_the_file(capsys, tmp_path, monkeypatch):
    """Every triangle brings three points of its own; the first of equal ones stays."""
    monkeypatch.chdir(tmp_path)
    corners = SPHERE.vertices[SPHERE.faces].reshape(-1, 3)
    write_off(tmp_path / "soup.off", corners, np.arange(len(corners)).reshape(-1, 3))
    accepted(capsys, "interpolate", "soup.off", "--output", "soup.csv")
    rows = table("soup.csv")
    assert len(rows) == 162
    for row in rows:
        normal = [float(row[name]) for name in "xyz"]
        assert np.dot(normal, corners[int(row["vertex"])]) > 0.99


def test_the_picture(capsys, sphere):
    out = accepted(capsys, "interpolate", sphere, "--picture", "errors.png", "--walks", "2")
    assert "errors.png, " in out
    pixels = np.asarray(Image.open("errors.png").convert("RGB")).astype(int)
    coloured = pixels.max(axis=2) - pixels.min(axis=2) > 60
    assert all(third.mean() > 0.05 for third in np.array_split(coloured, 3, axis=1))
    accepted(capsys, "interpolate", sphere, "--picture", "errors.pdf", "--view=-1,0,2")
    assert Path("errors.pdf").read_bytes().startswith(b"%PDF")


def test_parts_without_a_known_vertex_are_told(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = triangulated_sphere(0)
    vertices = np.concatenate([small.vertices + np.array([3.0 * i, 0, 0]) for i in range(40)])
    faces = np.concatenate([small.faces + 12 * i for i in range(40)])
    write_off(tmp_path / "many.off", vertices, faces)
    arguments = ["interpolate", "many.off", "--mask", "0.95", "--walks", "64"]
    told = document(capsys, *arguments)
    assert 0 < told["n_cut_off"] <= told["n_unreached"] < told["n_hidden"]
    assert f"no answer  at {told['n_unreached']:,} hidden" in accepted(capsys, *arguments)


def write_values(rows, header="vertex,height"):
    Path("known.csv").write_text("\n".join([header, *rows]) + "\n", "utf-8")


def test_a_field_of_ones_own(capsys, sphere):
    known = np.arange(0, 162, 3)
    height = SPHERE.vertices[known, 2]
    write_values([f"{i},{z!r},{-z!r}" for i, z in zip(known, height.tolist(), strict=True)])
    outputs = ["--output", "field.csv", "--picture", "field.png"]
    told = facts(accepted(capsys, "interpolate", sphere, "--values", "known.csv", *outputs))
    field = KernelInterpolator(SPHERE.graph, random_state=0).fit(
        known, np.column_stack([height, -height])
    )
    assert told["values"] == "54 known of 162, 2 each"
    assert told["method"] == field.method_
    rows = table("field.csv")
    found = [[float(row[f"predicted_{i}"]) for i in (1, 2)] for row in rows]
    np.testing.assert_allclose(found, field.field_, atol=1e-10)
    assert [int(row["vertex"]) for row in rows if row["value_1"]] == known.tolist()
    pixels = np.asarray(Image.open("field.png").convert("RGB")).astype(int)
    assert (pixels.max(axis=2) - pixels.min(axis=2) > 60)[:, 460:].mean() > 0.1
    means = document(capsys, "interpolate", sphere, "--values", "known.csv", "--how", "mean")
    assert (means["n_known"], means["n_values"], means["n_unreached"]) == (54, 2, 0)


@pytest.mark.parametrize(
    ("rows", "more", "problem"),
    [
        (["0,1", "1,x"], [], "as many numbers on each line"),
        (["0,1", "1,2,3"], [], "as many numbers on each line"),
        (["0,1", "1,nan"], [], "finite numbers"),
        ([], [], "of one node at least"),
        (["0,1", "0,2"], [], "each once"),
        (["0,1", "162,2"], [], "from 0 to 161"),
        (["0,1"], ["--mask", "0.5"], "--mask hides normals"),
    ],
)
def test_bad_values_are_refused(capsys, sphere, rows, more, problem):
    write_values(rows)
    assert problem in refused(capsys, "interpolate", sphere, "--values", "known.csv", *more)


def test_vertex_colours_are_exported(capsys, sphere):
    accepted(capsys, "interpolate", sphere, "--output", "angles.ply")
    mesh, angles = trimesh.load_mesh("angles.ply", process=False), library().angles()
    np.testing.assert_allclose(mesh.vertices, SPHERE.vertices, atol=1e-6)
    colours = mesh.visual.vertex_colors[:, :3].astype(int)
    assert (colours[np.isnan(angles)] == 220).all()
    order = np.argsort(angles[~np.isnan(angles)])
    hidden = colours[~np.isnan(angles)][order]
    assert (hidden[0] == [68, 1, 84]).all()  # the ends of viridis
    assert (hidden[-1] == [253, 231, 37]).all()


def test_meshes_are_drawn_upright(capsys, tmp_path, monkeypatch):
    """In a file whose models stand on the plane of X and Z, Y is up; --up knows better."""
    monkeypatch.chdir(tmp_path)
    tall = {"y": [1.0, 4.0, 1.0], "z": [1.0, 1.0, 4.0]}
    for axis, factors in tall.items():
        write_off(tmp_path / f"{axis}.off", SPHERE.vertices * factors, SPHERE.faces)

    def width(axis, *up):
        accepted(capsys, "interpolate", f"{axis}.off", "--picture", "mesh.png", *up)
        shape = np.asarray(Image.open("mesh.png").convert("L"))[90:500, :460] < 250
        return np.ptp(np.flatnonzero(shape.any(axis=0)))

    slim = width("y")
    assert slim < 200 < width("z")
    assert width("z", "--up", "z") == pytest.approx(slim, abs=3)
