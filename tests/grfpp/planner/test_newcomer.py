"""The first call of somebody who has read nothing, on every graph that is at hand."""

import os
from pathlib import Path

import numpy as np
import pytest

import grfpp
from grfpp.datasets.surfaces.shapes import load_shapes
from grfpp.linalg.functions.taylor import expm_multiply

FOLDER = Path(os.environ.get("GRFPP_DATA", "/nonexistent"))
FILES = sorted(
    path for kind in ("graphs/*.gml", "nodes/*.gz", "meshes/*.zip") for path in FOLDER.glob(kind)
)
pytestmark = pytest.mark.skipif(not FILES, reason="no data: set GRFPP_DATA to the data folder")


def assert_right(graph):
    V = np.random.default_rng(0).normal(size=(graph.n_nodes, 1))
    found = grfpp.kernel_operator(graph, grfpp.Diffusion(5)) @ V
    wanted = expm_multiply(graph, 5.0, V)
    scale = np.abs(wanted).max()
    difference = np.linalg.norm(found / scale - wanted / scale)
    assert difference <= 1e-3 * np.linalg.norm(wanted / scale)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files(path):
    assert_right(grfpp.Graph(path))


@pytest.mark.parametrize("name", ["cora.npz", "pubmed.npz"])
def test_archives_of_arrays(name):
    path = FOLDER / "nodes" / name
    if not path.exists():
        pytest.skip(f"no {name}")
    with np.load(path) as arrays:
        pairs = arrays["edges"].T
    assert_right(grfpp.Graph((pairs, np.ones(pairs.shape[1])), symmetrize="max"))


def test_shapes():
    if not (FOLDER / "shapes").exists():
        pytest.skip("no shapes")
    for shape in load_shapes("train", download=False).meshes:
        assert_right(shape.graph)
