import numpy as np
import pytest
from datasets_helpers import diameter, needs_data, no_data, refusal, write_zip

from grfpp.datasets import LONG_SHAPE, load_shapes
from grfpp.datasets.surfaces.shapes import read_shapes
from grfpp.errors import MissingDataError

OFF = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
SQUARE = "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n"
MEMBERS = {
    "raw/square/train/square.off": SQUARE,
    "raw/square/test/square.off": SQUARE,
    "raw/corner/train/corner.off": OFF,
    "raw/readme.txt": "nothing",
    "stray.off": OFF,
}


def test_an_archive(tmp_path):
    shapes = read_shapes(write_zip(tmp_path / "s.zip", MEMBERS), "train")
    assert shapes.classes == ("corner", "square")
    assert repr(shapes) == "Shapes('train', 2 meshes)"
    assert shapes["square"].graph.n_edges == 5
    assert shapes["corner"].graph.n_edges == 3
    assert len(read_shapes(tmp_path / "s.zip", "test")) == 1
    assert "known are corner, square" in refusal(shapes.__getitem__, "circle")


def test_wrong_archives(tmp_path):
    path = tmp_path / "s.zip"
    write_zip(path, {"raw/a/train/a.off": OFF[:20]})
    assert f"{path}: raw/a/train/a.off, line 4" in refusal(read_shapes, path, "train")
    write_zip(path, {"a.txt": ""})
    assert "holds no meshes" in refusal(read_shapes, path, "train")
    path.write_bytes(b"PK")
    assert "not a zip file" in refusal(read_shapes, path, "train")


def test_loading(tmp_path, monkeypatch):
    no_data(monkeypatch, tmp_path)
    with pytest.raises(MissingDataError, match=r"geometric_shapes\.zip"):
        load_shapes(download=False)
    assert "split must be" in refusal(load_shapes, "val")
    (tmp_path / "shapes").mkdir()
    write_zip(tmp_path / "shapes/geometric_shapes.zip", MEMBERS)
    assert len(load_shapes("test", download=False)) == 1


def test_the_real_shapes():
    needs_data()
    train, test = load_shapes("train"), load_shapes("test")
    assert len(train) == len(test) == 40
    assert train.classes == test.classes
    sizes = [mesh.graph.n_nodes for mesh in (*train.meshes, *test.meshes)]
    assert (min(sizes), max(sizes)) == (3, 864)
    chosen = train[LONG_SHAPE]
    assert chosen.graph.n_nodes == 864
    assert diameter(chosen.graph) == 28
    np.testing.assert_array_equal(chosen.vertices, test[LONG_SHAPE].vertices)
