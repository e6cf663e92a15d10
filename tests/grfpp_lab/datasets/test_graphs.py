"""The epidemic and GeometricShapes."""

import numpy as np
import pytest
from datasets_helpers import diameter, needs_data, no_data, refusal, write_zip

from grfpp_lab.datasets.graphs import LONG_SHAPE, infection_graph, load_shapes

OFF = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
SQUARE = "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n"
MEMBERS = {
    "raw/square/train/square.off": SQUARE,
    "raw/square/test/square.off": SQUARE,
    "raw/corner/train/corner.off": OFF,
    "raw/readme.txt": "nothing",
    "stray.off": OFF,
}


@pytest.mark.parametrize("seed", range(4))
def test_it_is_like_the_papers_and_the_seed_decides(seed):
    epidemic, same, other = (infection_graph(seed=each) for each in (seed, seed, seed + 1))
    assert epidemic.n_nodes == 500
    assert diameter(epidemic) == 4
    assert not epidemic.is_directed
    assert (epidemic.adjacency != same.adjacency).nnz == 0
    assert (epidemic.adjacency != other.adjacency).nnz > 0
    # Whoever fell ill had met somebody who was ill before.
    earlier = np.tril(epidemic.adjacency.toarray(), -1)
    assert (earlier[1:].sum(axis=1) >= 1).all()


def test_loading_shapes(tmp_path, monkeypatch):
    no_data(monkeypatch, tmp_path)
    assert "split must be" in refusal(load_shapes, "val")
    (tmp_path / "shapes").mkdir()
    write_zip(tmp_path / "shapes/geometric_shapes.zip", MEMBERS)
    assert len(load_shapes("test", download=False)) == 1
    shapes = load_shapes("train", download=False)
    assert list(shapes) == ["corner", "square"]
    assert [mesh.graph.n_edges for mesh in shapes.values()] == [3, 5]


def test_the_real_shapes():
    needs_data()
    train, test = load_shapes("train"), load_shapes("test")
    assert len(train) == len(test) == 40
    assert list(train) == list(test)
    sizes = [mesh.graph.n_nodes for mesh in (*train.values(), *test.values())]
    assert (min(sizes), max(sizes)) == (3, 864)
    chosen = train[LONG_SHAPE]
    assert chosen.graph.n_nodes == 864
    assert diameter(chosen.graph) == 28
    np.testing.assert_array_equal(chosen.vertices, test[LONG_SHAPE].vertices)
